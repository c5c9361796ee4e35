/**
 * Whether our own network failed (docs/decisions/0003-whose-fault.md). It takes results of checks and canaries, and says of a failed check whether
 * our network was cut while it ran. Pure: the caller passes the time, Unix ms.
 *
 * - The canaries say cut when every canary that was ever reached has failed twice in a row, unless more than a fifth of the targets
 *   with a result since then passed (a gateway may have stopped answering pings).
 * - The crowd says cut when, in some stretch of at most 10 s that ends now, at least five unrelated, recently healthy targets failed and
 *   they are 80 % of all targets with a result in it; unless a far canary (beyond gateway and local networks) was just reached. Every
 *   stretch that ends now is examined, not only the full 10 s, so a cut is seen at the fifth failure although thousands passed a second earlier.
 *   It is over when two of the last five targets with a result have passed: a single one may be on our side of the cut. It is also over after
 *   ten minutes without a result: a checker that is cut gets no checks, and without a far canary nothing else could say that it is back.
 * - The resolvers are out when every DNS canary that was ever reached has failed twice in a row: then a name that does not resolve is
 *   not at fault.
 *
 * The first failures of a cut arrive before the cut is known: suspect-buffer.ts holds them until then.
 */
import { isIP } from "node:net";
import { getDomain } from "tldts";
import { BoundedMap } from "../../model/bounded-map.ts";
import { isOwnVerdict, type Verdict } from "../../model/verdict.ts";

/** docs/decisions/0003-whose-fault.md. */
const WINDOW_MS = 10_000;
const CROWD = 5;
const CROWD_SHARE = 0.8;
/** A cut began this much before the crowd's first failure: answers under way still arrive among the first failures. */
const ONSET_MS = 1_500;
/** Passes among the last `CROWD` targets that end a cut. */
const RECOVERED = 2;
/**
 * What fails this soon after a cut is excused, too: a question for a host's hardware address that was asked into the cut still has to
 * fail, which takes three turns of a second (arp(7): mcast_solicit; RFC 4861: MAX_MULTICAST_SOLICIT).
 */
const SETTLING_MS = 3_500;
/** Events looked back at: bounds the work a failure costs. */
const LOOK_BACK = 512;
const CANARY_FAILURES = 2;
/** Hosts whose groups are remembered: finding a name's takes 0.4 µs, and each check asks. About 100 bytes each. */
const MOST_GROUPS = 100_000;
/** A far canary reached within this disproves a crowd: canaries are asked every few seconds, and at once when failures begin. */
const CANARY_FRESH_MS = 3_000;
/** Cuts older than the longest check (120 s) plus the longest wait for its result are forgotten. */
const REMEMBERED_MS = 10 * 60_000;
/** A crowd that was reported so long ago says nothing about now. Our choice: longer than the intervals of most monitors. */
const STALE_MS = 10 * 60_000;

export type CanaryKind = "icmp" | "dns" | "tcp";

export interface CanaryReport {
  readonly name: string;
  readonly kind: CanaryKind;
  /** Beyond our own gateway and local networks. */
  readonly isFar: boolean;
  readonly reached: boolean;
}

export class NetworkFitness {
  readonly #events: { readonly group: string; readonly passed: boolean; readonly atMs: number }[] = [];
  /** By host; null: this machine itself. */
  readonly #groups = new BoundedMap<string, string | null>(MOST_GROUPS);
  readonly #canaries = new Map<string, CanaryState>();
  readonly #cuts = new Stretches();
  readonly #resolverOutages = new Stretches();
  #crowdSaysCut = false;

  /**
   * A result as it arrives, also one that is held back.
   * @param host of the target, lowercased
   * @param wasHealthy the monitor's location was confirmed up before this result
   */
  note(host: string, verdict: Verdict, wasHealthy: boolean, nowMs: number): void {
    const passed = verdict === "ok";
    // A target that was down anyway, or settings that cannot work, say nothing about the network.
    if (isOwnVerdict(verdict) || (!passed && (!wasHealthy || verdict === "misconfigured"))) return;
    const group = this.#groupOf(host);
    if (group === null) return;
    this.#events.push({ group, passed, atMs: nowMs });
    if (this.#events.length >= 2 * LOOK_BACK) this.#events.splice(0, LOOK_BACK);
    if (passed && this.#crowdSaysCut && this.#hasRecovered()) this.#crowdSaysCut = false;
    const crowdFromMs = passed || this.#crowdSaysCut ? undefined : this.#crowdFromMs(nowMs);
    if (crowdFromMs !== undefined) this.#crowdSaysCut = true;
    this.#settle(nowMs, crowdFromMs ?? nowMs);
  }

  canary(report: CanaryReport, nowMs: number): void {
    const known = this.#canaries.get(report.name);
    // Counted only after it was reached once: many gateways never answer.
    if (known === undefined && !report.reached) return;
    const failures = report.reached ? 0 : (known?.failures ?? 0) + 1;
    const reachedAtMs = report.reached ? nowMs : (known?.reachedAtMs ?? nowMs);
    const failingSinceMs = failures === 1 ? nowMs : (known?.failingSinceMs ?? nowMs);
    this.#canaries.set(report.name, { ...report, failures, reachedAtMs, failingSinceMs });
    if (report.isFar && report.reached) this.#crowdSaysCut = false;
    this.#settle(nowMs, this.#lastReachedMs([...this.#canaries.values()]));
    this.#settleResolvers(nowMs);
  }

  isCut(nowMs: number): boolean {
    this.#endStaleCrowd(nowMs);
    return this.#cuts.includes(nowMs);
  }

  /** Whether a failure of a check that lived from `startedAtMs` to `endedAtMs` may be our network's. Ask after note(). */
  excuses(verdict: Verdict, startedAtMs: number, endedAtMs: number): boolean {
    if (verdict === "ok" || isOwnVerdict(verdict)) return false;
    if (this.#cuts.overlaps(startedAtMs, endedAtMs) || this.#cuts.endedWithin(SETTLING_MS, endedAtMs)) return true;
    return verdict === "unresolved" && this.#resolverOutages.overlaps(startedAtMs, endedAtMs);
  }

  /** For people and metrics. */
  get canaries(): readonly (CanaryReport & { readonly isFailing: boolean })[] {
    return [...this.#canaries.values()].map(({ name, kind, isFar, reached, failures }) => ({
      name,
      kind,
      isFar,
      reached,
      isFailing: failures >= CANARY_FAILURES,
    }));
  }

  #groupOf(host: string): string | null {
    const known = this.#groups.get(host);
    if (known !== undefined) return known;
    const group = groupOf(host) ?? null;
    this.#groups.set(host, group);
    return group;
  }

  #settle(nowMs: number, fromMs: number): void {
    if (this.#crowdSaysCut || this.#canariesSayCut(nowMs)) this.#cuts.open(fromMs);
    else this.#cuts.close(nowMs);
  }

  #endStaleCrowd(nowMs: number): void {
    if (!this.#crowdSaysCut || nowMs - (this.#events.at(-1)?.atMs ?? 0) < STALE_MS) return;
    this.#crowdSaysCut = false;
    this.#settle(nowMs, nowMs);
  }

  #settleResolvers(nowMs: number): void {
    const resolvers = [...this.#canaries.values()].filter(({ kind }) => kind === "dns");
    if (allFail(resolvers)) this.#resolverOutages.open(this.#lastReachedMs(resolvers));
    else this.#resolverOutages.close(nowMs);
  }

  #canariesSayCut(nowMs: number): boolean {
    const canaries = [...this.#canaries.values()];
    if (!allFail(canaries)) return false;
    const failingSinceMs = canaries.reduce((latest, each) => Math.max(latest, each.failingSinceMs), 0);
    const sinceMs = Math.max(failingSinceMs, nowMs - WINDOW_MS);
    const heard = this.#lastHeard((event) => event.atMs > sinceMs);
    return heard.passed <= (1 - CROWD_SHARE) * (heard.passed + heard.failed);
  }

  #lastReachedMs(canaries: readonly CanaryState[]): number {
    return canaries.reduce((latest, { reachedAtMs }) => Math.max(latest, reachedAtMs), 0);
  }

  /** When the crowd of failures that ends now began; undefined when there is none. */
  #crowdFromMs(nowMs: number): number | undefined {
    for (const { isFar, reached, reachedAtMs } of this.#canaries.values()) {
      if (isFar && reached && nowMs - reachedAtMs < CANARY_FRESH_MS) return undefined;
    }
    const seen = new Set<string>();
    let failed = 0;
    for (let index = this.#events.length - 1; index >= Math.max(0, this.#events.length - LOOK_BACK); index--) {
      const event = this.#events[index];
      if (event === undefined || event.atMs <= nowMs - WINDOW_MS) return undefined;
      if (seen.has(event.group)) continue;
      seen.add(event.group);
      if (!event.passed) failed++;
      if (failed >= CROWD && failed >= CROWD_SHARE * seen.size) return event.atMs - ONSET_MS;
    }
    return undefined;
  }

  #hasRecovered(): boolean {
    let heard = 0;
    return this.#lastHeard(() => heard++ < CROWD).passed >= RECOVERED;
  }

  /** Counts the latest result of each target, newest first, as long as `wanted` holds. */
  #lastHeard(wanted: (event: { readonly atMs: number }) => boolean): { passed: number; failed: number } {
    const seen = new Set<string>();
    const heard = { passed: 0, failed: 0 };
    for (let index = this.#events.length - 1; index >= 0; index--) {
      const event = this.#events[index];
      if (event === undefined || seen.has(event.group)) continue;
      if (!wanted(event)) break;
      seen.add(event.group);
      heard[event.passed ? "passed" : "failed"]++;
    }
    return heard;
  }
}

interface CanaryState extends CanaryReport {
  /** In a row. */
  readonly failures: number;
  readonly reachedAtMs: number;
  /** When the first failure of this row was known. */
  readonly failingSinceMs: number;
}

function allFail(canaries: readonly CanaryState[]): boolean {
  return canaries.length > 0 && canaries.every(({ failures }) => failures >= CANARY_FAILURES);
}

/** Stretches of time in which something did not hold; the last may still be open. */
class Stretches {
  #closed: { readonly fromMs: number; readonly toMs: number }[] = [];
  #openFromMs: number | null = null;

  open(fromMs: number): void {
    this.#openFromMs ??= fromMs;
  }

  close(nowMs: number): void {
    if (this.#openFromMs === null) return;
    this.#closed = this.#closed.filter(({ toMs }) => toMs > nowMs - REMEMBERED_MS);
    this.#closed.push({ fromMs: this.#openFromMs, toMs: nowMs });
    this.#openFromMs = null;
  }

  includes(nowMs: number): boolean {
    return this.#openFromMs !== null && nowMs >= this.#openFromMs;
  }

  /** Whether one was over so shortly before. */
  endedWithin(lengthMs: number, atMs: number): boolean {
    return this.#closed.some(({ toMs }) => atMs >= toMs && atMs <= toMs + lengthMs);
  }

  overlaps(fromMs: number, toMs: number): boolean {
    if (this.#openFromMs !== null && toMs >= this.#openFromMs) return true;
    return this.#closed.some((closed) => toMs >= closed.fromMs && fromMs <= closed.toMs);
  }
}

/**
 * What a target stands for: hosts of one registrable domain, one public /24 or one public /48 fail together for reasons of their own.
 * In a private network every host is its own. Undefined for this machine itself, which no cut can reach.
 */
export function groupOf(host: string): string | undefined {
  const family = isIP(host);
  if (family === 0) {
    if (host === "localhost" || host.endsWith(".localhost")) return undefined;
    return getDomain(host, { allowPrivateDomains: true }) ?? host;
  }
  if (isLoopback(host)) return undefined;
  if (isPrivate(host)) return host;
  return family === 4 ? host.slice(0, host.lastIndexOf(".")) : host.split(":").slice(0, 3).join(":");
}

/** On this machine or in its local networks: loopback, RFC 1918, 3927, 4193, 4291 and 6598. */
export function isPrivate(ip: string): boolean {
  return isLoopback(ip) || PRIVATE_IPV4.test(ip) || /^f[cde][0-9a-f]{2}:/i.test(ip);
}

const PRIVATE_IPV4 =
  /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;

function isLoopback(ip: string): boolean {
  return ip === "::1" || ip.startsWith("127.");
}
