/** Tunnel bodies: which protocol they mean, and what can be said of them before a protocol's own schema speaks. */
import { TUNNEL_PROTOCOLS, type TunnelProtocol } from "../../model/kind.ts";
import type { JsonObject } from "../body.ts";
import { fieldOf } from "../body.ts";
import { type ApiError, badRequest, unprocessable } from "../errors.ts";
import { refuseLongFields } from "./draft.ts";
import { nameField, parsed, readCommon } from "./every-kind.ts";
import { TUNNEL_FIELDS } from "./fields.ts";

/** Share links by their scheme (contract, POST /servers). */
const SCHEMES: Readonly<Record<string, TunnelProtocol>> = {
  vless: "vless",
  vmess: "vmess",
  trojan: "trojan",
  ss: "shadowsocks",
  hysteria2: "hysteria2",
  hy2: "hysteria2",
  tuic: "tuic",
};

/** Fields a monitor of the protocol cannot do without, and their other names (open-points 3.3). */
const REQUIRED: Readonly<Record<TunnelProtocol, readonly (readonly string[])[]>> = {
  wireguard: [["config", "wg", "wireguard_config"]],
  amneziawg: [["config", "wg", "wireguard_config"]],
  openvpn: [["config", "host"]],
  openconnect: [["host"], ["username"], ["password"]],
  ikev2: [["host"], ["password", "psk"]],
  vless: [["url"]],
  vmess: [["url"]],
  trojan: [["url"]],
  shadowsocks: [["url"]],
  hysteria2: [["url"]],
  tuic: [["url"]],
};

export function unsupportedProtocol(): ApiError {
  return unprocessable(`Unsupported protocol. Supported: ${TUNNEL_PROTOCOLS.join(", ")}.`);
}

export function hasTunnelField(body: JsonObject): boolean {
  return TUNNEL_FIELDS.some((field) => Object.hasOwn(body, field));
}

/** The protocol that is named, or the one of the share link's scheme. @throws 422 when there is none, or the two differ */
export function protocolOf(body: JsonObject): TunnelProtocol {
  const named = fieldOf(body, "protocol");
  const url = fieldOf(body, "url");
  const scheme = typeof url === "string" ? /^\s*([a-z0-9]+):\/\//i.exec(url)?.[1]?.toLowerCase() : undefined;
  const linked = scheme !== undefined && Object.hasOwn(SCHEMES, scheme) ? SCHEMES[scheme] : undefined;
  if (named === undefined || named === null) {
    if (linked === undefined) throw unsupportedProtocol();
    return linked;
  }
  const protocol = TUNNEL_PROTOCOLS.find((each) => each === named);
  if (protocol === undefined) throw unsupportedProtocol();
  if (linked !== undefined && linked !== protocol) {
    throw unprocessable(`Invalid VPN configuration: the link is ${linked}, the protocol is ${protocol}`);
  }
  return protocol;
}

/** Checks what every tunnel body shares. @throws always, until protocols bring schemas of their own: 400, 413 or 422 */
export function refuseTunnel(body: JsonObject): never {
  parsed(nameField, fieldOf(body, "name"), "Missing or invalid name");
  readCommon(body);
  for (const field of TUNNEL_FIELDS) {
    const value = fieldOf(body, field);
    if (value === undefined || value === null) continue;
    const right =
      field === "port"
        ? Number.isInteger(value)
        : field === "servers"
          ? Array.isArray(value)
          : typeof value === "string";
    if (!right) throw badRequest(`Missing or invalid ${field}`);
  }
  refuseLongFields(body);
  const protocol = protocolOf(body);
  const missing = REQUIRED[protocol].find((names) => !names.some((name) => isGiven(fieldOf(body, name))));
  if (missing !== undefined) throw unprocessable(`Invalid VPN configuration: missing ${missing[0]}`);
  throw unprocessable(`Invalid VPN configuration: ${protocol} monitors are not available in this version`);
}

/** @throws always: no tunnel can have been created before its protocol has a schema */
export function refuseTunnelChange(body: JsonObject): never {
  refuseLongFields(body);
  throw unprocessable("Invalid VPN configuration: tunnel monitors are not available in this version");
}

function isGiven(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}
