/** Tunnel bodies: which protocol they mean, and their fields with the stored ones below (docs/api-contract.md#tunnel-fields). */
import { z } from "zod";
import { type ParsedTunnel, parse, TunnelConfigError, type TunnelFields } from "../../engine/registry.ts";
import { TUNNEL_PROTOCOLS, type TunnelProtocol } from "../../model/kind.ts";
import type { JsonObject } from "../body.ts";
import { fieldOf } from "../body.ts";
import { type ApiError, badRequest, refusal, unprocessable } from "../errors.ts";
import { refuseLongFields } from "./draft.ts";
import { type CommonFields, commonFields, hasNul, nameField, parsed, readCommon, readField } from "./every-kind.ts";
import { TUNNEL_FIELDS } from "./fields.ts";

/** Share links by their scheme (docs/api-contract.md#monitors). */
const SCHEMES: Readonly<Record<string, TunnelProtocol>> = {
  vless: "vless",
  vmess: "vmess",
  trojan: "trojan",
  ss: "shadowsocks",
  hysteria2: "hysteria2",
  hy2: "hysteria2",
  tuic: "tuic",
};

const portNumber = z.int().min(1).max(65_535);
const transport = z.enum(["udp", "tcp"]);

/** As they come in the body; what a protocol makes of a text is its parser's business. */
export const tunnelSchemas = {
  url: z.string().describe("Share link, at most 8192 bytes"),
  config: z.string().describe("Text of a config file, at most 102400 bytes"),
  host: z.string().describe("At most 253 bytes"),
  username: z.string().describe("At most 256 bytes"),
  password: z.string().describe("At most 4096 bytes"),
  port: portNumber,
  proto: transport,
  remote_id: z.string().describe("At most 256 bytes"),
  ip: z.string().describe("Literal address used instead of resolving the host, at most 64 bytes"),
  servers: z
    .array(z.object({ host: z.string(), port: portNumber.default(1_194), proto: transport.default("udp") }))
    .describe("openvpn: at most 16, tried in order"),
  wg: z.string().describe("Another name of config, for wireguard and amneziawg"),
  wireguard_config: z.string().describe("Another name of config, for wireguard and amneziawg"),
  wireguard_ip: z.string().describe("Another name of ip, for wireguard and amneziawg"),
  group: z.string().describe("openconnect, at most 256 bytes"),
  ca: z.string().describe("openconnect and ikev2: PEM, at most 102400 bytes"),
  pin: z.string().describe("openconnect: pin-sha256:…"),
  psk: z.string().describe("ikev2, at most 4096 bytes"),
} as const;

/** Fields whose other names are understood for WireGuard's kinds; the first that was sent counts. */
const ALIASES: Readonly<Partial<Record<keyof TunnelFields, readonly string[]>>> = {
  config: ["config", "wg", "wireguard_config"],
  ip: ["ip", "wireguard_ip"],
};

/** What was sent; null takes a field away. */
type SentFields = Readonly<Record<string, unknown>>;

export interface TunnelDraft extends CommonFields {
  readonly active?: boolean;
  /** The whole configuration; only when some of it was sent. */
  readonly tunnel?: ParsedTunnel;
}
export type NewTunnelDraft = TunnelDraft & { readonly name: string; readonly tunnel: ParsedTunnel };

export function unsupportedProtocol(): ApiError {
  return unprocessable(`Unsupported protocol. Supported: ${TUNNEL_PROTOCOLS.join(", ")}.`);
}

function invalid(reason: string): ApiError {
  return unprocessable(`Invalid VPN configuration: ${reason}`);
}

export function hasTunnelField(body: JsonObject): boolean {
  return TUNNEL_FIELDS.some((field) => Object.hasOwn(body, field));
}

/** @throws 400, 413 or 422 */
export function draftOfNewTunnel(body: JsonObject): NewTunnelDraft {
  const name = parsed(nameField, fieldOf(body, "name"), "Missing or invalid name");
  const common = commonOf(body);
  const sent = readFields(body);
  const protocol = protocolOf(body, null);
  return { ...common, name, tunnel: tunnelOf(protocol, merged(protocol, {}, sent)) };
}

/**
 * The sent fields over the stored ones; another protocol replaces them all.
 * @param stored null when the monitor has none of its own: what is sent must be whole
 * @throws 400, 413 or 422
 */
export function draftOfTunnelChange(now: TunnelProtocol, stored: TunnelFields | null, body: JsonObject): TunnelDraft {
  const { sent, ...common } = readTunnelChange(body);
  const protocol = protocolOf(body, now);
  if (Object.keys(sent).length === 0 && protocol === now) return common;
  return { ...common, tunnel: tunnelOf(protocol, merged(protocol, protocol === now ? (stored ?? {}) : {}, sent)) };
}

/** What can be said of a change without the stored configuration. @throws 400 or 413 */
export function readTunnelChange(body: JsonObject): TunnelDraft & { readonly sent: SentFields } {
  const type = fieldOf(body, "type");
  if (type !== undefined && type !== "vpn") throw refusal("typeChange");
  return { ...commonOf(body), sent: readFields(body) };
}

/** Whether a body asks for another configuration (docs/api-contract.md#monitors). */
export function changesTunnel(now: TunnelProtocol, body: JsonObject): boolean {
  return Object.keys(readFields(body)).length > 0 || protocolOf(body, now) !== now;
}

function commonOf(body: JsonObject): CommonFields & { readonly active?: boolean } {
  const common = readCommon(body);
  const active = readField(body, "active", commonFields.active);
  return { ...common, ...(active !== undefined && { active }) };
}

/** Types first, then lengths, each in the order of the contract's list. */
function readFields(body: JsonObject): SentFields {
  const sent: Record<string, unknown> = {};
  for (const [field, schema] of Object.entries(tunnelSchemas)) {
    const value = fieldOf(body, field);
    if (value === undefined) continue;
    const read = value === null ? null : schema.safeParse(value);
    if (read !== null && (!read.success || hasNul(value))) throw badRequest(`Missing or invalid ${field}`);
    sent[field] = read === null ? null : read.data;
  }
  refuseLongFields(body);
  return sent;
}

/**
 * The protocol that is named, or the one of the share link's scheme, or the monitor's own.
 * @throws 400 for what is no text, 422 when there is none, or the name and the link differ
 */
function protocolOf(body: JsonObject, now: TunnelProtocol | null): TunnelProtocol {
  const named = fieldOf(body, "protocol");
  if (named !== undefined && named !== null && typeof named !== "string")
    throw badRequest("Missing or invalid protocol");
  const linked = linkedProtocol(fieldOf(body, "url"));
  if (named === undefined || named === null) {
    const protocol = linked ?? now;
    if (protocol === null) throw unsupportedProtocol();
    return protocol;
  }
  const protocol = TUNNEL_PROTOCOLS.find((each) => each === named);
  if (protocol === undefined) throw unsupportedProtocol();
  if (linked !== undefined && linked !== protocol) {
    throw invalid(`the link is ${linked}, the protocol is ${protocol}`);
  }
  return protocol;
}

/** The protocol of a share link; undefined for what is none. */
export function linkedProtocol(url: unknown): TunnelProtocol | undefined {
  const scheme = typeof url === "string" ? /^\s*([a-z0-9]+):\/\//i.exec(url)?.[1]?.toLowerCase() : undefined;
  return scheme !== undefined && Object.hasOwn(SCHEMES, scheme) ? SCHEMES[scheme] : undefined;
}

function merged(protocol: TunnelProtocol, stored: TunnelFields, sent: SentFields): TunnelFields {
  const hasAliases = protocol === "wireguard" || protocol === "amneziawg";
  const whole: Record<string, unknown> = { ...stored };
  for (const field of Object.keys(tunnelSchemas)) {
    const names = (hasAliases ? ALIASES[field as keyof TunnelFields] : undefined) ?? [field];
    if (isAlias(field)) continue;
    const name = names.find((one) => sent[one] !== undefined && sent[one] !== null) ?? names.find((one) => one in sent);
    if (name === undefined) continue;
    if (sent[name] === null) delete whole[field];
    else whole[field] = sent[name];
  }
  return whole as TunnelFields;
}

function isAlias(field: string): boolean {
  return Object.values(ALIASES).some((names) => names.includes(field) && names[0] !== field);
}

/** @throws 422 with the parser's reason */
function tunnelOf(protocol: TunnelProtocol, fields: TunnelFields): ParsedTunnel {
  if (protocol !== "openvpn" && fields.servers !== undefined) throw invalid("servers is for openvpn");
  try {
    return parse(protocol, fields);
  } catch (error) {
    if (error instanceof TunnelConfigError) throw invalid(error.message);
    throw error;
  }
}

/** Names of the fields that differ, for the history; their values are in none. */
export function changedFields(before: TunnelFields, after: TunnelFields): readonly string[] {
  return Object.keys(tunnelSchemas).filter((name) => {
    const field = name as keyof TunnelFields;
    return JSON.stringify(before[field]) !== JSON.stringify(after[field]);
  });
}
