/**
 * Kinds: what a monitor measures. One word, one list, everywhere: API `type` and `protocol`, probe names, result rows.
 * docs/api-contract.md#monitors.
 */

export const UPTIME_KINDS = ["http", "keyword", "ping", "port", "dns", "push"] as const;

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

export type UptimeKind = (typeof UPTIME_KINDS)[number];
export type TunnelProtocol = (typeof TUNNEL_PROTOCOLS)[number];
export type Kind = UptimeKind | TunnelProtocol;
export type Family = "uptime" | "tunnel";

const UPTIME = new Set<string>(UPTIME_KINDS);

export function familyOf(kind: Kind): Family {
  return UPTIME.has(kind) ? "uptime" : "tunnel";
}
