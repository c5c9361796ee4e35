/** Assembles the transport that probes use: it resolves names, the guard judges every address, and the judged address is dialled. */
import { BoundedMap } from "../../model/bounded-map.ts";
import type { EngineOptions } from "../contract/options.ts";
import { parseTunnelTarget, STANDARD_TUNNEL_TARGETS } from "../contract/tunnel-targets.ts";
import { NetworkFault, whenAborted } from "../net/fault.ts";
import { isLoopbackName, literalOf } from "../net/literal.ts";
import { toAsciiName } from "../protocols/dns/name.ts";
import { after } from "./after.ts";
import { endpointOf, ourOwnWay } from "./connect-race.ts";
import { createTlsConnector } from "./connect-tls.ts";
import { exchangeDatagram } from "./datagram.ts";
import { openDatagrams } from "./datagram-link.ts";
import { exchangeTcp } from "./exchange.ts";
import { createGuard, type Guard, isDocumentationName, type Judgement, type RefusalKind } from "./guard.ts";
import { localAddresses } from "./local-addresses.ts";
import { type Answer, createResolver, type Resolver } from "./resolver.ts";
import { connectTcp, connectTime } from "./stream.ts";
import type { Address, DialContext, IpFamily, IpPreference, Transport } from "./transport.ts";

/** RFC 8305 section 3: how long IPv6's answer is waited for once IPv4 has addresses, ms. */
const RESOLUTION_DELAY_MS = 50;
/**
 * How long IPv4's answer is waited for once IPv6 has addresses, ms: longer than until a lost question is sent again (name-servers.ts), because a check
 * with addresses of IPv6 alone would fail where this machine's IPv6 is broken or not there.
 */
const IPV4_DELAY_MS = 2_000;
/** Hosts whose reading is remembered. */
const HOST_LIMIT = 20_000;

export interface TransportDeps {
  readonly ping?: Transport["ping"];
  /** Faster ways than Node's own sockets, where there are any. */
  readonly connectTime?: Transport["connectTime"];
  readonly exchangeTcp?: Transport["exchangeTcp"];
  readonly openDatagrams?: Transport["openDatagrams"];
  readonly resolver?: Resolver;
  readonly guard?: Guard;
  readonly isAnonymous?: boolean;
}

type Refusal = Pick<Extract<Judgement, { readonly allowed: false }>, "kind" | "reason">;

/** A host as it was written, read once. */
type Host =
  | { readonly kind: "literal"; readonly address: Address }
  | { readonly kind: "name"; readonly name: string; readonly isAbsolute: boolean }
  | { readonly kind: "refused"; readonly reason: string };

/** @throws AllowNetError, ResolverEntryError, TunnelTargetError naming the entry of the settings that cannot be used */
export function createTransport(options: EngineOptions, deps: TransportDeps = {}): Transport {
  const guard = deps.guard ?? createGuard(options);
  const resolver = deps.resolver ?? createResolver({ servers: options.resolvers });
  const hosts = new BoundedMap<string, Host>(HOST_LIMIT);

  function hostOf(text: string): Host {
    const known = hosts.get(text);
    if (known !== undefined) return known;
    const host = readHost(text);
    hosts.set(text, host);
    return host;
  }

  async function resolve(
    text: string,
    port: number,
    preference: IpPreference,
    context: DialContext,
  ): Promise<readonly Address[]> {
    const host = hostOf(text);
    if (host.kind === "refused") throw new NetworkFault("misconfigured", host.reason);
    if (host.kind === "literal") return judged(guard, text, fitting(host.address, preference), port);
    const answer = await lookup(resolver, host, preference, context);
    if (answer.fault !== null) throw answer.fault;
    return judged(guard, text, answer.addresses, port);
  }

  return {
    resolve,
    judgePorts(ip, from, to) {
      const judgement = guard.judgePorts(ip, from, to);
      if (!judgement.allowed) throw refused(ip, judgement);
    },
    connectTcp,
    ...createTlsConnector(options.extraCaPem),
    connectTime: deps.connectTime ?? connectTime,
    exchangeTcp: deps.exchangeTcp ?? exchangeTcp,
    exchangeUdp(address, port, datagram, accept, context, exchange = {}) {
      context.tried(endpointOf(address, port));
      return exchangeDatagram(address, port, datagram, accept, { ...exchange, context }).catch((error: unknown) => {
        throw error instanceof Error ? ourOwnWay(error, address) : error;
      });
    },
    openDatagrams: deps.openDatagrams ?? openDatagrams,
    after,
    ping: deps.ping ?? pingless,
    extraCaPem: options.extraCaPem,
    tunnelTargets: (options.tunnelTargets ?? STANDARD_TUNNEL_TARGETS).map(parseTunnelTarget),
    isAnonymous: deps.isAnonymous ?? false,
  };
}

function pingless(): Promise<never> {
  return Promise.reject(new NetworkFault("unsupported", "This checker cannot ping"));
}

function readHost(text: string): Host {
  const literal = literalOf(text);
  if (literal?.hasZone === true) return { kind: "refused", reason: `${text} names an interface of this machine` };
  if (literal !== undefined) return { kind: "literal", address: { ip: literal.ip, family: literal.family } };
  if (isDocumentationName(text)) return { kind: "refused", reason: `${text} is reserved for documentation` };
  const name = toAsciiName(text.trim());
  if (name === undefined) return { kind: "refused", reason: `${text} is neither a name nor an address` };
  // `localhost` never goes through a search list.
  return { kind: "name", name, isAbsolute: text.endsWith(".") || isLoopbackName(name) };
}

function fitting(address: Address, preference: IpPreference): readonly Address[] {
  if (preference !== "both" && address.family !== familyOf(preference)) {
    throw new NetworkFault(
      "misconfigured",
      `${address.ip} is not an ${preference === "ipv4" ? "IPv4" : "IPv6"} address`,
    );
  }
  return [address];
}

function familyOf(preference: "ipv4" | "ipv6"): IpFamily {
  return preference === "ipv4" ? 4 : 6;
}

/** Those that may be dialled; when there is none, the first refusal with its address and reason. */
function judged(guard: Guard, host: string, addresses: readonly Address[], port: number): readonly Address[] {
  let refusal: (Refusal & { readonly openedBy?: string }) | undefined;
  const allowed = addresses.filter(({ ip, family }) => {
    const judgement = guard.judge(ip, port);
    if (!judgement.allowed) refusal ??= { ...judgement, openedBy: family === 6 ? `[${ip}]:${port}` : `${ip}:${port}` };
    return judgement.allowed;
  });
  if (allowed.length > 0) return allowed;
  throw refused(host, refusal ?? { kind: "malformed", reason: "it has no address" });
}

/** Never opened, whatever SONDE_ALLOW_NETS says (guard.ts). */
const NOT_OPENED: ReadonlySet<RefusalKind> = new Set(["documentation", "unspecified", "own", "scoped", "malformed"]);

function refused(
  host: string,
  { kind, reason: words, openedBy }: Refusal & { readonly openedBy?: string },
): NetworkFault {
  const isHere = kind === "this-machine";
  return new NetworkFault(
    "misconfigured",
    words.startsWith(host) ? `Refused: ${words}` : `${host} is refused: ${words}`,
    {
      hint: isHere ? "SONDE_ALLOW_NETS opens an address of this machine by itself" : "SONDE_ALLOW_NETS opens networks",
      ...(openedBy !== undefined && !NOT_OPENED.has(kind) && { openedBy }),
    },
  );
}

function lookup(
  resolver: Resolver,
  { name, isAbsolute }: { readonly name: string; readonly isAbsolute: boolean },
  preference: IpPreference,
  context: DialContext,
): Answer | Promise<Answer> {
  if (preference !== "both") {
    const answer = resolver.lookup(name, isAbsolute, familyOf(preference));
    return answer instanceof Promise ? untilAborted(answer, context) : answer;
  }
  // RFC 6724 rule 1: a family that this machine cannot reach beyond its link comes last.
  const order: readonly [IpFamily, IpFamily] = localAddresses().has(6) ? [6, 4] : [4, 6];
  const first = resolver.lookup(name, isAbsolute, order[0]);
  const second = resolver.lookup(name, isAbsolute, order[1]);
  if (!(first instanceof Promise || second instanceof Promise)) return merged(first, second);
  return untilAborted(both(first, second), context);
}

/** Both answers, or one with addresses when the other does not follow soon. */
function both(first: Answer | Promise<Answer>, second: Answer | Promise<Answer>): Promise<Answer> {
  return new Promise((resolve) => {
    const heard: [Answer | undefined, Answer | undefined] = [undefined, undefined];
    let timer: NodeJS.Timeout | undefined;
    const hear = (index: 0 | 1, answer: Answer) => {
      heard[index] = answer;
      const [one, other] = heard;
      if (one !== undefined && other !== undefined) {
        clearTimeout(timer);
        resolve(merged(one, other));
      } else if (answer.fault === null) {
        const delayMs = answer.addresses[0]?.family === 6 ? IPV4_DELAY_MS : RESOLUTION_DELAY_MS;
        timer = setTimeout(() => resolve(answer), delayMs);
      }
    };
    // A lookup never rejects.
    void Promise.resolve(first).then((answer) => hear(0, answer));
    void Promise.resolve(second).then((answer) => hear(1, answer));
  });
}

/** RFC 8305 section 4: families take turns, the preferred one first. */
function merged(first: Answer, second: Answer): Answer {
  if (first.fault !== null && second.fault !== null)
    return { addresses: [], fault: telling(first.fault, second.fault) };
  if (second.addresses.length === 0) return first;
  if (first.addresses.length === 0) return second;
  const addresses: Address[] = [];
  for (let index = 0; index < Math.max(first.addresses.length, second.addresses.length); index++) {
    addresses.push(...first.addresses.slice(index, index + 1), ...second.addresses.slice(index, index + 1));
  }
  return { addresses, fault: null };
}

/** Two families without an address: our own trouble before what the servers said. */
function telling(first: Error, second: Error): Error {
  if (!(first instanceof NetworkFault && first.verdict === "unresolved")) return first;
  if (!(second instanceof NetworkFault && second.verdict === "unresolved")) return second;
  const [, name] = /^The name (\S+) has no IPv[46] address$/.exec(first.message) ?? [];
  return name !== undefined && /has no IPv[46] address$/.test(second.message)
    ? new NetworkFault("unresolved", `The name ${name} has no address`)
    : first;
}

/** A lookup is shared by many checks, so a check leaves it, and never ends it. */
function untilAborted(answer: Promise<Answer>, context: DialContext): Promise<Answer> {
  return new Promise((resolve, reject) => {
    whenAborted(context, reject);
    void answer.then(resolve);
  });
}
