/** What `sonde add` is given, as the request that adds it: the kind is read from the text, or named. */
import { basename } from "node:path";
import { engineOptionsOf, loadConfig } from "../../config.ts";
import { type AnyUptime, fieldsOf, isUptimeKind, kindNamed, uptimeOf } from "../../engine/contract/registry.ts";
import { entriesOf } from "../../engine/subscription/body.ts";
import { BodyError } from "../../engine/subscription/body-error.ts";
import { FetchError, fetchBody } from "../../engine/subscription/fetch.ts";
import { CLIENT_NAMES } from "../../engine/subscription/provider.ts";
import { createTransport } from "../../engine/transport/index.ts";
import { familyOf, type Kind, TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import { parseUrl } from "../../model/url.ts";
import { usageError } from "../command.ts";
import type { CheckSource } from "./source.ts";
import { type LoginFields, targetOf } from "./target.ts";

export type AddedKind = Kind | "subscription";

export interface Addition {
  readonly path: "/servers" | "/subscriptions";
  readonly kind: AddedKind;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface AdditionOptions {
  /** null: read from the text. */
  readonly kind: AddedKind | null;
  /** null: made of what is added. */
  readonly name: string | null;
  readonly intervalS: number | null;
  readonly tags: readonly string[];
  /** Further fields of the body. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly login: LoginFields;
  /** Whether a list of configurations is behind the address. */
  readonly isList: (url: string) => Promise<boolean>;
}

/** A website that hangs is one; a list comes sooner, ms. */
const LOOK_MS = 10_000;
const CONFIG_FILE = /\.(?:conf|ovpn|txt|json|ya?ml)$/i;

/** @throws CommandError of a wrong call */
export function addedKindNamed(word: string): AddedKind {
  const kind = word.toLowerCase();
  if (kind === "subscription") return kind;
  const known = kindNamed(kind)?.kind;
  if (known !== undefined) return known;
  throw usageError(`--kind must be subscription, a protocol such as ${TUNNEL_PROTOCOLS[0]}, or http, keyword, port, …`);
}

/** Whether its checks go through a proxy core: those of share links, and of what a list holds. */
export function mayNeedCore(kind: AddedKind): boolean {
  const described = kind === "subscription" ? undefined : kindNamed(kind);
  return kind === "subscription" || (described?.family === "tunnel" && described.form.by === "link");
}

/**
 * @param source null: nothing, which only a job that reports needs
 * @throws CommandError of a wrong call
 */
export async function additionOf(source: CheckSource | null, options: AdditionOptions): Promise<Addition> {
  const text = source?.text.replace(/^\ufeff/, "").trim() ?? "";
  const isAddress = /^https?:\/\/\S+$/i.test(text);
  const { kind } = options;
  if (kind === "subscription" || (kind === null && isAddress && (await options.isList(text)))) {
    if (!isAddress) throw usageError("a subscription is an http or https address");
    return subscriptionOf(text, options);
  }
  const target =
    kind !== null && isUptimeKind(kind) ? uptimeTarget(uptimeOf(kind), text) : tunnelOrAddress(text, options);
  const isTunnel = familyOf(target.kind) === "tunnel";
  const type = isTunnel ? { type: "vpn", protocol: target.kind } : { type: target.kind };
  const name = options.name ?? target.name ?? nameOf(source, target.place);
  return {
    path: "/servers",
    kind: target.kind,
    body: {
      ...type,
      name,
      ...target.settings,
      ...(options.intervalS !== null && { interval: options.intervalS }),
      ...(options.tags.length > 0 && { tags: options.tags }),
      ...options.fields,
    },
  };
}

function subscriptionOf(url: string, { name, intervalS, fields }: AdditionOptions): Addition {
  const body = {
    url,
    ...(name !== null && { name }),
    ...(intervalS !== null && { syncIntervalSec: intervalS }),
    ...fields,
  };
  return { path: "/subscriptions", kind: "subscription", body };
}

function tunnelOrAddress(text: string, { kind, login }: AdditionOptions) {
  const protocol = TUNNEL_PROTOCOLS.find((each) => each === kind) ?? null;
  return targetOf(text, protocol, login);
}

/** The text is the address of the kind; of one that has no addresses it is the first field: what it asks for. */
function uptimeTarget(described: AnyUptime, text: string) {
  const { kind, isPassive } = described;
  if (isPassive) {
    if (text !== "") throw usageError(`${kind} needs no address: give --name and --set period=3600`);
    return { kind, settings: {}, place: kind, name: null };
  }
  const [first = "host"] = Object.keys(fieldsOf(described));
  if (text === "") throw usageError(`${kind} needs its ${first}`);
  if (described.address === null) return { kind, settings: { [first]: text }, place: text, name: null };
  const read = described.address.read(text);
  if (read === undefined) throw usageError(`this is no address of ${kind}`);
  return { kind, settings: read.settings, place: read.place, name: null };
}

/** A file's name without its ending, a website's host, or where it leads. No address as a whole: it may hold a secret. */
function nameOf(source: CheckSource | null, place: string): string {
  if (source?.file != null) return basename(source.file).replace(CONFIG_FILE, "");
  return parseUrl(place)?.hostname || place;
}

/** Reads it once, as a client of subscriptions does, from here: what cannot be read is no list. */
export async function isList(url: string): Promise<boolean> {
  const transport = createTransport(engineOptionsOf(loadConfig()));
  try {
    const order = { url, agent: CLIENT_NAMES[0], etag: null, signal: AbortSignal.timeout(LOOK_MS) };
    const fetched = await fetchBody(transport, order);
    if (fetched.kind !== "body") return false;
    for (const entry of entriesOf(fetched.text)) if (entry.kind === "config") return true;
    return false;
  } catch (error) {
    if (error instanceof FetchError || error instanceof BodyError) return false;
    throw error;
  }
}
