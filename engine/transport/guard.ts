/**
 * The address guard (design, section 8): whether an address may be dialled. It judges resolved addresses, right before the dial,
 * never the text a user wrote. Free of dependencies, because the API refuses literals with it (through engine/registry.ts).
 *
 * Not knowable here: a NAT64 prefix of the operator's own (RFC 6052 section 2.2) and addresses that a router outside translates.
 */
import { type AllowNet, allowsIpv4, allowsIpv6, parseAllowNet } from "./allow-nets.ts";
import { formatIpv4, type Ipv6Words, mappedIpv4, parseIpv4, parseIpv6 } from "./ip.ts";
import { isLoopbackName, literalOf } from "./literal.ts";
import { localAddresses } from "./local-addresses.ts";
import { embeddedIpv4, KIND_WORDS, type SpecialKind, specialIpv4, specialIpv6 } from "./special-addresses.ts";

export { AllowNetError } from "./allow-nets.ts";
export { isDocumentationName } from "./literal.ts";

/** `own`: one of our own listeners or stores. `scoped`: names an interface of this machine. `malformed`: not an address. */
export type RefusalKind = SpecialKind | "own" | "scoped" | "malformed";

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
  /** Addresses of this machine; by default asked of the system. */
  readonly localAddresses?: () => readonly string[];
}

/** Never opened by SONDE_ALLOW_NETS: documentation by contract (open-points 18.1.13); unspecified, because the kernel takes it for this machine. */
const NEVER: ReadonlySet<SpecialKind> = new Set<SpecialKind>(["documentation", "unspecified"]);
const ALLOWED: Judgement = { allowed: true };

/** @throws AllowNetError naming the entry that cannot be used */
export function createGuard(options: GuardOptions): Guard {
  const nets: readonly AllowNet[] = options.allowNets.map(parseAllowNet);
  const isOwn = ownEndpoints(options.ownEndpoints, options.localAddresses ?? (() => localAddresses().all));
  const edges = portEdges(nets, options.ownEndpoints);

  function judgeIpv4(address: number, ip: string, port: number): Judgement {
    if (isOwn(ip, port)) return ownRefusal(ip, port);
    return verdictOn(specialIpv4(address), ip, () => allowsIpv4(nets, address, port));
  }

  function judgeIpv6(words: Ipv6Words, ip: string, port: number): Judgement {
    const inner = embeddedIpv4(words);
    if (isOwn(ip, port) || (inner >= 0 && isOwn(formatIpv4(inner), port))) return ownRefusal(ip, port);
    // A translator's 10.0.0.1 is not ours: allowing 10.0.0.0/8 does not open 64:ff9b::10.0.0.1.
    return verdictOn(specialIpv6(words), ip, () => allowsIpv6(nets, words, port));
  }

  function judge(ip: string, port: number): Judgement {
    const ipv4 = parseIpv4(ip);
    if (ipv4 >= 0) return judgeIpv4(ipv4, ip, port);
    if (ip.includes("%")) return refusal("scoped", `${ip} names an interface of this machine`);
    const words = parseIpv6(ip);
    if (words === undefined) return refusal("malformed", `${ip.slice(0, 64)} is not an IP address`);
    const mapped = mappedIpv4(words);
    return mapped >= 0 ? judgeIpv4(mapped, ip, port) : judgeIpv6(words, ip, port);
  }

  return {
    judge,
    judgePorts(ip, from, to) {
      let found = judge(ip, from);
      for (const port of edges) if (found.allowed && port > from && port <= to) found = judge(ip, port);
      return found;
    },
    judgeLiteral(host, port) {
      if (isLoopbackName(host)) return judge("127.0.0.1", port);
      const literal = literalOf(host);
      if (literal === undefined) return undefined;
      if (literal.hasZone) return refusal("scoped", `${literal.ip} with a zone names an interface of this machine`);
      return judge(literal.ip, port);
    },
  };
}

function verdictOn(kind: SpecialKind | undefined, ip: string, isOpened: () => boolean): Judgement {
  if (kind === undefined || (!NEVER.has(kind) && isOpened())) return ALLOWED;
  return refusal(kind, `${ip} is ${KIND_WORDS[kind]}`);
}

function refusal(kind: RefusalKind, reason: string): Judgement {
  return { allowed: false, kind, reason };
}

function ownRefusal(ip: string, port: number): Judgement {
  return refusal("own", `${ip} port ${port} is Sonde's own`);
}

/** Ports at which the answer for one address can differ from that of the port before: between two of them it is the same. */
function portEdges(nets: readonly AllowNet[], ownEndpoints: readonly string[]): readonly number[] {
  const own = ownEndpoints.map((entry) => Number(entry.trim().slice(entry.trim().lastIndexOf(":") + 1)));
  const starts = [...nets.map(({ firstPort }) => firstPort), ...own];
  const ends = [...nets.map(({ lastPort }) => lastPort), ...own];
  return [...new Set([...starts, ...ends.map((port) => port + 1)])];
}

/** Compares by canonical text. A listener on every address is found by the machine's addresses and all of loopback. */
function ownEndpoints(entries: readonly string[], machineAddresses: () => readonly string[]) {
  const exact = new Set<string>();
  const everywhere = new Set<number>();
  const ports = new Set<number>();
  for (const entry of entries) {
    const [, host = "", port = ""] = /^(.*):(\d{1,5})$/.exec(entry.trim()) ?? [];
    const ip = isLoopbackName(host) ? "127.0.0.1" : literalOf(host)?.ip;
    if (ip === undefined) throw new OwnEndpointError(entry);
    ports.add(Number(port));
    if (ip === "0.0.0.0" || ip === "::") everywhere.add(Number(port));
    else exact.add(`${ip} ${port}`);
    if (isLoopbackName(host)) exact.add(`::1 ${port}`);
  }

  return (ip: string, port: number): boolean => {
    if (!ports.has(port)) return false;
    const canonical = literalOf(ip)?.ip ?? ip;
    if (exact.has(`${canonical} ${port}`)) return true;
    // Dialling 0.0.0.0 or :: reaches this machine, but those are refused anyway.
    return (
      everywhere.has(port) &&
      (canonical.startsWith("127.") || canonical === "::1" || machineAddresses().includes(canonical))
    );
  };
}

/** An own endpoint that is not `ip:port`: a mistake in our wiring. */
class OwnEndpointError extends Error {
  override readonly name = "OwnEndpointError";

  constructor(entry: string) {
    super(`own endpoint "${entry}" is not ip:port`);
  }
}
