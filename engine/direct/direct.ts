/**
 * Checks without a scheduler or stores, for the command line and the bench. Probers run in threads as everywhere; queue.ts decides which
 * check runs when and which failure counts. As in the product, an account is never used twice at once, a check measured while we were unfit or
 * cut off is run again, and a failure of a crowded moment gets a second look.
 */

import { cpus } from "node:os";
import { setFlagsFromString } from "node:v8";
import { IdTable } from "../../model/id-table.ts";
import { familyOf, type Kind, type TunnelProtocol } from "../../model/kind.ts";
import type { CheckOutcome } from "../../model/result.ts";
import { parseUrl } from "../../model/url.ts";
import type { EngineOptions } from "../contract/options.ts";
import { parse } from "../contract/registry.ts";
import { TunnelConfigError, type TunnelFields } from "../contract/tunnel.ts";
import { parseTunnelTarget } from "../contract/tunnel-targets.ts";
import { canComeOfCrowd, endedInCrowd } from "../limits/second-looks.ts";
import { type Pool, type PoolOptions, startPool } from "../pool/pool.ts";
import { connectProbers, type Probers } from "../pool/probers.ts";
import { createGuard } from "../transport/guard.ts";
import { parseNameServer } from "../transport/name-servers.ts";
import { type Canary, findCanaries } from "../trust/canary.ts";
import { OwnNetwork } from "../trust/own-network.ts";
import { Starvation } from "../trust/starvation.ts";
import { DirectQueue, type QueuedCheck } from "./queue.ts";

export type { EngineOptions } from "../contract/options.ts";

export interface DirectOptions {
  readonly engine: EngineOptions;
  /** Prober threads. */
  readonly workers: number;
  /** Checks in flight. */
  readonly concurrency: number;
  /** Of them at one host; null or absent: no cap of its own. */
  readonly perHost?: number | null;
  readonly log: PoolOptions["log"];
  /** Called when no check can run any more. close() answers the checks that wait. */
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
  /** Checks that have ended and do not count yet: they wait for the canaries or for a second look. */
  readonly undecided: number;
  readonly secondLooks: number;
  /** Our own network is taken to be cut: nothing starts. */
  readonly isCut: boolean;
}

export interface Direct {
  /** Never rejects: whatever goes wrong is a verdict. */
  check(wanted: DirectCheck): Promise<CheckOutcome>;
  /** Whether one more check could start now. */
  readonly hasRoom: boolean;
  /** Resolves when there is room. */
  room(): Promise<void>;
  state(): DirectState;
  /** Ends what runs and waits as `cancelled`, then the threads. */
  close(): Promise<void>;
}

const LOOK_AT_PROCESSORS_MS = 500;
/** Share of a check's duration without a free processor. From this share on its failure counts as one of a crowded moment; our choice. */
const STARVED_SHARE = 0.5;
/**
 * MiB of each thread's heap where objects begin; V8's own choice. A list's checks live half a second, most of it while their core starts: in the smaller
 * one of a service (pool.ts) their objects would be copied and kept as old ones, which costs a twentieth of Sonde's part of a share link's check.
 */
const YOUNG_HEAP_MB = 48;
/**
 * From so many checks in flight on, passes are told in groups (CheckRun, isPatient): a message of each costs a tenth of a share link's check, and a
 * caller of so many does not wait for one of them. Our choice.
 */
const PATIENT_FROM = 64;
/** How long checks wait while our own network is cut. After that they start and report the cut, ms; our choice. */
const CUT_PATIENCE_MS = 60_000;

/**
 * After how much work V8 compiles a function anew for speed, in its own units; 67,584 otherwise. These checks run once, so compiling the code of every
 * thread took a third of a list's processor time, and little of it came back.
 */
const WORK_BEFORE_COMPILING = 200_000;

/** @throws an Error that names the setting that cannot be used, or says why no prober starts */
export async function openDirect(options: DirectOptions): Promise<Direct> {
  const { engine } = options;
  setFlagsFromString(`--interrupt-budget=${WORK_BEFORE_COMPILING}`);
  createGuard(engine);
  engine.resolvers.forEach(parseNameServer);
  engine.tunnelTargets?.forEach(parseTunnelTarget);
  const canaries = await findCanaries(engine);
  return new DirectChecks(
    options,
    await startPool({ ...options, scheduler: null, youngHeapMb: YOUNG_HEAP_MB }),
    canaries,
  );
}

class DirectChecks implements Direct {
  readonly #pool: Pool;
  readonly #probers: Probers;
  readonly #queue: DirectQueue;
  readonly #network: OwnNetwork<QueuedCheck>;
  readonly #starvation = new Starvation();
  readonly #running = new IdTable<QueuedCheck>();
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

  constructor({ engine, concurrency, perHost = null }: DirectOptions, pool: Pool, canaries: readonly Canary[]) {
    if (pool.control === null) throw new Error("a pool with a scheduler of its own takes no direct checks");
    this.#pool = pool;
    this.#queue = new DirectQueue(concurrency, perHost);
    this.#hasCanaries = canaries.length > 0;
    this.#network = new OwnNetwork<QueuedCheck>({
      engine,
      canaries,
      nowMs: Date.now,
      log: null,
      deliver: (check, outcome) => this.#judge(check, outcome),
      onCut: (isCut) => this.#pause(isCut),
    });
    this.#probers = connectProbers(pool.control, {
      onOutcomes: (outcomes) => this.#take(outcomes),
      onFitness: () => {},
    });
    this.#timer = setInterval(() => this.#starvation.look(cpus(), Date.now()), LOOK_AT_PROCESSORS_MS);
  }

  get hasRoom(): boolean {
    return this.#queue.hasRoom;
  }

  check({ kind, settings, timeoutMs }: DirectCheck): Promise<CheckOutcome> {
    const { identity, host } = knownOf(kind, settings);
    const spec = { key: ++this.#lastKey, kind, settings, timeoutMs };
    return new Promise((resolve) => {
      this.#queue.add({
        spec,
        identity,
        host: this.#hasCanaries ? host : null,
        target: host,
        settle: (outcome) => {
          this.#settledKeys.push(spec.key);
          resolve(outcome);
        },
      });
      this.#flushSoon();
    });
  }

  async room(): Promise<void> {
    while (!this.hasRoom && !this.#isClosing) await new Promise<void>((resolve) => this.#roomWaiters.push(resolve));
  }

  state(): DirectState {
    const { running, waiting, undecided, secondLooks } = this.#queue;
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
    this.#network.close();
    const ended = this.#probers.close();
    this.#cancel(this.#queue.takeAll());
    await ended;
    this.#network.flush();
    this.#wakeRoom();
    await this.#pool.close();
  }

  /** Sends one message for all specs that this turn of the event loop defined or freed. */
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
      this.#cancel(this.#queue.takeAll());
      return;
    }
    const starting = this.#isPaused ? [] : this.#queue.next(this.#roomWaiters.length > 0);
    const fresh = starting.filter(({ attempt }) => attempt === 1).map(({ spec }) => spec);
    if (fresh.length > 0) this.#probers.define(fresh);
    this.#run(starting);
    if (this.#settledKeys.length > 0) this.#probers.forget(this.#settledKeys.splice(0));
    this.#wakeRoom();
  }

  #run(checks: readonly QueuedCheck[]): void {
    if (checks.length === 0) return;
    const dueAtMs = Date.now();
    const isPatient = this.#queue.running >= PATIENT_FROM;
    const runs = checks.map((check) => {
      const checkId = ++this.#lastCheckId;
      this.#running.set(checkId, check);
      return { checkId, specKey: check.spec.key, dueAtMs, alone: false, isPatient };
    });
    this.#probers.run(runs);
  }

  /** Closing probers end every check that they get as cancelled. */
  #cancel(checks: readonly QueuedCheck[]): void {
    this.#run(checks);
  }

  #take(outcomes: readonly CheckOutcome[]): void {
    for (const outcome of outcomes) {
      const check = this.#running.take(outcome.checkId);
      if (check === undefined) continue;
      check.wasCrowded = this.#wasCrowded(outcome);
      if (this.#isClosing) this.#endLast(check, outcome);
      else {
        this.#queue.ended(check);
        this.#network.take(check, outcome);
      }
    }
    this.#flushSoon();
  }

  #wasCrowded(outcome: CheckOutcome): boolean {
    if (endedInCrowd(outcome, this.#queue.running)) return true;
    if (!canComeOfCrowd(outcome)) return false;
    const { startedAtMs, durationMs } = outcome;
    return this.#starvation.share(startedAtMs, startedAtMs + durationMs) >= STARVED_SHARE;
  }

  #judge(check: QueuedCheck, outcome: CheckOutcome): void {
    if (this.#isClosing) this.#endLast(check, outcome);
    else this.#queue.judge(check, outcome);
    this.#flushSoon();
  }

  /** While closing: a check that would get a second look ends as cancelled. */
  #endLast(check: QueuedCheck, outcome: CheckOutcome): void {
    const isUndecided = outcome.verdict === "unfit" || (check.wasCrowded && check.doubted === null);
    if (isUndecided) this.#cancel([check]);
    else check.settle(outcome);
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

/** The check's account and target host. Settings that do not parse give none: the probe reports what is wrong with them. */
function knownOf(kind: Kind, settings: DirectCheck["settings"]): { identity: string | null; host: string | null } {
  if (familyOf(kind) === "uptime") return { identity: null, host: hostOf(settings) };
  try {
    const { identity, endpoints } = parse(kind as TunnelProtocol, settings as TunnelFields);
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
