/**
 * A checker: runs what schedulers send to its stream, and one-off checks, on the prober threads of its own process. It has no database and
 * none of the operator's secrets: only Redis, under a user of its own, and its location's key. What it measured while it was unfit, or
 * while its own network was cut, it sends as `unfit`: no other process can know.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import type { Logger } from "pino";
import type { CheckRun, CheckSpec, ProberFitness } from "../engine/contract/messages.ts";
import type { EngineOptions } from "../engine/contract/options.ts";
import { connectProbers, type Probers, unrunOutcome } from "../engine/pool/probers.ts";
import { after } from "../engine/transport/after.ts";
import { type Canary, findCanaries } from "../engine/trust/canary.ts";
import { OwnNetwork } from "../engine/trust/own-network.ts";
import { familyOf } from "../model/kind.ts";
import { sound } from "../model/outcome-reader.ts";
import type { CheckOutcome } from "../model/result.ts";
import { ONE_OFF_LIMITS } from "../scheduler/run/one-off.ts";
import type { MessageSealing } from "../store/sealed-text.ts";
import { type CheckerState, CLOCK_OFF_MS } from "../store/state/checkers.ts";
import type { CheckClass, CheckReply, CheckServer, OneOffCheck } from "../store/state/checks.ts";
import type { RedisLocation } from "../store/state/redis.ts";
import { openRedisCheckServer } from "../store/state/redis-checks.ts";
import { openRedisRunServer } from "../store/state/redis-run-server.ts";
import type { CheckerName, RunBatch, RunServer, SentHarm, SentOutcome } from "../store/state/runs.ts";
import { InFlight } from "./in-flight.ts";
import { createCheckerMetrics } from "./metrics.ts";
import { withTurns } from "./one-off-turns.ts";
import { type AwaitedCheck, Silence } from "./silence.ts";
import { readSpec } from "./spec-reader.ts";

/** How long a stop waits for checks that run; what has not ended by then is cancelled, and runs elsewhere. */
const DRAIN_MS = 20_000;
const DRAIN_LOOK_MS = 20;
const SWEEP_MS = 60_000;
/** How often our clock is compared with Redis's, for the operator, ms. */
const CLOCK_LOOK_MS = 1_000;
/** How often it is looked whether targets are silent, ms. */
const SILENCE_LOOK_MS = 250;

const LEAVING_MESSAGE = "The check was not begun: the checker is stopping";
const LATE_MESSAGE = "The check was not begun in time";

export interface CheckerOptions {
  readonly checker: CheckerName & { readonly name: string; readonly version: string };
  readonly redis: RedisLocation;
  /** With the location's key. */
  readonly sealing: MessageSealing;
  readonly engine: EngineOptions;
  /** Checks in flight at the same time: schedulers send no more. */
  readonly room: number;
  /** Carries the prober threads. */
  readonly control: MessagePort;
  readonly log: Logger;
}

export interface RunningChecker {
  /** Resolves when the checker can take runs. */
  readonly ready: Promise<void>;
  /** Why the checker does not work, or does not trust its own measurements; empty when all is well. */
  problems(): readonly string[];
  /** Prometheus text. */
  metrics(): Promise<string>;
  /** Takes no more runs, waits for those under way up to a bound, and answers each of them. */
  close(): Promise<void>;
}

/** A check that is under way in this process. */
interface CheckUnderWay extends AwaitedCheck {
  /** Delivers it. @param harm how it brought its prober down; null: it did not */
  readonly end: (outcome: CheckOutcome, harm: SentHarm | null) => void;
  /** Reports that the run is over and that its outcome follows later; null: the caller waits for the outcome. */
  readonly reportPending: ((outcome: CheckOutcome) => void) | null;
  readonly spec: CheckSpec;
  readonly host: string | null;
  readonly wasHealthy: boolean;
  harm: SentHarm | null;
}

/** @throws StoreError when Redis cannot be used */
export async function startChecker(options: CheckerOptions): Promise<RunningChecker> {
  const canaries = await findCanaries(options.engine);
  const checker = new Checker(options, canaries);
  try {
    await checker.open();
  } catch (error) {
    await checker.close();
    throw error;
  }
  return checker;
}

class Checker implements RunningChecker {
  readonly ready: Promise<void>;
  readonly #options: CheckerOptions;
  readonly #probers: Probers;
  readonly #inFlight = new InFlight<CheckUnderWay>();
  readonly #metrics = createCheckerMetrics();
  readonly #fitness = new Map<number, ProberFitness>();
  readonly #network: OwnNetwork<CheckUnderWay>;
  readonly #silence = new Silence();
  #server: RunServer | undefined;
  #checks: CheckServer | undefined;
  #timers: readonly NodeJS.Timeout[] = [];
  #link: string | null = null;
  /** Why our clock is wrong; null: it is not. */
  #clock: string | null = null;
  #isLeaving = false;
  #setReady: () => void = () => {};

  constructor(options: CheckerOptions, canaries: readonly Canary[]) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#setReady = resolve;
    });
    const { engine, log } = options;
    this.#probers = connectProbers(options.control, {
      onOutcomes: (outcomes) => this.#measured(outcomes),
      onFitness: (prober, fitness) => this.#fitness.set(prober, fitness),
      onHarm: ({ checkId }, { reason, configId }) => {
        const check = this.#inFlight.find(checkId);
        if (check !== undefined) check.harm = { reason, configId };
      },
      onChange: ({ type, detail }) => {
        if (type === "up") this.#setReady();
        else log.warn({ detail }, `prober ${type}`);
        // The dead prober's last report is out of date; the others report every second.
        if (type === "down") this.#fitness.clear();
      },
    });
    this.#network = new OwnNetwork<CheckUnderWay>({
      engine,
      canaries,
      nowMs: Date.now,
      log,
      deliver: (check, outcome) => this.#deliver(check, outcome),
      onCut: () => this.#server?.report(),
    });
  }

  async open(): Promise<void> {
    const { checker, redis, sealing, log } = this.#options;
    this.#server = await openRedisRunServer<CheckSpec>(redis, {
      checker,
      sealing,
      state: () => this.#state(),
      readSpec,
      take: (scheduler, batch, isLeaving) => this.#take(scheduler, batch, isLeaving),
      onLink: (problem) => {
        if (problem !== null) log.warn({ problem }, "runs cannot be taken or answered; it is tried again");
        else if (this.#link !== null) log.info({}, "Redis is back");
        this.#link = problem;
      },
    });
    this.#checks = await openRedisCheckServer(redis, sealing, {
      location: checker.location,
      room: ONE_OFF_LIMITS,
      take: withTurns((check, checkClass) => this.#pass(check, checkClass), after),
    });
    this.#lookAtClock();
    this.#timers = [
      setInterval(() => this.#lookAtClock(), CLOCK_LOOK_MS),
      setInterval(() => this.#forget(this.#inFlight.sweep(performance.now())), SWEEP_MS),
      setInterval(() => {
        if (this.#silence.isSuspicious(this.#inFlight.underWay(), performance.now())) this.#network.suspect();
      }, SILENCE_LOOK_MS),
    ];
  }

  problems(): readonly string[] {
    const { reasons } = this.#state();
    return [this.#link, this.#clock, ...reasons].filter((one) => one !== null);
  }

  metrics(): Promise<string> {
    const { inFlight, isFit } = this.#state();
    const clockOffsetMs = this.#server?.clockOffsetMs ?? 0;
    return this.#metrics.text({
      inFlight,
      isFit: isFit && this.#clock === null,
      probers: this.#probers.size,
      overBudget: this.#probers.overBudget,
      clockOffsetMs,
      isLinked: this.#link === null,
    });
  }

  async close(): Promise<void> {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([this.#server?.leave(), this.#checks?.close()]);
    const endAtMs = performance.now() + DRAIN_MS;
    while (this.#inFlight.inFlight > 0 && performance.now() < endAtMs) {
      await pause(DRAIN_LOOK_MS);
    }
    // What still runs is answered as cancelled, and runs elsewhere.
    await this.#probers.close();
    this.#network.flush();
    this.#network.close();
    await this.#server?.close();
  }

  /** Schedulers give nothing to a checker whose clock is wrong, and it would not know. */
  #lookAtClock(): void {
    const offMs = this.#server?.clockOffsetMs ?? 0;
    const before = this.#clock;
    const seconds = Math.round(Math.abs(offMs) / 1_000);
    this.#clock =
      Math.abs(offMs) <= CLOCK_OFF_MS
        ? null
        : `its clock is ${seconds} s ${offMs > 0 ? "ahead of" : "behind"} Redis's: it gets no checks until the wrong one is corrected (run an NTP client)`;
    if (this.#clock !== null && before === null) this.#options.log.warn({ offByMs: Math.round(offMs) }, this.#clock);
    if (this.#clock === null && before !== null) this.#options.log.info({}, "its clock is Redis's again");
  }

  #state(): CheckerState {
    const unfit = [...this.#fitness.values()].filter(({ fit }) => !fit);
    const reasons = unfit.flatMap((one) => one.reasons);
    if (this.#network.isCut) reasons.push("its own network is cut");
    if (this.#probers.size === 0) reasons.push("no prober is up");
    return {
      room: this.#options.room,
      inFlight: this.#inFlight.inFlight,
      // One unfit prober affects only its own runs.
      isFit: !this.#network.isCut && this.#probers.size > 0 && unfit.length < Math.max(1, this.#fitness.size),
      reasons: [...new Set(reasons)],
      isLeaving: this.#isLeaving,
    };
  }

  #take(scheduler: string, { specs, runs }: RunBatch<CheckSpec>, isLeaving: boolean): void {
    const aheadMs = this.#server?.clockOffsetMs ?? 0;
    const redisNowMs = Date.now() - aheadMs;
    const byKey = new Map(specs.map((spec) => [spec.key, spec]));
    const starting: CheckRun[] = [];
    const unrun: CheckOutcome[] = [];
    for (const run of runs) {
      const spec = byKey.get(run.specKey);
      if (isLeaving || redisNowMs > run.startByMs || spec === undefined) {
        unrun.push(unrunOutcome(run, "cancelled", isLeaving ? LEAVING_MESSAGE : LATE_MESSAGE, redisNowMs));
        continue;
      }
      const known = this.#inFlight.define(`${scheduler} ${spec.key} ${spec.revision ?? 0}`, spec, performance.now());
      if (known.isNew) this.#probers.define([known.spec]);
      const { host, wasHealthy } = run;
      const checkId = this.#inFlight.begin({
        end: (outcome, harm) => this.#answer(scheduler, run.checkId, harm === null ? outcome : { ...outcome, harm }),
        reportPending: (outcome) => this.#answer(scheduler, run.checkId, { ...outcome, withheld: true }),
        spec: known.spec,
        host,
        wasHealthy,
        begunAtMs: performance.now(),
        isPrompt: wasHealthy && host !== null && familyOf(known.spec.kind) === "uptime",
        harm: null,
      });
      const dueAtMs = Math.round(run.dueAtMs + aheadMs);
      starting.push({ checkId, specKey: known.spec.key, dueAtMs, alone: run.alone });
    }
    if (starting.length > 0) this.#probers.run(starting);
    if (unrun.length > 0) this.#server?.answer(scheduler, unrun);
    this.#metrics.unrun(unrun.length);
  }

  #answer(scheduler: string, checkId: number, outcome: SentOutcome): void {
    const startedAtMs = outcome.startedAtMs - (this.#server?.clockOffsetMs ?? 0);
    this.#server?.answer(scheduler, [{ ...outcome, checkId, startedAtMs, checker: this.#options.checker.name }]);
  }

  /** Runs a one-off check: a config that is not stored. */
  #pass(check: OneOffCheck, checkClass: CheckClass): Promise<CheckReply> {
    return new Promise((resolve) => {
      const { kind, settings, timeoutMs, host, organizationId: workspace } = check;
      const spec = {
        key: this.#inFlight.nextKey(),
        kind,
        settings,
        timeoutMs,
        isPublic: checkClass === "public",
        workspace,
      };
      const end = (
        { verdict, startedAtMs, latencyMs, connectMs, peerAnswered, message, tunnel }: CheckOutcome,
        harm: SentHarm | null,
      ): void => {
        this.#forget([spec.key]);
        // The checker is stopping: nothing was measured.
        const result = { verdict, startedAtMs, latencyMs, connectMs, peerAnswered, message };
        if (verdict === "cancelled") resolve({ type: "busy" });
        else if (harm !== null) resolve({ type: "measured", result, harm: harm.reason });
        else resolve({ type: "measured", result: tunnel === undefined ? result : { ...result, tunnel } });
      };
      this.#probers.define([spec]);
      const unknown = { wasHealthy: false, isPrompt: false, begunAtMs: performance.now() };
      const checkId = this.#inFlight.begin({ end, reportPending: null, spec, host, ...unknown, harm: null });
      this.#probers.run([{ checkId, specKey: spec.key, dueAtMs: Date.now(), alone: false }]);
    });
  }

  #measured(outcomes: readonly CheckOutcome[]): void {
    for (const outcome of outcomes) {
      const check = this.#inFlight.find(outcome.checkId);
      if (check === undefined) continue;
      if (outcome.verdict === "ok") this.#silence.passed(performance.now());
      const isHeld = this.#network.take(check, outcome);
      // The scheduler gets a message that the run is over, so the monitor's next turn does not wait for the outcome.
      if (isHeld) check.reportPending?.(sound(outcome));
    }
  }

  #deliver(check: CheckUnderWay, measured: CheckOutcome): void {
    const outcome = sound(measured);
    this.#inFlight.end(outcome.checkId);
    this.#metrics.count(check.spec.kind, outcome);
    check.end(outcome, check.harm);
  }

  #forget(specKeys: readonly number[]): void {
    if (specKeys.length > 0) this.#probers.forget(specKeys);
  }
}
