/** The peers, in the order in which they take their turns. */
import { BLACKBOX } from "./blackbox.ts";
import { CLOUDPROBER } from "./cloudprober.ts";
import { GATUS_IN_MEMORY, GATUS_ON_SQLITE } from "./gatus.ts";
import { UPTIME_KUMA } from "./kuma.ts";
import { NODE_ALONE } from "./node-alone.ts";
import type { Peer } from "./peer.ts";
import { SONDE_ITSELF } from "./sonde.ts";

export const PEERS: readonly Peer[] = [
  SONDE_ITSELF,
  NODE_ALONE,
  CLOUDPROBER,
  GATUS_IN_MEMORY,
  GATUS_ON_SQLITE,
  BLACKBOX,
  UPTIME_KUMA,
];
