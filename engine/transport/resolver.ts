/**
 * Resolves names without getaddrinfo: /etc/hosts, then our DNS servers, with a small cache that also shares pending questions,
 * so that thousands of monitors of one host are not thousands of questions. The guard judges the result at every check,
 * and the cache keeps nothing longer than a few seconds, so a name that changes to a private address is refused at its next resolution.
 */
import { randomInt } from "node:crypto";
import { BoundedMap } from "../../model/bounded-map.ts";
import { NetworkFault } from "../net/fault.ts";
import { isLoopbackName } from "../net/literal.ts";
import { ALIAS_LIMIT, followChain } from "../protocols/dns/chain.ts";
import { encodeQuery, type QuestionType } from "../protocols/dns/message.ts";
import { toAsciiName } from "../protocols/dns/name.ts";
import { NameServers } from "./name-servers.ts";
import { SystemNames, searchedNames } from "./system-names.ts";
import type { Address, IpFamily } from "./transport.ts";

/** An answer is kept for its TTL, at most this long, ms. */
const KEPT_MS = 5_000;
/** That a name has no address is kept at most this long, ms: a retry should ask again. */
const NEGATIVE_KEPT_MS = 1_000;
/** Names kept; the oldest goes first. About 300 bytes each. */
const ENTRY_LIMIT = 20_000;
/** Further addresses of a name are ignored. */
const ADDRESS_LIMIT = 32;

/** Never thrown, because it is shared: a name has addresses, or there is a reason why not. */
export interface Answer {
  readonly addresses: readonly Address[];
  /** Null when there are addresses. */
  readonly fault: Error | null;
}

export interface Resolver {
  /** @param name as toAsciiName() gives it; @returns at once what is known, else a promise that never rejects */
  lookup(name: string, isAbsolute: boolean, family: IpFamily): Answer | Promise<Answer>;
}

export interface ResolverOptions {
  /** SONDE_RESOLVERS; empty for the system's. */
  readonly servers: readonly string[];
  readonly system?: SystemNames;
  /** Monotonic ms. */
  readonly now?: () => number;
  /** What each DNS server gets in each round, ms. */
  readonly patienceMs?: readonly number[];
}

interface Kept {
  readonly answer: Answer;
  readonly untilMs: number;
}

/** An answer and how long it may be believed. */
interface Found {
  readonly answer: Answer;
  readonly keptMs: number;
}

const LOOPBACK: Readonly<Record<IpFamily, Answer>> = {
  4: { addresses: [{ ip: "127.0.0.1", family: 4 }], fault: null },
  6: { addresses: [{ ip: "::1", family: 6 }], fault: null },
};

/** @throws ResolverEntryError naming the entry of SONDE_RESOLVERS that cannot be used */
export function createResolver(options: ResolverOptions): Resolver {
  const now = options.now ?? (() => performance.now());
  const system = options.system ?? new SystemNames();
  const randomId = () => randomInt(0x1_0000);
  const servers = new NameServers({ entries: options.servers, system, now, randomId, patienceMs: options.patienceMs });
  const kept = new BoundedMap<string, Kept>(ENTRY_LIMIT);
  const underWay = new Map<string, Promise<Answer>>();

  async function find(name: string, isAbsolute: boolean, family: IpFamily): Promise<Found> {
    const names = servers.isSystem ? searchedNames(name, isAbsolute, system.resolvConf(now())) : [name];
    let last: Found | undefined;
    for (const candidate of names) {
      if (toAsciiName(candidate) === undefined) continue;
      last = await askFor(servers, candidate, family);
      if (last.answer.addresses.length > 0) break;
    }
    return last ?? noAddress(name, family, 0, "is not a name");
  }

  async function start(key: string, name: string, isAbsolute: boolean, family: IpFamily): Promise<Answer> {
    try {
      const { answer, keptMs } = await find(name, isAbsolute, family);
      if (keptMs > 0) kept.set(key, { answer, untilMs: now() + keptMs });
      return answer;
    } catch (error) {
      return { addresses: [], fault: error instanceof Error ? error : new Error(String(error)) };
    } finally {
      underWay.delete(key);
    }
  }

  return {
    lookup(name, isAbsolute, family) {
      const key = `${family}${isAbsolute ? "." : ""}${name}`;
      const known = kept.get(key);
      if (known !== undefined && now() < known.untilMs) return known.answer;
      const local = ofThisMachine(name, family, system, now);
      if (local !== undefined) return local;
      const shared = underWay.get(key);
      if (shared !== undefined) return shared;
      const answer = start(key, name, isAbsolute, family);
      underWay.set(key, answer);
      return answer;
    },
  };
}

/** A name that /etc/hosts has is never asked of a server. */
function ofThisMachine(name: string, family: IpFamily, system: SystemNames, now: () => number): Answer | undefined {
  const inHosts = system.hosts(now()).get(name);
  if (inHosts !== undefined) {
    const addresses = inHosts.filter((address) => address.family === family);
    return addresses.length > 0 ? { addresses, fault: null } : noAddress(name, family, 0, "has").answer;
  }
  return isLoopbackName(name) ? LOOPBACK[family] : undefined;
}

/** One name, with its aliases: those a server does not follow itself are asked for, a bounded number in all. */
async function askFor(servers: NameServers, asked: string, family: IpFamily): Promise<Found> {
  const type: QuestionType = family === 4 ? "A" : "AAAA";
  let name = asked;
  let ttlS = Number.POSITIVE_INFINITY;
  for (let aliases = 0; aliases <= ALIAS_LIMIT; ) {
    const reply = await servers.ask(name, type);
    const chain = followChain(reply, { ...encodeQuery("", type, 0), name });
    if (chain === undefined) break;
    ttlS = Math.min(ttlS, chain.ttlS);
    if (chain.records.length > 0) {
      const addresses = chain.records.slice(0, ADDRESS_LIMIT).map(({ data }): Address => ({ ip: data, family }));
      return { answer: { addresses, fault: null }, keptMs: Math.min(ttlS * 1_000, KEPT_MS) };
    }
    const isDangling = chain.aliases > 0 && reply.rcode === "NOERROR";
    if (!isDangling || toAsciiName(chain.name) === undefined) {
      const keptMs = Math.min((reply.negativeTtlS ?? 0) * 1_000, NEGATIVE_KEPT_MS);
      return noAddress(asked, family, keptMs, reply.rcode === "NXDOMAIN" ? "does not exist" : "has");
    }
    aliases += chain.aliases;
    name = chain.name;
  }
  return noAddress(asked, family, NEGATIVE_KEPT_MS, "is an alias without end");
}

function noAddress(name: string, family: IpFamily, keptMs: number, what: string): Found {
  const words = what === "has" ? `has no IPv${family} address` : what;
  return { answer: { addresses: [], fault: new NetworkFault("unresolved", `The name ${name} ${words}`) }, keptMs };
}
