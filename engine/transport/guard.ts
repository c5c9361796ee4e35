/**
 * The address guard (docs/decisions/0004-address-guard.md): whether an address may be dialled. It judges resolved addresses, right before the dial,
 * never the text a user wrote. It has no dependencies, because the API uses it too, to refuse literals (through engine/contract/registry.ts).
 *
 * It cannot know an operator's NAT64 prefix (RFC 6052 section 2.2), or addresses that a router outside translates.
 */

import { type Ipv6Words, mappedIpv4, parseIpv4, parseIpv6 } from "../net/ip.ts";
import { isLoopbackName, literalOf } from "../net/literal.ts";
import { embeddedIpv4s, KIND_WORDS, type SpecialKind, specialIpv4, specialIpv6 } from "../net/special-addresses.ts";
import type { AddressSet } from "./address-set.ts";
import { type AllowNet, allowsIpv4, allowsIpv6, parseAllowNet } from "./allow-nets.ts";
import { localAddresses } from "./local-addresses.ts";
import { OwnBoard } from "./own-board.ts";
import { type JudgedAddress, type OwnEndpoints, readOwnEndpoints } from "./own-endpoints.ts";

export { isDocumentationName } from "../net/literal.ts";
export { AllowNetError } from "./allow-nets.ts";

/**
 * `own`: one of our own listeners or stores. `this-machine`: an address of this machine that no entry names. `scoped`: names an interface of
 * this machine. `malformed`: not an address.
 */
export type RefusalKind = SpecialKind | "own" | "this-machine" | "scoped" | "malformed";

export type Judgement =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      readonly kind: RefusalKind;
      /** For people, a whole clause: `127.0.0.1 is a loopback address`. */
      readonly reason: string;
    };

export interface Guard {
  /** @param port the port that will be dialled; 0 for what has none (ping) */
  judge(ip: string, port: number): Judgement;
  /** The first refusal among all ports from one to another, both included. */
  judgePorts(ip: string, from: number, to: number): Judgement;
  /** Judges a host that is an address in any disguise, or localhost; undefined when it is a name, which only its addresses can judge. */
  judgeLiteral(host: string, port: number): Judgement | undefined;
}

export interface GuardOptions {
  /** SONDE_ALLOW_NETS entries. */
  readonly allowNets: readonly string[];
  /** Our own listeners and stores, `ip:port`, `[ip]:port` or `localhost:port`; 0.0.0.0 and :: are every address of this machine. */
  readonly ownEndpoints: readonly string[];
  /** An OwnBoard's memory: what listens on our behalf now, instead of and besides ownEndpoints. */
  readonly ownBoard?: SharedArrayBuffer | undefined;
  /** Addresses of this machine, loopback or not; by default asked of the system. */
  readonly localAddresses?: () => AddressSet;
}

/** Never opened by SONDE_ALLOW_NETS: documentation by contract; unspecified, because the kernel takes it for this machine. */
const NEVER: ReadonlySet<SpecialKind> = new Set<SpecialKind>(["documentation", "unspecified"]);
const ALLOWED: Judgement = { allowed: true };

/** @throws AllowNetError naming the entry that cannot be used */
export function createGuard(options: GuardOptions): Guard {
  return new AddressGuard(options);
}

/** Whether entries open the address that is judged. */
type IsOpen = (among: readonly AllowNet[]) => boolean;

class AddressGuard implements Guard {
  readonly #nets: readonly AllowNet[];
  readonly #here: () => AddressSet;
  readonly #own: WatchedOwn;

  constructor(options: GuardOptions) {
    this.#nets = options.allowNets.map(parseAllowNet);
    this.#here = options.localAddresses ?? (() => localAddresses().set);
    this.#own = watchedOwn(options);
  }

  judge(ip: string, port: number): Judgement {
    const ipv4 = parseIpv4(ip);
    if (ipv4 >= 0) return this.#judgeIpv4(ipv4, ip, port);
    if (ip.includes("%")) return refusal("scoped", `${ip} names an interface of this machine`);
    const words = parseIpv6(ip);
    if (words === undefined) return refusal("malformed", `${ip.slice(0, 64)} is not an IP address`);
    const mapped = mappedIpv4(words);
    return mapped >= 0 ? this.#judgeIpv4(mapped, ip, port) : this.#judgeIpv6(words, ip, port);
  }

  judgePorts(ip: string, from: number, to: number): Judgement {
    let found = this.judge(ip, from);
    for (const port of edges(this.#nets, this.#own, from, to)) if (found.allowed) found = this.judge(ip, port);
    return found;
  }

  judgeLiteral(host: string, port: number): Judgement | undefined {
    if (isLoopbackName(host)) return this.judge("127.0.0.1", port);
    const literal = literalOf(host);
    if (literal === undefined) return undefined;
    if (literal.hasZone) return refusal("scoped", `${literal.ip} with a zone names an interface of this machine`);
    return this.judge(literal.ip, port);
  }

  #judgeIpv4(address: number, ip: string, port: number): Judgement {
    const machine = this.#here();
    const kind = specialIpv4(address);
    const isHere = kind === "loopback" || machine.has4(address);
    if (this.#isOwn(address, isHere, port, machine)) return ownRefusal(ip, port);
    const isOpen: IsOpen = (among) => allowsIpv4(among, address, port);
    return isHere ? this.#verdictHere(kind, ip, machine, isOpen) : this.#verdictOn(kind, ip, isOpen);
  }

  #judgeIpv6(words: Ipv6Words, ip: string, port: number): Judgement {
    const machine = this.#here();
    const kind = specialIpv6(words);
    const isHere = kind === "loopback" || machine.has6(words);
    if (this.#isOwn(words, isHere, port, machine)) return ownRefusal(ip, port);
    const isOpen: IsOpen = (among) => allowsIpv6(among, words, port);
    // What a translator or a tunnel on the way would bring back to us.
    let isBack = false;
    for (const inner of embeddedIpv4s(words)) {
      const comesBack = specialIpv4(inner) === "loopback" || machine.has4(inner);
      if (this.#isOwn(inner, comesBack, port, machine)) return ownRefusal(ip, port);
      isBack ||= comesBack;
    }
    // A translator's 10.0.0.1 is not ours: allowing 10.0.0.0/8 does not open 64:ff9b::10.0.0.1.
    return isHere || isBack ? this.#verdictHere(kind, ip, machine, isOpen) : this.#verdictOn(kind, ip, isOpen);
  }

  #isOwn(address: JudgedAddress, isHere: boolean, port: number, machine: AddressSet): boolean {
    return (isHere && this.#own.hasPort(port)) || this.#own.endpoints().has(address, isHere, port, machine);
  }

  #verdictOn(kind: SpecialKind | undefined, ip: string, isOpen: IsOpen): Judgement {
    if (kind === undefined || (!NEVER.has(kind) && isOpen(this.#nets))) return ALLOWED;
    return ofKind(kind, ip);
  }

  /** An entry opens an address of this machine only when it can mean nothing but this machine: a wide one was written for others. */
  #verdictHere(kind: SpecialKind | undefined, ip: string, machine: AddressSet, isOpen: IsOpen): Judgement {
    const isNamed = isOpen(this.#nets.filter((net) => net.isNamed || machine.covers(net.range)));
    if (isNamed && (kind === undefined || !NEVER.has(kind))) return ALLOWED;
    const isOtherwiseRefused = kind !== undefined && (kind === "loopback" || NEVER.has(kind) || !isOpen(this.#nets));
    return isOtherwiseRefused ? ofKind(kind, ip) : refusal("this-machine", `${ip} is an address of this machine`);
  }
}

function ofKind(kind: SpecialKind, ip: string): Judgement {
  return refusal(kind, `${ip} is ${KIND_WORDS[kind]}`);
}

function refusal(kind: RefusalKind, reason: string): Judgement {
  return { allowed: false, kind, reason };
}

function ownRefusal(ip: string, port: number): Judgement {
  return refusal("own", `${ip} port ${port} is Sonde's own`);
}

/** What listens on our behalf at this moment. */
interface WatchedOwn {
  endpoints(): OwnEndpoints;
  /** A port of this machine that was opened on the board. */
  hasPort(port: number): boolean;
  firstPort(from: number, to: number): number;
}

function watchedOwn({ ownEndpoints, ownBoard }: GuardOptions): WatchedOwn {
  let endpoints = readOwnEndpoints(ownEndpoints);
  if (ownBoard === undefined) return { endpoints: () => endpoints, hasPort: () => false, firstPort: () => -1 };
  const board = new OwnBoard(ownBoard);
  let version = 0;
  return {
    endpoints() {
      const read = board.version === version ? undefined : board.read();
      if (read !== undefined) {
        version = read.version;
        endpoints = readOwnEndpoints([...ownEndpoints, ...read.entries]);
      }
      return endpoints;
    },
    hasPort: (port) => board.hasPort(port),
    firstPort: (from, to) => board.firstPort(from, to),
  };
}

/** Ports after the first at which the answer for one address can differ from that of the port before: between two of them it is the same. */
function edges(nets: readonly AllowNet[], listeners: WatchedOwn, from: number, to: number): readonly number[] {
  const ports = [
    ...listeners.endpoints().ports,
    ...nets.flatMap(({ firstPort, lastPort }) => [firstPort, lastPort + 1]),
    // One is enough: where the board's ports hold, the first of them is refused, and elsewhere none is.
    listeners.firstPort(from, to),
  ];
  // After an own port another begins; but a refusal has been found by then.
  return ports.filter((port) => port > from && port <= to);
}
