/** What creating and changing a monitor refuses: for the document, with examples where the message has numbers or names in it. */
import { TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import type { Refusal } from "../route.ts";
import { MONITOR_TYPES } from "../schemas/words.ts";
import { OLDER_SCHEDULER } from "./older-schedulers.ts";

/** With the types that there are. A protocol in the place of the type is a frequent mistake. */
export function unknownType(type: unknown): string {
  const protocol = TUNNEL_PROTOCOLS.find((each) => each === type);
  return protocol === undefined
    ? `Missing or invalid type: type must be one of ${MONITOR_TYPES.join(", ")}.`
    : `Missing or invalid type: a tunnel has the type vpn and the protocol ${protocol}.`;
}

const ofBody: readonly Refusal[] = [
  "nameInvalid",
  "urlInvalid",
  [400, "Missing or invalid url: url must begin with http:// or https://."],
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
  [422, OLDER_SCHEDULER],
  [422, "www.example.com is reserved for documentation and cannot be monitored."],
];

export const createRefusals: readonly Refusal[] = [
  "typeInvalid",
  [400, unknownType("")],
  "typeGroup",
  ...ofBody,
  [400, "token must be 10 to 64 letters or digits."],
  [400, "token is for push checks."],
  "tokenTaken",
];
export const updateRefusals: readonly Refusal[] = [
  "typeChange",
  ...ofBody,
  [400, "token is read only when a heartbeat is made."],
  "subscriptionOff",
  "providerDropped",
  "followsSubscription",
];
