/** Tunnel bodies: which protocol they mean, and their fields with the stored ones below (docs/api-contract.md#tunnel-fields). */
import type { z } from "zod";
import {
  type AmneziaKey,
  fieldRefusal,
  isAmneziaKey,
  OWN_FIELD_NAMES,
  type OwnFieldName,
  type ParsedTunnel,
  parse,
  parseAmneziaKey,
  TUNNEL_FIELD_NAMES,
  TUNNEL_FIELDS,
  TunnelConfigError,
  type TunnelFieldName,
  type TunnelFields,
  tunnelOf as tunnelKind,
  tunnels,
} from "../../engine/contract/registry.ts";
import { TUNNEL_PROTOCOLS, type TunnelProtocol } from "../../model/kind.ts";
import { fieldOf, type JsonObject } from "../body.ts";
import { type ApiError, badRequest, refusal, unprocessable } from "../errors.ts";
import { refuseLongFields } from "./draft.ts";
import { type CommonFields, commonFields, hasNul, nameField, parsed, readCommon, readField } from "./every-kind.ts";
import { listed, TUNNEL_BODY_FIELDS } from "./fields.ts";

/** Share links by their scheme (docs/api-contract.md#monitors). */
const PROTOCOL_OF: ReadonlyMap<string, TunnelProtocol> = new Map(
  tunnels.flatMap(({ kind, form }) =>
    form.by === "link" ? form.schemes.map((scheme) => [scheme, kind] as const) : [],
  ),
);
/** Kinds that understand the fields' other names. */
const WITH_ALIASES = tunnels.filter(({ form }) => form.by === "wg-quick").map(({ kind }) => kind);

/** As they come in the body; what a protocol makes of a text is its parser's business. */
export const tunnelSchemas = Object.fromEntries(TUNNEL_FIELD_NAMES.map((name) => [name, described(name)])) as {
  readonly [Name in TunnelFieldName]: (typeof TUNNEL_FIELDS)[Name]["schema"];
};

function described(name: TunnelFieldName): z.ZodType {
  const { schema, about, maxBytes, aliasOf } = TUNNEL_FIELDS[name];
  if (aliasOf !== null) return schema.describe(`Another name of ${aliasOf}, for ${WITH_ALIASES.join(" and ")}`);
  const limit = maxBytes === null ? "" : `${about === "" ? "At" : ", at"} most ${maxBytes} bytes`;
  return about + limit === "" ? schema : schema.describe(about + limit);
}

/** What was sent; null takes a field away. */
type SentFields = Readonly<Record<string, unknown>>;

export interface TunnelDraft extends CommonFields {
  readonly active?: boolean;
  /** The whole configuration; only when some of it was sent. */
  readonly tunnel?: ParsedTunnel;
}
export type NewTunnelDraft = TunnelDraft & { readonly name: string; readonly tunnel: ParsedTunnel };

/** @param seen what was sent instead, in words */
export function unsupportedProtocol(seen?: string): ApiError {
  const what = seen === undefined ? "" : `: ${seen}`;
  return unprocessable(`Unsupported protocol${what}. Supported: ${TUNNEL_PROTOCOLS.join(", ")}.`);
}

function invalid(reason: string): ApiError {
  return unprocessable(`Invalid VPN configuration: ${reason}`);
}

export function hasTunnelField(body: JsonObject): boolean {
  return TUNNEL_BODY_FIELDS.some((field) => Object.hasOwn(body, field));
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
  for (const field of TUNNEL_FIELD_NAMES) {
    const schema = tunnelSchemas[field];
    const value = fieldOf(body, field);
    if (value === undefined) continue;
    const read = value === null ? null : schema.safeParse(value);
    if (read !== null && (!read.success || hasNul(value))) throw badRequest(fieldRefusal(field));
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
  const linked = linkedProtocol(fieldOf(body, "url")) ?? openedKey(fieldOf(body, "config"))?.protocol;
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
  return scheme === undefined ? undefined : PROTOCOL_OF.get(scheme);
}

/** A key of AmneziaVPN says itself what it is; undefined for what is none. @throws 422 */
export function openedKey(config: unknown): AmneziaKey | undefined {
  if (!isAmneziaKey(config)) return undefined;
  try {
    return parseAmneziaKey(config);
  } catch (error) {
    if (error instanceof TunnelConfigError) throw invalid(error.message);
    throw error;
  }
}

function merged(protocol: TunnelProtocol, stored: TunnelFields, sent: SentFields): TunnelFields {
  const hasAliases = WITH_ALIASES.includes(protocol);
  const whole: Record<string, unknown> = { ...stored };
  for (const field of OWN_FIELD_NAMES) {
    const names = hasAliases ? [field, ...aliasesOf(field)] : [field];
    // Of several names the first that says something counts.
    const name = names.find((one) => sent[one] !== undefined && sent[one] !== null) ?? names.find((one) => one in sent);
    if (name === undefined) continue;
    if (sent[name] === null) delete whole[field];
    else whole[field] = sent[name];
  }
  return whole as TunnelFields;
}

function aliasesOf(field: OwnFieldName): readonly TunnelFieldName[] {
  return TUNNEL_FIELD_NAMES.filter((name) => TUNNEL_FIELDS[name].aliasOf === field);
}

/** @throws 422 with the parser's reason */
function tunnelOf(protocol: TunnelProtocol, fields: TunnelFields): ParsedTunnel {
  if (fields.servers !== undefined && !tunnelKind(protocol).fields.includes("servers")) {
    throw invalid(
      `servers is for ${listed(tunnels.filter(({ fields }) => fields.includes("servers")).map(({ kind }) => kind))}`,
    );
  }
  try {
    return parse(protocol, fields);
  } catch (error) {
    if (error instanceof TunnelConfigError) throw invalid(error.message);
    throw error;
  }
}

/** Names of the fields that differ, for the history; their values are in none. */
export function changedFields(before: TunnelFields, after: TunnelFields): readonly string[] {
  return OWN_FIELD_NAMES.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
}
