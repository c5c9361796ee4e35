/** What one entry of a subscription turns out to be. */

import { NO_TEXT } from "../../model/decode-text.ts";
import type { TunnelProtocol } from "../../model/kind.ts";
import { isFields } from "../../model/plain-values.ts";
import { TunnelConfigError } from "../contract/tunnel.ts";
import { parseHost, parsePort } from "../protocols/endpoint.ts";
import { parsePorts } from "../protocols/hysteria2/config.ts";
import { canonical } from "../protocols/share-link/canonical.ts";
import { foldedName, type ShareLink } from "../protocols/share-link/link.ts";
import type { NamedConfig, ProxyProtocol } from "../protocols/share-link/proxy-config.ts";
import { EntryError } from "./body-error.ts";

export type Entry =
  | { readonly kind: "config"; readonly at: number; readonly read: NamedConfig }
  /** A pseudo entry: its name is a message of the provider. */
  | { readonly kind: "info"; readonly at: number; readonly text: string }
  /** A scheme or type that no core here supports. */
  | { readonly kind: "unsupported"; readonly at: number; readonly what: string }
  | { readonly kind: "bad"; readonly at: number; readonly reason: string };

/** Members as texts by any names; what is absent or empty is left out. */
export type Fields = Readonly<Record<string, unknown>>;

/** A proxy of a structured body, by the names that links have. */
export interface ProxyEntry {
  readonly protocol: ProxyProtocol & TunnelProtocol;
  readonly host: unknown;
  readonly port: unknown;
  readonly hops?: unknown;
  readonly credential: Fields;
  readonly parameters: Fields;
  readonly name: unknown;
}

/** @param at number of the line or entry, from 1 */
export function entryOf(at: number, read: () => NamedConfig): Entry {
  try {
    const named = read();
    return isPlaceholder(named) ? { kind: "info", at, text: named.name ?? "" } : { kind: "config", at, read: named };
  } catch (error) {
    if (error instanceof RangeError) return { kind: "bad", at, reason: "it is nested too deep" };
    if (!(error instanceof TunnelConfigError || error instanceof EntryError)) throw error;
    return { kind: "bad", at, reason: error.message };
  }
}

/** The same checks as a link's. @throws TunnelConfigError, EntryError */
export function readProxy(entry: ProxyEntry): NamedConfig {
  return inWordsOfEntries(() => canonical(linkOf(entry)));
}

function linkOf({ protocol, host, port, hops, credential, parameters, name }: ProxyEntry): ShareLink {
  refuseStray([host, hops, ...Object.values(credential), ...Object.values(parameters)]);
  const number = parsePort(scalarText(port) || textOf(hops).split(/[-,:]/, 1)[0] || "", "port");
  const ranges = textOf(hops).replaceAll(":", "-");
  const linkParameters = new Map<string, string>();
  for (const [key, value] of Object.entries(parameters)) {
    const text = textOf(value);
    if (text !== "") linkParameters.set(foldedName(key), text);
  }
  const named = textOf(name).trim();
  return {
    protocol,
    host: parseHost(typeof host === "string" ? host : "", "server"),
    port: number,
    ports: ranges === "" ? [[number, number]] : parsePorts(ranges),
    credential: Object.fromEntries(Object.entries(credential).map(([key, value]) => [key, credentialText(value, key)])),
    parameters: linkParameters,
    name: named === "" ? null : named,
  };
}

/** What reads links reads entries too, and calls either a link. @throws TunnelConfigError, EntryError */
function inWordsOfEntries(read: () => NamedConfig): NamedConfig {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TunnelConfigError)) throw error;
    throw new EntryError(error.message.replaceAll(/\bthe link\b/g, "the entry"));
  }
}

/** Bytes that were no text would lead to another server, or as another user; in a name they harm nothing. @throws EntryError */
function refuseStray(values: readonly unknown[]): void {
  const isStray = (value: unknown): boolean =>
    typeof value === "string" ? value.includes(NO_TEXT) : Array.isArray(value) && value.some(isStrayText);
  if (values.some(isStray)) throw new EntryError("it holds bytes that are no text");
}

function isStrayText(value: unknown): boolean {
  return typeof value === "string" && value.includes(NO_TEXT);
}

/** JSON may have `true` or a list there, which is no credential; a password of digits is often written as a number. @throws EntryError */
function credentialText(value: unknown, key: string): string {
  const isText = value === undefined || value === null || typeof value === "string";
  if (!isText && !(key === "password" && Number.isSafeInteger(value))) throw new EntryError(`its ${key} is no text`);
  return textOf(value);
}

/** Of a field that is a list: the longest real ones are `alpn` and port ranges, with a few dozen. */
const MAX_LISTED = 1_000;
/** Of a field, characters: the longest config of the contract is 102,400 bytes. */
const MAX_TEXT = 102_400;

/**
 * A list of scalars is joined; anything else that is no scalar is nothing. A list in a list is nothing either: YAML aliases could make one of
 * a few lines millions of items long.
 *
 * @throws EntryError when it is longer than any real field
 */
export function textOf(value: unknown): string {
  const text = Array.isArray(value) ? joined(value) : scalarText(value);
  if (text.length > MAX_TEXT) throw new EntryError("a field of it is too long");
  return text;
}

function joined(values: readonly unknown[]): string {
  if (values.length > MAX_LISTED) throw new EntryError(`a field of it has more than ${MAX_LISTED} items`);
  return values.map(scalarText).join(",");
}

function scalarText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/**
 * A part that is an object, or is not there: what else stands there would be read as if it were not there.
 *
 * @throws EntryError
 */
export function partOf(value: unknown, name: string): Fields {
  if (value === undefined || value === null || value === "") return membersOf(null);
  if (!isFields(value)) throw new EntryError(`its ${name} is no object`);
  return membersOf(value);
}

/** A switch that is off where it is not there. @throws EntryError */
export function isOn(value: unknown, name: string): boolean {
  const word = scalarText(value).toLowerCase();
  if (YES.has(word)) return true;
  if (!NO.has(word) || (typeof value === "object" && value !== null))
    throw new EntryError(`its ${name} is neither true nor false`);
  return false;
}

/** YAML up to 1.1 has all of these words (yaml.org/type/bool). */
const YES: ReadonlySet<string> = new Set(["true", "yes", "on", "1"]);
const NO: ReadonlySet<string> = new Set(["false", "no", "off", "0", "", "null", "~"]);

/** The entry itself. @throws EntryError */
export function entryMembers(value: unknown): Fields {
  if (!isFields(value)) throw new EntryError("it is no object");
  return membersOf(value);
}

/** The word that says what kind of entry it is. @throws EntryError */
export function kindOf(value: unknown, name: string): string {
  if (typeof value !== "string" || value === "") throw new EntryError(`it has no ${name}`);
  refuseStray([value]);
  return value;
}

/** Own members of a JSON or YAML object; of anything else none. */
export function membersOf(value: unknown): Fields {
  if (!isFields(value)) return {};
  return Object.assign(Object.create(null), value) as Fields;
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Panels put notices into the list as entries that lead nowhere (remnawave: vless to 0.0.0.0:1 with a zero UUID). */
function isPlaceholder({ config }: NamedConfig): boolean {
  const { account, host, port } = config;
  const hasNoUser = "uuid" in account && /^[0-]+$/.test(account.uuid);
  return hasNoUser || host === "0.0.0.0" || host === "::" || (port === 1 && LOOPBACK.test(host));
}

/** A real server may listen on port 1; on this machine none does. */
const LOOPBACK = /^(?:localhost$|127\.|::1$)/;
