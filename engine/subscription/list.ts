/** A subscription's entries as a list of servers: duplicates joined, messages and what cannot be tested apart. */
import { hash } from "node:crypto";
import type { NamedConfig, ProxyConfig } from "../protocols/share-link/proxy-config.ts";
import type { Entry } from "./entry.ts";

/** Entries taken before others may have the thread: some milliseconds of work. */
const SLICE = 100;
/** How many messages of a provider, and kinds of entries without a core, are kept: a list is untrusted. */
const MAX_MESSAGES = 50;
/** Reasons that are kept. */
const MAX_REASONS = 20_000;
export interface ListedConfig {
  /** The same for the same config, whatever it is called and wherever it stands. */
  readonly identity: string;
  readonly config: ProxyConfig;
  /** In the order of the list; the first is the one to show. */
  readonly names: readonly string[];
}

export interface ListedServer {
  /** Host as written in the configs, lowercase (docs/api-contract.md#subscriptions). */
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
  /** Entries that cannot be read, all of them counted. */
  readonly badCount: number;
  /** Of those the first ones. */
  readonly bad: readonly { readonly at: number; readonly reason: string }[];
}

/** All that decides how a server is reached, and as whom; not what it is called. */
export function identityOfConfig(config: ProxyConfig): string {
  return hash("sha256", JSON.stringify(config), "base64url");
}

/** @param breathe lets others have the thread */
export async function listServers(entries: Iterable<Entry>, breathe: () => Promise<void>): Promise<ServerList> {
  const found = new FoundConfigs();
  const messages: string[] = [];
  const unsupported = new Map<string, number>();
  const bad: { at: number; reason: string }[] = [];
  let taken = 0;
  let configs = 0;
  let badCount = 0;
  for (const entry of entries) {
    if (++taken % SLICE === 0) await breathe();
    if (entry.kind === "info") {
      if (messages.length < MAX_MESSAGES) messages.push(entry.text);
    } else if (entry.kind === "unsupported") {
      const what = unsupported.has(entry.what) || unsupported.size < MAX_MESSAGES ? entry.what : "others";
      unsupported.set(what, (unsupported.get(what) ?? 0) + 1);
    } else if (entry.kind === "bad") {
      if (++badCount <= MAX_REASONS) bad.push({ at: entry.at, reason: entry.reason });
    } else {
      configs++;
      found.add(entry.read);
    }
  }
  return {
    servers: found.servers(),
    configCount: found.count,
    duplicateCount: configs - found.count,
    messages,
    unsupported: Object.fromEntries(unsupported),
    badCount,
    bad,
  };
}

/** Grouped as they come, so that little is left to do in one go at the end. */
class FoundConfigs {
  readonly #byIdentity = new Map<string, { readonly names: string[] }>();
  readonly #byHost = new Map<string, { readonly host: string; readonly configs: ListedConfig[] }>();
  /** Of configs that are called more than one thing. */
  readonly #severalNames = new Set<string[]>();

  get count(): number {
    return this.#byIdentity.size;
  }

  add({ config, name }: NamedConfig): void {
    const identity = identityOfConfig(config);
    const known = this.#byIdentity.get(identity);
    if (known !== undefined) {
      if (name === null || known.names.includes(name)) return;
      if (known.names.push(name) > 1) this.#severalNames.add(known.names);
      return;
    }
    const listed = { identity, config, names: name === null ? [] : [name] };
    this.#byIdentity.set(identity, listed);
    const server = this.#byHost.get(config.host);
    if (server === undefined) this.#byHost.set(config.host, { host: config.host, configs: [listed] });
    else server.configs.push(listed);
  }

  servers(): readonly ListedServer[] {
    for (const names of this.#severalNames) names.sort(byNotice);
    return [...this.#byHost.values()];
  }
}

/** Days and traffic that are left change daily; a name without them is the better one. Stable otherwise. */
function byNotice(one: string, other: string): number {
  return Number(NOTICE.test(one)) - Number(NOTICE.test(other));
}

const NOTICE =
  /到期|剩余|流量|套餐|官网|订阅|过期|expire|remaining|traffic|days left|bandwidth|осталось|трафик|подписка|\d\s*(?:GB|MB|TB|ГБ)\b/i;
