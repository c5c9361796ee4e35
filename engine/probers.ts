/**
 * The scheduler's side of the pool: spreads runs over the probers, knows what is in flight where, and answers for every run it
 * accepted: each yields exactly one outcome, whatever happens to the prober that had it.
 *
 * What was in flight in a prober that died is re-run alone, first the check that was last about to do something. The check whose alone
 * run kills a prober too is quarantined; once the killer of a death is known, the others of that death are re-run like any other.
 * A prober that hangs in native code is proof enough: the check that was last about to do something is quarantined without another
 * run, which would take the next prober too.
 */
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { CheckOutcome } from "../model/result.ts";
import type { CheckRun, CheckSpec, FromPool, FromProber, ProberFitness, ToProber } from "./check.ts";
import { packRuns, unpackOutcomes } from "./packed.ts";
import { Quarantine } from "./quarantine.ts";

export interface ProbersCallbacks {
  onOutcomes(outcomes: readonly CheckOutcome[]): void;
  onFitness(prober: number, fitness: ProberFitness): void;
  onChange?(event: { readonly type: "up" | "down" | "quarantined"; readonly detail: string }): void;
}

export interface Probers {
  define(specs: readonly CheckSpec[]): void;
  forget(specKeys: readonly number[]): void;
  /** Without a prober runs wait for one. */
  run(runs: readonly CheckRun[]): void;
  /** Probers that are up. */
  readonly size: number;
  /** Runs accepted and not yet answered. */
  readonly inFlight: number;
  /** Ends every run (those in flight as `cancelled`), then the probers. */
  close(): Promise<void>;
}

type ProberDown = Extract<FromPool, { readonly type: "prober-down" }>;

/** A spec leaves its prober when another has this many runs less; below it, staying is worth more than balance. */
const STICKY_SLACK = 64;
/** Alone runs given to a prober at once. */
const ALONE_AT_ONCE = 32;
/** How long closing waits for the probers' last outcomes, ms. */
const CLOSE_WITHIN_MS = 3_000;

const STOPPING_MESSAGE = "The check was cancelled because the checker is stopping";
const UNPROVEN_MESSAGE =
  "The check was not run: too many checks hang in native code, and only those that have run before are run now";
const CHANGED_MESSAGE = "The check was cancelled because its monitor has changed";

interface Flight {
  readonly run: CheckRun;
  /** Another death of its prober is its own doing: it was running alone because of one. */
  readonly accused: boolean;
}

interface ProberSide {
  readonly id: number;
  readonly port: MessagePort;
  readonly defined: Set<number>;
  readonly flights: Map<number, Flight>;
  stopped: boolean;
  /** It is being ended: what it has is answered for when it is down. */
  silent: boolean;
}

/** What one death left: run alone, `ALONE_AT_ONCE` at a time, one prober after the other. */
interface Recovery {
  waiting: CheckRun[];
  prober: ProberSide | null;
  /** In the order in which the prober runs them: the first without an outcome is the one that killed it. */
  order: number[];
}

export function connectProbers(
  control: MessagePort,
  callbacks: ProbersCallbacks,
  wallNowMs: () => number = Date.now,
): Probers {
  return new ConnectedProbers(control, callbacks, wallNowMs);
}

class ConnectedProbers implements Probers {
  readonly #control: MessagePort;
  readonly #callbacks: ProbersCallbacks;
  readonly #wallNowMs: () => number;
  readonly #specs = new Map<number, CheckSpec>();
  readonly #homes = new Map<number, ProberSide>();
  /** Specs that were given to a prober and were not found to harm it. */
  readonly #proven = new Set<number>();
  /** As many probers hang as may. */
  #isHungFull = false;
  readonly #probers = new Map<number, ProberSide>();
  readonly #quarantine = new Quarantine();
  readonly #recoveries = new Set<Recovery>();
  #waiting: CheckRun[] = [];
  #unsent: CheckOutcome[] = [];
  #closed: (() => void) | null = null;
  #isClosing = false;

  constructor(control: MessagePort, callbacks: ProbersCallbacks, wallNowMs: () => number) {
    this.#control = control;
    this.#callbacks = callbacks;
    this.#wallNowMs = wallNowMs;
    control.on("message", (message: FromPool) => {
      switch (message.type) {
        case "prober-up":
          this.#add(message.prober, message.port);
          return;
        case "prober-silent":
          this.#leave(message.prober);
          return;
        case "prober-down":
          this.#lose(message);
          return;
        case "hung-probers":
          this.#isHungFull = message.isFull;
      }
    });
  }

  get size(): number {
    let count = 0;
    for (const { silent } of this.#probers.values()) if (!silent) count++;
    return count;
  }

  get inFlight(): number {
    let count = this.#waiting.length;
    for (const prober of this.#probers.values()) count += prober.flights.size;
    for (const recovery of this.#recoveries) count += recovery.waiting.length;
    return count;
  }

  define(specs: readonly CheckSpec[]): void {
    for (const spec of specs) {
      this.#specs.set(spec.key, spec);
      this.#quarantine.release(spec.key);
      // A key that is defined again replaces what the probers have.
      for (const prober of this.#probers.values()) prober.defined.delete(spec.key);
    }
  }

  forget(specKeys: readonly number[]): void {
    for (const key of specKeys) {
      this.#specs.delete(key);
      this.#homes.delete(key);
      this.#proven.delete(key);
      this.#quarantine.release(key);
    }
    for (const prober of this.#probers.values()) {
      const known = specKeys.filter((key) => prober.defined.delete(key));
      if (known.length > 0) send(prober, { type: "forget", specKeys: known });
    }
  }

  run(runs: readonly CheckRun[]): void {
    if (this.#isClosing) {
      this.#refuse(runs, "cancelled", STOPPING_MESSAGE);
      return;
    }
    if (this.size === 0) {
      this.#waiting = this.#waiting.concat(runs);
      return;
    }
    const batches = new Map<ProberSide, CheckRun[]>();
    for (const run of runs) {
      const prober = this.#proberFor(run);
      if (prober === undefined) continue;
      prober.flights.set(run.checkId, { run, accused: false });
      const batch = batches.get(prober);
      if (batch === undefined) batches.set(prober, [run]);
      else batch.push(run);
    }
    for (const [prober, batch] of batches) this.#send(prober, batch);
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#refuse(this.#waiting, "cancelled", STOPPING_MESSAGE);
    this.#waiting = [];
    for (const recovery of this.#recoveries) this.#refuse(recovery.waiting, "cancelled", STOPPING_MESSAGE);
    this.#recoveries.clear();
    const allStopped = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    for (const prober of this.#probers.values()) send(prober, { type: "stop" });
    this.#closeWhenStopped();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_WITHIN_MS);
    });
    await Promise.race([allStopped, late]);
    clearTimeout(timer);
    for (const prober of this.#probers.values()) {
      this.#refuse(
        [...prober.flights.values()].map(({ run }) => run),
        "cancelled",
        STOPPING_MESSAGE,
      );
      prober.port.close();
    }
    this.#probers.clear();
    this.#control.close();
    this.#emitUnsent();
  }

  /** The prober that has the spec, unless it is clearly busier than another; undefined when the run was answered instead. */
  #proberFor(run: CheckRun): ProberSide | undefined {
    const refusal = this.#quarantine.refusal(run.specKey, this.#wallNowMs());
    if (refusal !== undefined) {
      this.#refuse([run], "internal-error", refusal);
      return undefined;
    }
    if (!this.#specs.has(run.specKey)) {
      this.#refuse([run], "cancelled", CHANGED_MESSAGE);
      return undefined;
    }
    const least = this.#leastBusy();
    const home = this.#homes.get(run.specKey);
    if (home !== undefined && least !== undefined && home.flights.size <= least.flights.size + STICKY_SLACK)
      return home;
    if (least === undefined) return undefined;
    if (this.#isHungFull && !this.#proven.has(run.specKey)) {
      this.#refuse([run], "internal-error", UNPROVEN_MESSAGE);
      return undefined;
    }
    this.#proven.add(run.specKey);
    this.#homes.set(run.specKey, least);
    return least;
  }

  #leastBusy(): ProberSide | undefined {
    let least: ProberSide | undefined;
    for (const prober of this.#probers.values()) {
      if (!prober.silent && (least === undefined || prober.flights.size < least.flights.size)) least = prober;
    }
    return least;
  }

  #send(prober: ProberSide, runs: readonly CheckRun[]): void {
    const missing: CheckSpec[] = [];
    for (const { specKey } of runs) {
      const spec = prober.defined.has(specKey) ? undefined : this.#specs.get(specKey);
      if (spec === undefined) continue;
      prober.defined.add(specKey);
      missing.push(spec);
    }
    if (missing.length > 0) send(prober, { type: "define", specs: missing });
    send(prober, { type: "run", runs: packRuns(runs) });
  }

  #add(id: number, port: MessagePort): void {
    const prober: ProberSide = { id, port, defined: new Set(), flights: new Map(), stopped: false, silent: false };
    port.on("message", (message: FromProber) => this.#hear(prober, message));
    port.on("close", () => this.#hear(prober, { type: "stopped" }));
    if (this.#isClosing) {
      send(prober, { type: "stop" });
      return;
    }
    this.#probers.set(id, prober);
    this.#callbacks.onChange?.({ type: "up", detail: `prober ${id}` });
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length > 0) this.run(waiting);
    this.#recover();
  }

  #hear(prober: ProberSide, message: FromProber): void {
    switch (message.type) {
      case "results":
        this.#accept(prober, unpackOutcomes(message));
        return;
      case "fitness":
        this.#callbacks.onFitness(prober.id, message.fitness);
        return;
      case "stopped":
        prober.stopped = true;
        this.#closeWhenStopped();
    }
  }

  /** Only the prober that a run was last given to may answer for it. */
  #accept(prober: ProberSide, outcomes: readonly CheckOutcome[]): void {
    const expected = outcomes.filter(({ checkId }) => prober.flights.delete(checkId));
    if (expected.length > 0) this.#callbacks.onOutcomes(expected);
    if (this.#recoveries.size > 0) this.#recover();
  }

  #leave(id: number): void {
    const prober = this.#probers.get(id);
    if (prober === undefined) return;
    prober.silent = true;
    this.#leaveHomes(prober);
  }

  #leaveHomes(prober: ProberSide): void {
    for (const [key, home] of this.#homes) if (home === prober) this.#homes.delete(key);
  }

  #lose({ prober: id, reason, hangs, suspect }: ProberDown): void {
    const prober = this.#probers.get(id);
    if (prober === undefined) return;
    // Its last results may still be on their way: messages of one port keep their order, those of two ports do not.
    for (let last = receiveMessageOnPort(prober.port); last !== undefined; last = receiveMessageOnPort(prober.port)) {
      this.#hear(prober, last.message as FromProber);
    }
    prober.port.close();
    this.#probers.delete(id);
    this.#leaveHomes(prober);
    this.#callbacks.onChange?.({ type: "down", detail: `prober ${id}: ${reason}` });
    const left = [...prober.flights.values()];
    if (this.#isClosing) {
      this.#refuse(
        left.map(({ run }) => run),
        "cancelled",
        STOPPING_MESSAGE,
      );
      this.#closeWhenStopped();
      return;
    }
    const isSettled = this.#settleAccused(prober, reason, suspect);
    const proven =
      hangs && !isSettled ? left.find(({ run, accused }) => !accused && run.checkId === suspect) : undefined;
    if (proven !== undefined) this.#hold(proven.run, reason);
    if (proven === undefined && !isSettled) {
      this.#suspectRest(left, suspect);
    } else {
      this.#waiting = this.#waiting.concat(left.flatMap((one) => (one.accused || one === proven ? [] : one.run)));
    }
    this.#recover();
  }

  /** It is not run any more for a while. */
  #hold(killer: CheckRun, reason: string): void {
    const refusal = this.#quarantine.add(killer.specKey, reason, this.#wallNowMs());
    this.#proven.delete(killer.specKey);
    this.#refuse([killer], "internal-error", refusal);
    this.#callbacks.onChange?.({ type: "quarantined", detail: `check ${killer.checkId}: ${refusal}` });
  }

  /**
   * The prober was running alone what an earlier death had left: the first run without an outcome killed it as well, unless an ordinary
   * run was at work before their turn came.
   * @returns whether the killer is known
   */
  #settleAccused(prober: ProberSide, reason: string, suspect: number | null): boolean {
    const isOther = suspect !== null && prober.flights.get(suspect)?.accused === false;
    let isSettled = false;
    for (const recovery of this.#recoveries) {
      if (recovery.prober !== prober) continue;
      const unanswered = recovery.order.flatMap((checkId) => prober.flights.get(checkId)?.run ?? []);
      recovery.prober = null;
      recovery.order = [];
      const killer = isOther ? undefined : unanswered.shift();
      if (killer === undefined) {
        recovery.waiting = unanswered.concat(recovery.waiting);
        continue;
      }
      isSettled = true;
      this.#hold(killer, reason);
      // The killer is known: the others were only near it.
      this.#recoveries.delete(recovery);
      this.#waiting = this.#waiting.concat(unanswered, recovery.waiting);
    }
    return isSettled;
  }

  #suspectRest(left: readonly Flight[], suspect: number | null): void {
    const suspects = left.filter(({ accused }) => !accused).map(({ run }) => run);
    if (suspects.length === 0) return;
    const first = suspects.findIndex(({ checkId }) => checkId === suspect);
    if (first > 0) suspects.unshift(...suspects.splice(first, 1));
    this.#recoveries.add({ waiting: suspects, prober: null, order: [] });
  }

  /** Gives each recovery its next alone runs, and runs what waits for a prober. */
  #recover(): void {
    if (this.size === 0 || this.#isClosing) return;
    for (const recovery of this.#recoveries) {
      const busy = recovery.prober;
      if (busy !== null && recovery.order.some((checkId) => busy.flights.has(checkId))) continue;
      if (recovery.waiting.length === 0) {
        this.#recoveries.delete(recovery);
        continue;
      }
      recovery.prober = null;
      const prober = this.#proberWithoutRecovery();
      if (prober !== undefined) this.#runAlone(recovery, prober);
    }
    if (this.#waiting.length > 0) this.run(this.#waiting.splice(0));
  }

  #runAlone(recovery: Recovery, prober: ProberSide): void {
    const next = recovery.waiting.splice(0, ALONE_AT_ONCE);
    const batch = next.filter(({ specKey }) => this.#specs.has(specKey));
    const changed = next.filter(({ specKey }) => !this.#specs.has(specKey));
    this.#refuse(changed, "cancelled", CHANGED_MESSAGE);
    recovery.prober = prober;
    recovery.order = batch.map(({ checkId }) => checkId);
    for (const run of batch) prober.flights.set(run.checkId, { run, accused: true });
    this.#send(
      prober,
      batch.map((run) => ({ ...run, alone: true })),
    );
  }

  /** Two recoveries in one prober could not be told apart when it dies. */
  #proberWithoutRecovery(): ProberSide | undefined {
    const taken = new Set([...this.#recoveries].map(({ prober }) => prober));
    let least: ProberSide | undefined;
    for (const prober of this.#probers.values()) {
      if (!prober.silent && !taken.has(prober) && (least === undefined || prober.flights.size < least.flights.size))
        least = prober;
    }
    return least;
  }

  /** Answers for runs that no prober will; later, so that run() never calls back before it returns. */
  #refuse(runs: readonly CheckRun[], verdict: "cancelled" | "internal-error", message: string): void {
    if (runs.length === 0) return;
    if (this.#unsent.length === 0) queueMicrotask(() => this.#emitUnsent());
    const nowMs = this.#wallNowMs();
    for (const run of runs) this.#unsent.push(unrunOutcome(run, verdict, message, nowMs));
  }

  #emitUnsent(): void {
    const outcomes = this.#unsent;
    this.#unsent = [];
    if (outcomes.length > 0) this.#callbacks.onOutcomes(outcomes);
  }

  #closeWhenStopped(): void {
    if (this.#closed === null) return;
    for (const prober of this.#probers.values()) if (!prober.stopped) return;
    this.#closed();
  }
}

function send(prober: ProberSide, message: ToProber): void {
  prober.port.postMessage(message);
}

/** Nothing was measured. */
export function unrunOutcome(
  run: Pick<CheckRun, "checkId" | "dueAtMs">,
  verdict: CheckOutcome["verdict"],
  message: string,
  nowMs: number,
): CheckOutcome {
  return {
    checkId: run.checkId,
    verdict,
    startedAtMs: nowMs,
    latenessMs: Math.max(0, nowMs - run.dueAtMs),
    durationMs: 0,
    latencyMs: null,
    connectMs: null,
    peerAnswered: false,
    message,
    phases: {},
    explanation: null,
    certificate: null,
    domainExpiresAtMs: null,
  };
}
