/** The body of POST /check: one configuration, tested once and kept nowhere (docs/api-contract.md#checks-without-a-monitor, #tunnel-fields). */

import { z } from "zod";
import { hasPkcs12, type ParsedTunnel, parse, TunnelConfigError, type TunnelFields } from "../../engine/registry.ts";
import { TUNNEL_PROTOCOLS, type TunnelProtocol } from "../../model/kind.ts";
import { before, linesOf } from "../../model/text.ts";
import { fieldOf, type JsonObject } from "../body.ts";
import { badRequest, refusal, unprocessable } from "../errors.ts";
import { refuseLongFields } from "../monitors/draft.ts";
import { hasNul } from "../monitors/every-kind.ts";
import { linkedProtocol, tunnelSchemas, unsupportedProtocol } from "../monitors/tunnels.ts";

export type Engine = "xray" | "singbox";

export interface CheckOrder {
  readonly tunnel: ParsedTunnel;
  /** The protocol came from a share link. */
  readonly isDetected: boolean;
  readonly timeoutMs: number;
  /** null: in the service's own order. */
  readonly engine: Engine | null;
}

/** Seconds. */
export interface TimeoutRange {
  readonly least: number;
  readonly most: number;
  readonly standard: number;
}
/** docs/api-contract.md#checks-without-a-monitor. */
export const TIMEOUT_S: TimeoutRange = { least: 5, most: 60, standard: 30 };
export const PUBLIC_TIMEOUT_S: TimeoutRange = { least: 5, most: 20, standard: 15 };

const ENGINES: readonly Engine[] = ["xray", "singbox"];
/** Fields of monitors that are also taken here, as they are there. */
const FIELDS = ["config", "host", "username", "password", "port", "remote_id", "group", "ca", "pin", "psk"] as const;
type Fields = Omit<TunnelFields, "url">;

const WITHOUT_FILE: ReadonlySet<TunnelProtocol> = new Set(["openconnect", "ikev2"]);
const WITH_ENDPOINT: ReadonlySet<TunnelProtocol> = new Set(["wireguard", "amneziawg"]);

/** For the document. */
export const checkFields = {
  config: tunnelSchemas.config
    .optional()
    .describe(
      "Share link, config file (wireguard, amneziawg, openvpn), or `host` or `host:port` (openconnect, ikev2); required unless host is given",
    )
    .meta({ examples: ["vless://2f9c8a5e-6a3f-4b1e-9d4c-0a1b2c3d4e5f@vpn.test-site.org:443?security=tls#Berlin"] }),
  protocol: z.enum(TUNNEL_PROTOCOLS).optional().describe("Required unless config is a share link"),
  host: tunnelSchemas.host.optional(),
  username: tunnelSchemas.username.optional(),
  password: tunnelSchemas.password.optional(),
  port: tunnelSchemas.port.optional(),
  remote_id: tunnelSchemas.remote_id.optional().describe("ikev2: the server's identity; by default the host"),
  timeout: z.number().optional().describe("Seconds; clamped to what is allowed, never refused"),
  group: tunnelSchemas.group.optional(),
  ca: tunnelSchemas.ca.optional(),
  pin: tunnelSchemas.pin.optional(),
  psk: tunnelSchemas.psk.optional(),
};
export const engineField = {
  engine: z.enum(ENGINES).optional().describe("Share links only; by default the service's order"),
};

/** @throws 400, 413 or 422 */
export function readCheck(body: JsonObject, timeout: TimeoutRange, takesEngine: boolean): CheckOrder {
  const fields = readFields(body);
  refuseLongFields(body);
  const engine = takesEngine ? readEngine(body) : null;
  const timeoutMs = readTimeoutS(body, timeout) * 1_000;
  const linked = linkedProtocol(fields.config);
  const protocol = protocolOf(fieldOf(body, "protocol"), linked, fields);
  if (linked === undefined)
    return { tunnel: parseFields(protocol, fields), isDetected: false, timeoutMs, engine: null };
  const tunnel = parsed(protocol, { url: (fields.config ?? "").trim() });
  if (engine === "xray" && protocol === "tuic") throw unprocessable("Invalid VPN configuration: xray cannot run tuic");
  return { tunnel, isDetected: true, timeoutMs, engine };
}

/** Blank texts count as left out. */
function readFields(body: JsonObject): Fields {
  const fields: Record<string, unknown> = {};
  for (const field of FIELDS) {
    const value = fieldOf(body, field) ?? undefined;
    if (value === undefined) continue;
    const read = tunnelSchemas[field].safeParse(value);
    if (!read.success || hasNul(value)) throw badRequest(`Missing or invalid ${field}`);
    if (typeof read.data !== "string" || read.data.trim() !== "") fields[field] = read.data;
  }
  return fields;
}

function readEngine(body: JsonObject): Engine | null {
  const sent = fieldOf(body, "engine") ?? null;
  if (sent === null) return null;
  const engine = ENGINES.find((one) => one === sent);
  if (engine === undefined) throw refusal("engineInvalid");
  return engine;
}

/** What is no number means the standard: a time-out is never refused. */
function readTimeoutS(body: JsonObject, { least, most, standard }: TimeoutRange): number {
  const sent = fieldOf(body, "timeout");
  return typeof sent === "number" ? Math.min(most, Math.max(least, Math.round(sent))) : standard;
}

/** @throws 400 when nothing names it, 422 when what names it is not known, or the two differ */
function protocolOf(named: unknown, linked: TunnelProtocol | undefined, { config, host }: Fields): TunnelProtocol {
  const protocol = TUNNEL_PROTOCOLS.find((each) => each === named);
  if (config === undefined && host === undefined) {
    throw protocol !== undefined && WITHOUT_FILE.has(protocol) ? missingHost(protocol) : refusal("configInvalid");
  }
  if (named === undefined || named === null || named === "") {
    if (linked === undefined) throw refusal("protocolUndetected");
    return linked;
  }
  if (protocol === undefined) throw unsupportedProtocol();
  if (linked !== undefined && linked !== protocol) {
    throw unprocessable(`Invalid VPN configuration: the link is ${linked}, the protocol is ${protocol}`);
  }
  return protocol;
}

function parseFields(protocol: TunnelProtocol, { config, ...fields }: Fields): ParsedTunnel {
  if (WITHOUT_FILE.has(protocol)) {
    const host = fields.host ?? config;
    if (host === undefined) throw missingHost(protocol);
    return parsed(protocol, { ...fields, host });
  }
  // Protocols of share links have no other form.
  if (config === undefined && protocol !== "openvpn") throw refusal("configInvalid");
  if (WITH_ENDPOINT.has(protocol) && fields.host === undefined && !hasEndpoint(config ?? "")) {
    throw refusal("endpointMissing");
  }
  return parsed(protocol, { ...fields, ...(config !== undefined && { config }) });
}

/** With a port, as a file must have it. */
function hasEndpoint(config: string): boolean {
  return linesOf(config).some((line) => {
    const [key, value] = entryOf(line);
    return key === "endpoint" && /:\s*\d/.test(value);
  });
}

/** A line `Key = value` of such a file, its key in lower case; a comment begins anywhere. */
function entryOf(line: string): readonly [key: string, value: string] {
  const text = before(line, "#");
  const equals = text.indexOf("=");
  return [text.slice(0, Math.max(0, equals)).trim().toLowerCase(), text.slice(equals + 1).trim()];
}

function missingHost(protocol: TunnelProtocol) {
  return badRequest(`Missing host for ${protocol}`);
}

/** @throws 422 with the parser's reason, which never holds a secret */
function parsed(protocol: TunnelProtocol, fields: TunnelFields): ParsedTunnel {
  try {
    return parse(protocol, fields);
  } catch (error) {
    if (error instanceof TunnelConfigError) throw unprocessable(`Invalid VPN configuration: ${error.message}`);
    throw error;
  }
}

/** Junk packets before a handshake: an anonymous caller could send them to any target (docs/decisions/0005-no-weapon.md). */
function isJunk(line: string): boolean {
  const [key, value] = entryOf(line);
  return key === "jc" ? /^0*[1-9]/.test(value) : /^(?:i[1-5]|j[1-3])$/.test(key) && value !== "";
}

/** @throws 422 */
export function refuseJunk({ tunnel }: CheckOrder): void {
  if (tunnel.protocol !== "amneziawg" || !linesOf(tunnel.fields.config ?? "").some(isJunk)) return;
  throw unprocessable("Invalid VPN configuration: junk and signature packets are not sent for public checks");
}

/** The file sets how long the key derivation takes, and one process opens the files of all callers. @throws 422 */
export function refusePkcs12({ tunnel }: CheckOrder): void {
  if (tunnel.protocol !== "openvpn" || !hasPkcs12(tunnel.fields)) return;
  throw unprocessable("Invalid VPN configuration: <pkcs12> is not opened for public checks; use <cert> and <key>");
}
