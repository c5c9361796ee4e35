/**
 * Checks without a scheduler or stores, for the command line and the bench. Probers run in threads as everywhere; direct-desk.ts decides which
 * check runs when and which failure counts. As in the product, an account is never used twice at once, a check measured while we were unfit or
 * cut off is run again, and a failure of a crowded moment gets a second look.
 */

import { cpus } from "node:os";
import { familyOf, type Kind, type TunnelProtocol } from "../model/kind.ts";
import type { CheckOutcome } from "../model/result.ts";
import { parseUrl } from "../model/url.ts";
import { type Canary, type CanaryWatch, findCanaries, watchCanaries } from "./canary.ts";
import { Desk, type Ticket } from "./direct-desk.ts";
import { NetworkTrust } from "./network-trust.ts";
import type { EngineOptions } from "./options.ts";
import { type Pool, type PoolLog, startPool } from "./pool.ts";
import { connectProbers, type Probers } from "./probers.ts";
import { canComeOfCrowd, endedInCrowd } from "./second-look.ts";
import { Starvation } from "./starvation.ts";
import { createGuard } from "./transport/guard.ts";
import { parseNameServer } from "./transport/name-servers.ts";
import { TunnelConfigError, type TunnelFields } from "./tunnel.ts";
import { tunnelParsers } from "./tunnel-parsers.ts";
import { parseTunnelTarget } from "./tunnels/targets.ts";

export interface DirectOptions {
  readonly engine: EngineOptions;
  /** Prober threads. */
  readonly workers: number;
  /** Checks in flight. */
  readonly concurrency: number;
  readonly log: PoolLog;
  /** Nothing can be checked any more; close() answers what waits. */
  readonly onFatal: (error: Error) => void;
}

export interface DirectCheck {
  readonly kind: Kind;
  /** The kind's own fields, as the API takes them. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** One run must end within this. */
  readonly timeoutMs: number;
}

export interface DirectState {
  readonly running: number;
  readonly waiting: number;
  /** Ended, and waiting for what it means: for the canaries, or for a second look. */
  readonly undecided: number;
  readonly secondLooks: number;
  /** Our own network is taken to be cut: nothing starts. */
  readonly isCut: boolean;
}

export interface Direct {
  /** Never rejects: whatever goes wrong is a verdict. */
  check(wanted: DirectCheck): Promise<CheckOutcome>;
  /** Whether one more check would not only wait. */
  readonly hasRoom: boolean;
  /** Resolves when it has. */
  room(): Promise<void>;
  state(): DirectState;
  /** Ends what runs and waits as `cancelled`, then the threads. */
  close(): Promise<void>;
}

const LOOK_AT_PROCESSORS_MS = 500;
/** Part of a check's life without a free processor, from which on it lived in a crowd; our choice. */
const STARVED_SHARE = 0.5;
/** How long a cut of our own network is waited out before checks run into it and say so, ms; our choice. */
const CUT_PATIENCE_MS = 60_000;

/** @throws an Error that names the setting that cannot be used, or says why no prober starts */
export async function openDirect(options: DirectOptions): Promise<Direct> {
  const { engine } = options;
  createGuard(engine);
  engine.resolvers.forEach(parseNameServer);
  engine.tunnelTargets?.forEach(parseTunnelTarget);
  const canaries = await findCanaries(engine);
  return new DirectChecks(options, await startPool({ ...options, scheduler: null }), canaries);
}

class DirectChecks implements Direct {
  readonly #pool: Pool;
  readonly #probers: Probers;
  readonly #watch: CanaryWatch;
  readonly #desk: Desk;
  readonly #trust: NetworkTrust<Ticket>;
  readonly #starvation = new Starvation();
  readonly #running = new Map<number, Ticket>();
  readonly #hasCanaries: boolean;
  readonly #timer: NodeJS.Timeout;
  #cutTimer: NodeJS.Timeout | undefined;
  #isPaused = false;
  #isClosing = false;
  #closed: Promise<void> | null = null;
  #isFlushing = false;
  #lastKey = 0;
  #lastCheckId = 0;
  #settledKeys: number[] = [];
  #roomWaiters: (() => void)[] = [];

  constructor({ engine, concurrency }: DirectOptions, pool: Pool, canaries: readonly Canary[]) {
    if (pool.control === null) throw new Error("a pool with a scheduler of its own takes no direct checks");
    this.#pool = pool;
    this.#desk = new Desk(concurrency);
    this.#hasCanaries = canaries.length > 0;
    this.#trust = new NetworkTrust<Ticket>({
      nowMs: () => Date.now(),
      deliver: (ticket, outcome) => this.#judge(ticket, outcome),
      onSuspicion: () => this.#watch.ask(),
      onCut: (isCut) => this.#pause(isCut),
    });
    this.#watch = watchCanaries({ canaries, engine, onReport: (report) => this.#trust.canary(report) });
    this.#probers = connectProbers(pool.control, {
      onOutcomes: (outcomes) => this.#take(outcomes),
      onFitness: () => {},
    });
    this.#timer = setInterval(() => this.#starvation.look(cpus(), Date.now()), LOOK_AT_PROCESSORS_MS);
  }

  get hasRoom(): boolean {
    return this.#desk.hasRoom;
  }

  check({ kind, settings, timeoutMs }: DirectCheck): Promise<CheckOutcome> {
    const { identity, host } = knownOf(kind, settings);
    const spec = { key: ++this.#lastKey, kind, settings, timeoutMs };
    return new Promise((resolve) => {
      this.#desk.add({
        spec,
        identity,
        host: this.#hasCanaries ? host : null,
        settle: (outcome) => {
          this.#settledKeys.push(spec.key);
          resolve(outcome);
        },
        attempt: 0,
        wasCrowded: false,
        doubted: null,
      });
      this.#flushSoon();
    });
  }

  async room(): Promise<void> {
    while (!this.hasRoom && !this.#isClosing) await new Promise<void>((resolve) => this.#roomWaiters.push(resolve));
  }

  state(): DirectState {
    const { running, waiting, undecided, secondLooks } = this.#desk;
    return { running, waiting, undecided, secondLooks, isCut: this.#isPaused };
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    clearTimeout(this.#cutTimer);
    this.#watch.close();
    const ended = this.#probers.close();
    this.#cancel(this.#desk.takeAll());
    await ended;
    this.#trust.flush();
    this.#wakeRoom();
    await this.#pool.close();
  }

  /** One message for all that was asked for, and freed, in this turn of the event loop. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#isClosing) {
      this.#cancel(this.#desk.takeAll());
      return;
    }
    const starting = this.#isPaused ? [] : this.#desk.next(this.#roomWaiters.length > 0);
    const fresh = starting.filter(({ attempt }) => attempt === 1).map(({ spec }) => spec);
    if (fresh.length > 0) this.#probers.define(fresh);
    this.#run(starting);
    if (this.#settledKeys.length > 0) this.#probers.forget(this.#settledKeys.splice(0));
    this.#wakeRoom();
  }

  #run(tickets: readonly Ticket[]): void {
    if (tickets.length === 0) return;
    const dueAtMs = Date.now();
    const runs = tickets.map((ticket) => {
      const checkId = ++this.#lastCheckId;
      this.#running.set(checkId, ticket);
      return { checkId, specKey: ticket.spec.key, dueAtMs, alone: false };
    });
    this.#probers.run(runs);
  }

  /** Closing probers end every check that they get as cancelled. */
  #cancel(tickets: readonly Ticket[]): void {
    this.#run(tickets);
  }

  #take(outcomes: readonly CheckOutcome[]): void {
    for (const outcome of outcomes) {
      const ticket = this.#running.get(outcome.checkId);
      if (ticket === undefined) continue;
      this.#running.delete(outcome.checkId);
      ticket.wasCrowded = this.#wasCrowded(outcome);
      if (this.#isClosing) this.#endLast(ticket, outcome);
      else {
        this.#desk.ended(ticket);
        this.#trust.take(
          { target: ticket, attempt: ticket.attempt, host: ticket.host, wasHealthy: false, isNew: true },
          outcome,
        );
      }
    }
    this.#flushSoon();
  }

  #wasCrowded(outcome: CheckOutcome): boolean {
    if (endedInCrowd(outcome, this.#desk.running)) return true;
    if (!canComeOfCrowd(outcome)) return false;
    const { startedAtMs, durationMs } = outcome;
    return this.#starvation.share(startedAtMs, startedAtMs + durationMs) >= STARVED_SHARE;
  }

  #judge(ticket: Ticket, outcome: CheckOutcome): void {
    if (this.#isClosing) this.#endLast(ticket, outcome);
    else this.#desk.judge(ticket, outcome);
    this.#flushSoon();
  }

  /** While closing: a check that would get a second look ends as cancelled. */
  #endLast(ticket: Ticket, outcome: CheckOutcome): void {
    const isUndecided = outcome.verdict === "unfit" || (ticket.wasCrowded && ticket.doubted === null);
    if (isUndecided) this.#cancel([ticket]);
    else ticket.settle(outcome);
  }

  #pause(isCut: boolean): void {
    clearTimeout(this.#cutTimer);
    this.#isPaused = isCut;
    if (isCut) this.#cutTimer = setTimeout(() => this.#pause(false), CUT_PATIENCE_MS);
    this.#flushSoon();
  }

  #wakeRoom(): void {
    if (!this.hasRoom && !this.#isClosing) return;
    for (const wake of this.#roomWaiters.splice(0)) wake();
  }
}

/** An account behind the check, and where it leads, as far as its settings tell; what they refuse is for the probe to say. */
function knownOf(kind: Kind, settings: DirectCheck["settings"]): { identity: string | null; host: string | null } {
  if (familyOf(kind) === "uptime") return { identity: null, host: hostOf(settings) };
  try {
    const { identity, endpoints } = tunnelParsers[kind as TunnelProtocol](settings as TunnelFields);
    return { identity, host: endpoints[0]?.host ?? null };
  } catch (error) {
    if (error instanceof TunnelConfigError) return { identity: null, host: null };
    throw error;
  }
}

function hostOf({ url, host }: DirectCheck["settings"]): string | null {
  if (typeof host === "string") return host.toLowerCase();
  return typeof url === "string" ? (parseUrl(url)?.hostname ?? null) : null;
}
