/**
 * Kinds: what a monitor measures. One word everywhere: API `type` and `protocol`, probe names, result rows. A kind is described in
 * engine/probes/<kind>.ts; here is only what pure rules and the store must know of it (docs/api-contract.md#monitors).
 */

/** The uptime kinds that the API's contract names, in its order. */
export const CONTRACT_KINDS = ["http", "keyword", "ping", "port", "dns", "push"] as const;

/** In the order in which messages list them. Each takes a slot of the plan. */
export const TUNNEL_PROTOCOLS = [
  "wireguard",
  "amneziawg",
  "openvpn",
  "openconnect",
  "ikev2",
  "vless",
  "vmess",
  "trojan",
  "shadowsocks",
  "hysteria2",
  "tuic",
] as const;

/** The uptime kinds beside the contract's. Each declares its member in the file that describes it. */
// biome-ignore lint/suspicious/noEmptyInterface: a kind's file adds its name (declaration merging)
export interface AddedKinds {}

export type ContractKind = (typeof CONTRACT_KINDS)[number];
export type UptimeKind = ContractKind | keyof AddedKinds;
export type TunnelProtocol = (typeof TUNNEL_PROTOCOLS)[number];
export type Kind = UptimeKind | TunnelProtocol;
export type Family = "uptime" | "tunnel";
/** The target calls us (a heartbeat): there is no probe, no location and no checker. */
export type PassiveKind = "push";

/** Kinds that ask a web address: it is masked and sealed, and the checks of one host share their expiry settings. */
export const WEBSITE_KINDS = ["http", "keyword"] as const satisfies readonly ContractKind[];

const TUNNELS: ReadonlySet<string> = new Set(TUNNEL_PROTOCOLS);

/** Whatever is no tunnel is an uptime check. */
export function familyOf(kind: Kind): Family {
  return TUNNELS.has(kind) ? "tunnel" : "uptime";
}

export function isWebsite(kind: string): boolean {
  return WEBSITE_KINDS.some((website) => website === kind);
}

export function isPassive(kind: Kind): kind is PassiveKind {
  return kind === "push";
}
