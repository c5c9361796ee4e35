/**
 * Our own DNS servers, which resolve targets' names: SONDE_RESOLVERS or resolv.conf's. Exempt from the guard (docs/decisions/0004-address-guard.md).
 *
 * Silence of a server has two possible causes: the name (a forwarder whose upstream never answers), or our own network. So a silent server
 * is also asked for the root, which every resolver knows. If any server answered anything, the name is at fault (`unresolved`);
 * if none did, our network is (`unfit`), and no healthy target goes down because of our resolver.
 */
import { connect } from "node:net";
import { isLocalRefusal } from "../net/classify.ts";
import { DeadlinePassed, NetworkFault } from "../net/fault.ts";
import { parseIpv4 } from "../net/ip.ts";
import { literalOf } from "../net/literal.ts";
import {
  DnsFormatError,
  decodeReply,
  encodeQuery,
  type Query,
  type QuestionType,
  type Reply,
} from "../protocols/dns/message.ts";
import { exchangeDatagram } from "./datagram.ts";
import { askOverStream } from "./dns-stream.ts";
import type { SystemNames } from "./system-names.ts";
import type { Address } from "./transport.ts";

/** What each server gets in the first, second, third round, ms; like glibc and c-ares the later rounds wait longer. */
const PATIENCE_MS = [1_000, 1_500, 2_500] as const;
/** One question ends by then: below the shortest timeout of a monitor (10 s), so that a check can report why. */
const BUDGET_MS = 6_000;
const WITNESS_PATIENCE_MS = 2_500;
/** A server that was silent is asked after the others for this long, ms. */
const DEMOTED_MS = 30_000;

/** Questions on their way at once; dnsmasq refuses the 151st by default, and a burst of thousands drowns any resolver. */
const PLACES = 128;
/** A question without an answer for this long, ms, gives up its place and goes on waiting, so that dead names do not delay others. */
const PLACE_HELD_MS = 250;
/** A longer wait for a place, ms, or a longer queue is a fault of this checker, not of the name. */
const QUEUE_MS = 2_000;
const MAX_QUEUED = 16_384;

export interface NameServer {
  readonly address: Address;
  readonly port: number;
  /** As people write it. */
  readonly shown: string;
}

interface Standing {
  answeredAtMs: number;
  silentAtMs: number;
  isWitnessed: boolean;
}

/** An entry of SONDE_RESOLVERS that cannot be used; the message names it. */
export class ResolverEntryError extends Error {
  override readonly name = "ResolverEntryError";
}

/** `ip`, `ip:port`, `[ip]:port`; IPv6 may carry a zone. */
export function parseNameServer(entry: string): NameServer {
  const text = entry.trim();
  const [, bracketed, afterBracket] = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text) ?? [];
  const [, plain, afterColon] = /^([^:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? text;
  const port = Number(afterBracket ?? afterColon ?? 53);
  const literal = parseIpv4(host) >= 0 || host.includes(":") ? literalOf(host) : undefined;
  if (literal === undefined || port < 1 || port > 65_535) {
    throw new ResolverEntryError(
      `"${entry}" is not a DNS server such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:53`,
    );
  }
  return { address: { ip: literal.hasZone ? host : literal.ip, family: literal.family }, port, shown: text };
}

export interface NameServersOptions {
  /** SONDE_RESOLVERS; empty for the system's. */
  readonly entries: readonly string[];
  readonly system: SystemNames;
  /** Monotonic ms. */
  readonly now: () => number;
  /** 0 to 65535, unpredictable. */
  readonly randomId: () => number;
  /** What each server gets in each round, ms. */
  readonly patienceMs?: readonly number[] | undefined;
}

export class NameServers {
  readonly #configured: readonly NameServer[];
  readonly #system: SystemNames;
  readonly #now: () => number;
  readonly #randomId: () => number;
  readonly #patienceMs: readonly number[];
  readonly #standings = new Map<string, Standing>();
  readonly #queue = new Set<() => void>();
  #places = PLACES;

  constructor(options: NameServersOptions) {
    this.#configured = options.entries.map(parseNameServer);
    this.#system = options.system;
    this.#now = options.now;
    this.#randomId = options.randomId;
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS;
  }

  /** Whether resolv.conf's search list applies: it belongs to resolv.conf's servers. */
  get isSystem(): boolean {
    return this.#configured.length === 0;
  }

  /**
   * @returns a reply that is NOERROR or NXDOMAIN
   * @throws NetworkFault `unresolved` or `unfit`
   */
  async ask(name: string, type: QuestionType): Promise<Reply> {
    if (this.#places > 0) this.#places--;
    else await this.#queued();
    let isHeld = true;
    const givePlace = () => {
      if (isHeld) this.#freePlace();
      isHeld = false;
    };
    const timer = setTimeout(givePlace, PLACE_HELD_MS);
    try {
      return await this.#askAll(name, type);
    } finally {
      clearTimeout(timer);
      givePlace();
    }
  }

  async #askAll(name: string, type: QuestionType): Promise<Reply> {
    const startedAtMs = this.#now();
    const servers = this.#inOrder();
    let refusal: string | undefined;
    for (const patienceMs of this.#patienceMs) {
      for (const server of servers) {
        const leftMs = startedAtMs + BUDGET_MS - this.#now();
        if (leftMs <= 0) break;
        const reply = await this.#askOne(server, name, type, Math.min(patienceMs, leftMs));
        if (reply?.rcode === "NOERROR" || reply?.rcode === "NXDOMAIN") return reply;
        if (reply === undefined) this.#witness(server);
        else refusal = reply.rcode;
      }
      if (refusal !== undefined) break;
    }
    const shown = servers.map((server) => server.shown).join(", ");
    if (refusal !== undefined) {
      throw new NetworkFault(
        "unresolved",
        `The name ${name} could not be resolved: the DNS server answered ${refusal}`,
      );
    }
    if (servers.some((server) => this.#standing(server).answeredAtMs >= startedAtMs)) {
      throw new NetworkFault(
        "unresolved",
        `The name ${name} could not be resolved: the DNS servers (${shown}) gave no answer`,
      );
    }
    throw new NetworkFault("unfit", `This checker's DNS servers (${shown}) do not answer`, {
      hint: "Check SONDE_RESOLVERS or resolv.conf",
    });
  }

  /** Undefined when nothing usable came. */
  async #askOne(server: NameServer, name: string, type: QuestionType, patienceMs: number): Promise<Reply | undefined> {
    const standing = this.#standing(server);
    try {
      const reply = await exchange(server, encodeQuery(name, type, this.#randomId()), patienceMs);
      standing.answeredAtMs = this.#now();
      return reply;
    } catch (error) {
      if (isLocalRefusal(error)) throw error;
      standing.silentAtMs = this.#now();
      return undefined;
    }
  }

  /** Asks aside for the root's servers: proof that this server is there. */
  #witness(server: NameServer): void {
    const standing = this.#standing(server);
    if (standing.isWitnessed) return;
    standing.isWitnessed = true;
    exchange(server, encodeQuery("", "NS", this.#randomId()), WITNESS_PATIENCE_MS)
      .then(() => {
        standing.answeredAtMs = this.#now();
      })
      .catch(() => {})
      .finally(() => {
        standing.isWitnessed = false;
      });
  }

  #inOrder(): readonly NameServer[] {
    const nowMs = this.#now();
    const servers = this.isSystem ? this.#ofSystem(nowMs) : this.#configured;
    const isDemoted = (server: NameServer) => {
      const { silentAtMs, answeredAtMs } = this.#standing(server);
      return silentAtMs > answeredAtMs && nowMs - silentAtMs < DEMOTED_MS;
    };
    return [...servers.filter((server) => !isDemoted(server)), ...servers.filter(isDemoted)];
  }

  /** Without a nameserver line the local machine is asked (resolv.conf(5)). */
  #ofSystem(nowMs: number): readonly NameServer[] {
    const { nameservers } = this.#system.resolvConf(nowMs);
    return (nameservers.length > 0 ? nameservers : ["127.0.0.1"]).map(parseNameServer);
  }

  #standing(server: NameServer): Standing {
    const known = this.#standings.get(server.shown);
    if (known !== undefined) return known;
    const fresh = { answeredAtMs: Number.NEGATIVE_INFINITY, silentAtMs: Number.NEGATIVE_INFINITY, isWitnessed: false };
    this.#standings.set(server.shown, fresh);
    return fresh;
  }

  #queued(): Promise<void> {
    if (this.#queue.size >= MAX_QUEUED) return Promise.reject(tooMany());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#queue.delete(called);
        reject(tooMany());
      }, QUEUE_MS);
      const called = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#queue.add(called);
    });
  }

  /** The next in line takes it, or it is free. */
  #freePlace(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#places++;
      return;
    }
    this.#queue.delete(next);
    next();
  }
}

function tooMany(): NetworkFault {
  return new NetworkFault("unfit", "This checker has too many DNS questions waiting");
}

/** UDP, then TCP when the answer does not fit; a reply that cannot be parsed is dropped, because it may be forged. */
async function exchange(server: NameServer, query: Query, patienceMs: number): Promise<Reply> {
  const accept = (datagram: Uint8Array) => {
    try {
      return decodeReply(datagram, query);
    } catch (error) {
      if (error instanceof DnsFormatError) return undefined;
      throw error;
    }
  };
  const reply = await exchangeDatagram(server.address, server.port, query.bytes, accept, { giveUpAfterMs: patienceMs });
  return reply.truncated ? exchangeOverStream(server, query, patienceMs) : reply;
}

async function exchangeOverStream(server: NameServer, query: Query, patienceMs: number): Promise<Reply> {
  const socket = connect({ host: server.address.ip, port: server.port });
  const timer = setTimeout(() => socket.destroy(new DeadlinePassed()), patienceMs);
  try {
    return await askOverStream(socket, query);
  } finally {
    clearTimeout(timer);
  }
}
