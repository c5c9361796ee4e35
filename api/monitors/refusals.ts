/** For the document: what creating and changing a monitor refuses, with examples where the message has numbers or names in it. */
import { TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import type { Refusal } from "../route.ts";

const ofBody: readonly Refusal[] = [
  "nameInvalid",
  "urlInvalid",
  "configInvalid",
  [400, "interval must be a whole number from 1 to 86400."],
  [400, "port is for port checks."],
  [403, "The shortest interval on your plan is 60 seconds (requested 30)."],
  [403, "The shortest period on your plan is 60 seconds (requested 30)."],
  "noMonitorsOnPlan",
  [403, "Tunnel limit reached (15/15)."],
  [413, "password must be at most 4096 bytes (received 5000)."],
  [422, `Unsupported protocol. Supported: ${TUNNEL_PROTOCOLS.join(", ")}.`],
  [422, "Invalid VPN configuration: missing url"],
  [422, "www.example.com is reserved for documentation and cannot be monitored."],
];

export const createRefusals: readonly Refusal[] = ["typeInvalid", "typeGroup", ...ofBody];
export const updateRefusals: readonly Refusal[] = [
  "typeChange",
  ...ofBody,
  "subscriptionOff",
  "providerDropped",
  "followsSubscription",
];
