/** A subscription's entries as a list of servers: duplicates joined, messages apart, and what a new list changes in the former one. */
import { createHash } from "node:crypto";
import type { ProxyConfig } from "../protocols/share-link/proxy-config.ts";
import type { Entry } from "./entry.ts";

/** Entries taken before others may have the thread: some milliseconds of work. */
const SLICE = 100;
/** Below this part of the last count a list has shrunken (open-points 18.7.8). */
const SHRUNKEN = 0.3;
/** Shrunken lists that are refused in a row. */
const REFUSALS = 2;

export interface ListedConfig {
  /** The same for the same config, whatever it is called and wherever it stands. */
  readonly identity: string;
  readonly config: ProxyConfig;
  /** In the order of the list; the first is the one to show. */
  readonly names: readonly string[];
}

export interface ListedServer {
  /** Host as written in the configs, lowercase (open-points 18.2.6). */
  readonly host: string;
  readonly configs: readonly ListedConfig[];
}

export interface ServerList {
  /** In the order in which the list first names them. */
  readonly servers: readonly ListedServer[];
  readonly configCount: number;
  readonly duplicateCount: number;
  /** What the provider says in pseudo entries. */
  readonly messages: readonly string[];
  readonly unsupported: Readonly<Record<string, number>>;
  readonly bad: readonly { readonly at: number; readonly reason: string }[];
}

/** All that decides how a server is reached, and as whom; not what it is called. */
export function identityOfConfig(config: ProxyConfig): string {
  return createHash("sha256").update(JSON.stringify(config)).digest("base64url");
}

/** @param breathe lets others have the thread */
export async function listServers(entries: Iterable<Entry>, breathe: () => Promise<void>): Promise<ServerList> {
  const found = new Map<string, { config: ProxyConfig; names: string[] }>();
  const messages: string[] = [];
  const unsupported = new Map<string, number>();
  const bad: { at: number; reason: string }[] = [];
  let taken = 0;
  let configs = 0;
  for (const entry of entries) {
    if (++taken % SLICE === 0) await breathe();
    if (entry.kind === "info") messages.push(entry.text);
    else if (entry.kind === "unsupported") unsupported.set(entry.what, (unsupported.get(entry.what) ?? 0) + 1);
    else if (entry.kind === "bad") bad.push({ at: entry.at, reason: entry.reason });
    else {
      configs++;
      const { config, name } = entry.read;
      const identity = identityOfConfig(config);
      const known = found.get(identity) ?? { config, names: [] };
      if (name !== null && !known.names.includes(name)) known.names.push(name);
      found.set(identity, known);
    }
  }
  return {
    servers: grouped(found),
    configCount: found.size,
    duplicateCount: configs - found.size,
    messages,
    unsupported: Object.fromEntries(unsupported),
    bad,
  };
}

function grouped(
  found: ReadonlyMap<string, { config: ProxyConfig; names: readonly string[] }>,
): readonly ListedServer[] {
  const servers = new Map<string, ListedConfig[]>();
  for (const [identity, { config, names }] of found) {
    const listed = servers.get(config.host) ?? [];
    listed.push({ identity, config, names: [...names].sort(byNotice) });
    servers.set(config.host, listed);
  }
  return [...servers].map(([host, configs]) => ({ host, configs }));
}

/** Days and traffic that are left change daily; a name without them is the better one. Stable otherwise. */
function byNotice(one: string, other: string): number {
  return Number(NOTICE.test(one)) - Number(NOTICE.test(other));
}

const NOTICE =
  /到期|剩余|流量|套餐|官网|订阅|过期|expire|remaining|traffic|days left|bandwidth|осталось|трафик|подписка|\d\s*(?:GB|MB|TB|ГБ)\b/i;

export interface FormerServer {
  readonly host: string;
  readonly identities: readonly string[];
  /** Paused because the list left it out. */
  readonly isGone: boolean;
}

export interface Difference {
  readonly added: readonly ListedServer[];
  /** Back after they had left. */
  readonly returned: readonly ListedServer[];
  /** With other configs than before. */
  readonly changed: readonly ListedServer[];
  readonly kept: readonly ListedServer[];
  readonly left: readonly FormerServer[];
}

export function difference(former: readonly FormerServer[], servers: readonly ListedServer[]): Difference {
  const before = new Map(former.map((server) => [server.host, server]));
  const now = new Set(servers.map(({ host }) => host));
  const states = servers.map((server) => stateOf(server, before.get(server.host)));
  const of = (state: ReturnType<typeof stateOf>): ListedServer[] =>
    servers.filter((_, index) => states[index] === state);
  return {
    added: of("added"),
    returned: of("returned"),
    changed: of("changed"),
    kept: of("kept"),
    left: former.filter(({ host, isGone }) => !isGone && !now.has(host)),
  };
}

function stateOf({ configs }: ListedServer, former: FormerServer | undefined) {
  if (former === undefined) return "added";
  if (former.isGone) return "returned";
  const before = new Set(former.identities);
  return before.size === configs.length && configs.every(({ identity }) => before.has(identity)) ? "kept" : "changed";
}

/**
 * Whether a list may replace the one before. An empty one after a full one never may; a shrunken one the third time in a row
 * (open-points 18.7.8).
 * @param refusedInARow how often one was refused as shrunken since the last that was taken
 */
export function mayReplace(formerCount: number, count: number, refusedInARow: number): boolean {
  if (count === 0) return formerCount === 0;
  return count >= formerCount * SHRUNKEN || refusedInARow >= REFUSALS;
}
