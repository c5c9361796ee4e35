/** The body of POST /check: one configuration, tested once and kept nowhere (docs/api-contract.md#checks-without-a-monitor, #tunnel-fields). */

import { z } from "zod";
import {
  CHECK_FIELD_NAMES,
  engineGap,
  fieldRefusal,
  hasEndpoint,
  type ParsedTunnel,
  parse,
  TunnelConfigError,
  type TunnelFields,
  tunnelOf,
  tunnels,
} from "../../engine/contract/registry.ts";
import { TUNNEL_PROTOCOLS, type TunnelProtocol } from "../../model/kind.ts";
import type { Engine } from "../../model/subscription.ts";
import { fieldOf, type JsonObject } from "../body.ts";
import { badRequest, refusal, unprocessable } from "../errors.ts";
import { refuseLongFields } from "../monitors/draft.ts";
import { hasNul } from "../monitors/every-kind.ts";
import { linkedProtocol, openedKey, tunnelSchemas, unsupportedProtocol } from "../monitors/tunnels.ts";
import type { Known } from "../warnings.ts";
import { seenIn } from "./seen.ts";

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
  readonly fallback: number;
}
/** docs/api-contract.md#checks-without-a-monitor. */
export const TIMEOUT_S: TimeoutRange = { least: 5, most: 60, fallback: 30 };
export const PUBLIC_TIMEOUT_S: TimeoutRange = { least: 5, most: 20, fallback: 15 };

const ENGINES: readonly Engine[] = ["xray", "singbox"];
type Fields = Omit<TunnelFields, "url">;

/** Kinds whose file is known by what it must hold, for the document. */
const WITH_FILE = tunnels.filter(({ form }) => form.by === "wg-quick" || form.by === "openvpn-file").map(nameOf);
const WITH_SERVER = tunnels.filter(({ form }) => form.by === "server").map(nameOf);

function nameOf({ kind }: { readonly kind: TunnelProtocol }): TunnelProtocol {
  return kind;
}

/** For the document. */
export const checkFields = {
  ...Object.fromEntries(CHECK_FIELD_NAMES.map((name) => [name, tunnelSchemas[name].optional()])),
  config: tunnelSchemas.config
    .optional()
    .describe(
      `Share link, config file (${WITH_FILE.join(", ")}), or \`host\` or \`host:port\` (${WITH_SERVER.join(", ")}); required unless host is given`,
    )
    .meta({ examples: [tunnelOf("vless").example.url] }),
  remote_id: tunnelSchemas.remote_id.optional().describe("ikev2: the server's identity; by default the host"),
  protocol: z.enum(TUNNEL_PROTOCOLS).optional().describe("Required unless config is a share link"),
  timeout: z.number().optional().describe("Seconds; clamped to what is allowed, never refused"),
};
export const engineField = {
  engine: z.enum(ENGINES).optional().describe("Share links only; by default the service's order"),
};

/** What counts in a body whose configuration was of this protocol. @param names all that the endpoint takes */
export function knownCheckFields(protocol: TunnelProtocol, names: Iterable<string>): Known {
  const { fields, form } = tunnelOf(protocol);
  const known = new Set(names);
  const elsewhere = new Set<string>(form.by === "link" ? [] : ["engine"]);
  for (const field of CHECK_FIELD_NAMES) {
    if (field !== "config" && !fields.includes(field)) elsewhere.add(field);
  }
  for (const field of elsewhere) known.delete(field);
  return { names: known, elsewhere, sort: protocol };
}

/** @throws 400, 413 or 422 */
export function readCheck(body: JsonObject, timeout: TimeoutRange, takesEngine: boolean): CheckOrder {
  const sent = readFields(body);
  refuseLongFields(body);
  const engine = takesEngine ? readEngine(body) : null;
  const timeoutMs = readTimeoutS(body, timeout) * 1_000;
  const linked = linkedProtocol(sent.config);
  const key = openedKey(sent.config);
  const fields = key === undefined ? sent : { ...sent, config: key.config };
  const protocol = protocolOf(fieldOf(body, "protocol"), linked ?? key?.protocol, fields);
  if (linked === undefined)
    return { tunnel: parseFields(protocol, fields), isDetected: false, timeoutMs, engine: null };
  const tunnel = parsed(protocol, { url: (fields.config ?? "").trim() });
  const { form } = tunnelOf(protocol);
  if (engine !== null && form.by === "link" && !form.cores.includes(engine)) {
    throw unprocessable(`Invalid VPN configuration: ${engine} cannot run ${protocol}`);
  }
  return { tunnel, isDetected: true, timeoutMs, engine };
}

/** What the core that was asked for has no way to do is no fault of the server. @throws 422 */
export async function acceptEngine({ tunnel, engine }: CheckOrder): Promise<void> {
  const gap = engine === null ? undefined : await engineGap(tunnel.fields.url ?? "", engine);
  if (gap !== undefined)
    throw unprocessable(`Invalid VPN configuration: ${gap}. Leave engine out, or name the other one`);
}

/** Blank texts count as left out. */
function readFields(body: JsonObject): Fields {
  const fields: Record<string, unknown> = {};
  for (const field of CHECK_FIELD_NAMES) {
    const value = fieldOf(body, field) ?? undefined;
    if (value === undefined) continue;
    const read = tunnelSchemas[field].safeParse(value);
    if (!read.success || hasNul(value)) throw badRequest(fieldRefusal(field));
    if (typeof read.data !== "string" || read.data.trim() !== "") fields[field] = read.data;
  }
  return fields;
}

export function readEngine(body: JsonObject): Engine | null {
  const sent = fieldOf(body, "engine") ?? null;
  if (sent === null) return null;
  const engine = ENGINES.find((one) => one === sent);
  if (engine === undefined) throw refusal("engineInvalid");
  return engine;
}

/** What is no number means the standard: a time-out is never refused. */
function readTimeoutS(body: JsonObject, { least, most, fallback: standard }: TimeoutRange): number {
  const sent = fieldOf(body, "timeout");
  return typeof sent === "number" ? Math.min(most, Math.max(least, Math.round(sent))) : standard;
}

/** @throws 400 when nothing names it, 422 when what names it is not known, or the two differ */
function protocolOf(named: unknown, linked: TunnelProtocol | undefined, { config, host }: Fields): TunnelProtocol {
  const protocol = TUNNEL_PROTOCOLS.find((each) => each === named);
  if (config === undefined && host === undefined) {
    throw protocol !== undefined && tunnelOf(protocol).form.by === "server"
      ? missingHost(protocol)
      : refusal("configInvalid");
  }
  if (named === undefined || named === null || named === "") {
    if (linked !== undefined) return linked;
    const seen = seenIn(config ?? "");
    throw seen === undefined ? refusal("protocolUndetected") : unsupportedProtocol(seen);
  }
  if (protocol === undefined) throw unsupportedProtocol();
  if (linked !== undefined && linked !== protocol) {
    throw unprocessable(`Invalid VPN configuration: the link is ${linked}, the protocol is ${protocol}`);
  }
  return protocol;
}

function parseFields(protocol: TunnelProtocol, { config, ...fields }: Fields): ParsedTunnel {
  const { by } = tunnelOf(protocol).form;
  if (by === "server") {
    const host = fields.host ?? config;
    if (host === undefined) throw missingHost(protocol);
    return parsed(protocol, { ...fields, host });
  }
  // Protocols of share links have no other form.
  if (config === undefined && by !== "openvpn-file") throw refusal("configInvalid");
  if (by === "wg-quick" && fields.host === undefined && !hasEndpoint(config ?? "")) {
    throw refusal("endpointMissing");
  }
  return parsed(protocol, { ...fields, ...(config !== undefined && { config }) });
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

/** Names that are resolved for one request of an unknown caller: each is several questions to name servers, which the caller chooses. */
const MOST_ANONYMOUS_HOSTS = 16;

/** What checks for callers without a key leave out. @throws 422 */
export function refuseAnonymous({ tunnel: { protocol, fields, endpoints } }: CheckOrder): void {
  const hosts = new Set(endpoints.map(({ host }) => host));
  const reason =
    hosts.size > MOST_ANONYMOUS_HOSTS
      ? `public checks take at most ${MOST_ANONYMOUS_HOSTS} servers`
      : tunnelOf(protocol).refuseAnonymous?.(fields);
  if (reason !== undefined) throw unprocessable(`Invalid VPN configuration: ${reason}`);
}
