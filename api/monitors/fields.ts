/** Which field of a monitor's body is for which kinds (docs/api-contract.md#monitors, #uptime-fields, docs/api-contract.md#plans). */
import type { UptimeKind } from "../../model/kind.ts";
import { UPTIME_KINDS } from "../../model/kind.ts";
import type { JsonObject } from "../body.ts";
import { badRequest } from "../errors.ts";

/** Fields that make a body without `type` a tunnel. */
export const TUNNEL_FIELDS = [
  "protocol",
  "url",
  "config",
  "host",
  "username",
  "password",
  "port",
  "proto",
  "remote_id",
  "ip",
  "servers",
  "wg",
  "wireguard_config",
  "wireguard_ip",
  "group",
  "ca",
  "pin",
  "psk",
] as const;

const ACTIVE_KINDS: readonly UptimeKind[] = ["http", "keyword", "ping", "port", "dns"];

/** Uptime fields that some kinds lack; all kinds have name, type, tags and active. */
const KINDS_OF: Readonly<Record<string, readonly UptimeKind[]>> = {
  interval: ACTIVE_KINDS,
  timeout: ACTIVE_KINDS,
  maxretries: ACTIVE_KINDS,
  url: ["http", "keyword"],
  accepted_statuscodes: ["http", "keyword"],
  ssl_expiration: ["http", "keyword"],
  domain_expiration: ["http", "keyword"],
  ip_version: ["http", "keyword", "ping", "port"],
  keyword: ["keyword", "dns"],
  invert_keyword: ["keyword"],
  host: ["ping", "port", "dns"],
  port: ["port", "dns"],
  domain: ["dns"],
  period: ["push"],
  grace: ["push"],
};

/** The contract's own wording where it differs from the list: a DNS check takes `port` as an addition of ours. */
const WORDS: Readonly<Record<string, string>> = { port: "port is for port checks." };

/** Fields of uptime checks that the kind's own schema reads (engine/registry.ts); all kinds have the others. */
const SETTINGS_FIELDS = [
  "url",
  "accepted_statuscodes",
  "ip_version",
  "keyword",
  "invert_keyword",
  "host",
  "port",
  "domain",
  "period",
  "grace",
  "ssl_expiration",
  "domain_expiration",
] as const;

export function isUptimeKind(kind: string): kind is UptimeKind {
  return (UPTIME_KINDS as readonly string[]).includes(kind);
}

/** @throws 400 naming the first field, in the order of the body, that checks of this kind do not have */
export function refuseForeignFields(kind: UptimeKind, body: JsonObject): void {
  for (const field of Object.keys(body)) {
    const kinds = Object.hasOwn(KINDS_OF, field) ? KINDS_OF[field] : undefined;
    if (kinds !== undefined) {
      if (!kinds.includes(kind)) throw badRequest(WORDS[field] ?? `${field} is for ${listed(kinds)} checks.`);
    } else if ((TUNNEL_FIELDS as readonly string[]).includes(field)) {
      // A monitor reads back with `protocol` equal to its `type`; sending it back changes nothing.
      if (field === "protocol" && body[field] === kind) continue;
      throw badRequest(`${field} is for vpn checks.`);
    }
  }
}

/** The kind's own fields among those sent. */
export function settingsFields(kind: UptimeKind, body: JsonObject): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const field of SETTINGS_FIELDS) {
    if (KINDS_OF[field]?.includes(kind) === true && Object.hasOwn(body, field)) sent[field] = body[field];
  }
  return sent;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[], last = "and"): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}
