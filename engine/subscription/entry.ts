/** What one entry of a subscription turns out to be. */
import type { TunnelProtocol } from "../../model/kind.ts";
import { TunnelConfigError } from "../contract/tunnel.ts";
import { parseHost, parsePort } from "../protocols/endpoint.ts";
import { parsePorts } from "../protocols/hysteria2/config.ts";
import { canonical } from "../protocols/share-link/canonical.ts";
import { foldedName } from "../protocols/share-link/link.ts";
import type { NamedConfig, ProxyProtocol } from "../protocols/share-link/proxy-config.ts";
import { EntryError } from "./body-error.ts";

export type Entry =
  | { readonly kind: "config"; readonly at: number; readonly read: NamedConfig }
  /** A pseudo entry: its name is a message of the provider. */
  | { readonly kind: "info"; readonly at: number; readonly text: string }
  /** A scheme or type that no core here speaks. */
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

/** The same checks as a link's. @throws TunnelConfigError */
export function readProxy({ protocol, host, port, hops, credential, parameters, name }: ProxyEntry): NamedConfig {
  const number = parsePort(textOf(port) || textOf(hops).split(/[-,:]/, 1)[0] || "", "port");
  const ranges = textOf(hops).replaceAll(":", "-");
  const linkParameters = new Map<string, string>();
  for (const [key, value] of Object.entries(parameters)) {
    const text = textOf(value);
    if (text !== "") linkParameters.set(foldedName(key), text);
  }
  const named = textOf(name).trim();
  return canonical({
    protocol,
    host: parseHost(textOf(host), "server"),
    port: number,
    ports: ranges === "" ? [[number, number]] : parsePorts(ranges),
    credential: Object.fromEntries(Object.entries(credential).map(([key, value]) => [key, textOf(value)])),
    parameters: linkParameters,
    name: named === "" ? null : named,
  });
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

/** Own members of a JSON or YAML object; of anything else none. */
export function membersOf(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.assign(Object.create(null), value) as Fields;
}

export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Panels put notices into the list as entries that lead nowhere (remnawave: vless to 0.0.0.0:1 with a zero UUID). */
function isPlaceholder({ config }: NamedConfig): boolean {
  const { account, host, port } = config;
  const isNobody = "uuid" in account && /^(.)\1*$/.test(account.uuid.replaceAll("-", ""));
  return isNobody || port === 1 || host === "0.0.0.0" || host === "::";
}
