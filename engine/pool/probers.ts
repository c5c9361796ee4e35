/**
 * The scheduler's side of the pool: distributes runs to the probers, knows which checks are in flight where, and guarantees that each
 * accepted run yields exactly one outcome, whatever happens to its prober.
 *
 * When a prober dies, the check that was last active in it is suspected: it is re-run in the prober set aside (aside.ts), and the other checks
 * in flight are re-run normally. Without a suspect each is re-run alone. A check whose run alone kills a prober too is quarantined.
 * When a prober hangs in native code, the check that was last active is quarantined without another run, because that run would make the next
 * prober hang too.
 */
import { randomBytes } from "node:crypto";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { IdTable } from "../../model/id-table.ts";
import type { CheckOutcome } from "../../model/result.ts";
import { createFingerprint } from "../contract/fingerprint.ts";
import type { CheckRun, CheckSpec, FromPool, FromProber, ProberFitness, ToPool } from "../contract/messages.ts";
import { packRuns, unpackOutcomes } from "../prober/packed.ts";
import { Aside } from "./aside.ts";
import { type Flight, isOpen, type ProberSide, send } from "./prober-side.ts";
import { Quarantine } from "./quarantine.ts";
import { Recoveries } from "./recoveries.ts";

export interface ProbersCallbacks {
  onOutcomes(outcomes: readonly CheckOutcome[]): void;
  onFitness(prober: number, fitness: ProberFitness): void;
  /** A run brought its prober down. Its configuration is not run again here for a while. */
  onHarm?(run: CheckRun, harm: HarmOfRun): void;
  onChange?(event: { readonly type: "up" | "down" | "quarantined" | "over budget"; readonly detail: string }): void;
}

/** How a run brought its prober down. */
export interface HarmOfRun {
  /** The spec that was run; its monitor may be changed or deleted by now. */
  readonly spec: CheckSpec;
  /** How the prober ended. */
  readonly reason: string;
  /** Which of the spec's configs did it; null: not known, or it has none. */
  readonly configId: number | null;
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
  /** Checks that take so much of a thread that they are run apart from others. */
  readonly overBudget: number;
  /** Ends every run (those in flight as `cancelled`), then the probers. */
  close(): Promise<void>;
}

type ProberDown = Extract<FromPool, { readonly type: "prober-down" }>;

/** A spec leaves its prober when another has this many runs less; below it, staying is worth more than balance. */
const STICKY_SLACK = 64;
/** How long closing waits for the probers' last outcomes, ms. */
const CLOSE_TIMEOUT_MS = 3_000;

const STOPPING_MESSAGE = "The check was cancelled because the checker is stopping";
const UNPROVEN_MESSAGE =
  "The check was not run: too many checks hang in native code, and only those that have run before are run now";
const CHANGED_MESSAGE = "The check was cancelled because its monitor has changed";

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
  /** Specs that were sent to a prober and were not found to harm it. */
  readonly #proven = new Set<number>();
  /** The bound of hanging probers is reached. */
  #isHungFull = false;
  readonly #probers = new Map<number, ProberSide>();
  /** Its key is random: fingerprints of this process have no meaning in another one. Others learn of harm by onHarm(). */
  readonly #quarantine = new Quarantine(createFingerprint(randomBytes(32)));
  readonly #recoveries = new Recoveries();
  readonly #aside: Aside;
  #waiting: CheckRun[] = [];
  #unsent: CheckOutcome[] = [];
  #closed: (() => void) | null = null;
  #isClosing = false;

  constructor(control: MessagePort, callbacks: ProbersCallbacks, wallNowMs: () => number) {
    this.#control = control;
    this.#callbacks = callbacks;
    this.#wallNowMs = wallNowMs;
    this.#aside = new Aside({
      wallNowMs,
      refuse: (run, message) => this.#refuse([run], "cancelled", message, true),
      want: (isWanted) => control.postMessage({ type: "want-aside", isWanted } satisfies ToPool),
      tell: (detail) => callbacks.onChange?.({ type: "over budget", detail }),
    });
    control.on("message", (message: FromPool) => {
      switch (message.type) {
        case "prober-up":
          this.#add(message.prober, message.port, message.isAside === true);
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
    for (const prober of this.#probers.values()) if (isOpen(prober)) count++;
    return count;
  }

  get overBudget(): number {
    return this.#aside.over;
  }

  get inFlight(): number {
    let count = this.#waiting.length + this.#aside.waiting;
    for (const prober of this.#probers.values()) count += prober.flights.size;
    return count + this.#recoveries.waiting;
  }

  define(specs: readonly CheckSpec[]): void {
    for (const spec of specs) {
      this.#specs.set(spec.key, spec);
      this.#quarantine.forget(spec.key);
      this.#aside.forget(spec.key);
      // A key that is defined again replaces what the probers have.
      for (const prober of this.#probers.values()) prober.defined.delete(spec.key);
    }
  }

  forget(specKeys: readonly number[]): void {
    for (const key of specKeys) {
      this.#specs.delete(key);
      this.#homes.delete(key);
      this.#proven.delete(key);
      this.#quarantine.forget(key);
      this.#aside.forget(key);
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
      const spec = this.#runnable(run);
      if (spec === undefined || this.#aside.take(run)) continue;
      const prober = this.#proberFor(run);
      if (prober === undefined) continue;
      prober.flights.set(run.checkId, { run, spec, accused: false });
      const batch = batches.get(prober);
      if (batch === undefined) batches.set(prober, [run]);
      else batch.push(run);
    }
    for (const [prober, batch] of batches) this.#send(prober, batch);
    if (this.#aside.waiting > 0) this.#feedAside();
  }

  /** The prober set aside has at most one run, so whatever happens to it was caused by that run. */
  #feedAside(): void {
    for (const prober of this.#probers.values()) {
      if (!prober.isAside || prober.silent) continue;
      while (prober.flights.size === 0) {
        const run = this.#aside.next();
        if (run === undefined) return;
        const spec = this.#runnable(run);
        if (spec === undefined) continue;
        prober.flights.set(run.checkId, { run, spec, accused: true });
        this.#send(prober, [{ ...run, alone: true }]);
      }
    }
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#refuse(this.#waiting.concat(this.#aside.takeAll()), "cancelled", STOPPING_MESSAGE);
    this.#waiting = [];
    this.#refuse(this.#recoveries.takeAll(), "cancelled", STOPPING_MESSAGE);
    const allStopped = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    for (const prober of this.#probers.values()) send(prober, { type: "stop" });
    this.#closeWhenStopped();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    });
    await Promise.race([allStopped, late]);
    clearTimeout(timer);
    for (const prober of this.#probers.values()) {
      this.#refuse(
        prober.flights.values().map(({ run }) => run),
        "cancelled",
        STOPPING_MESSAGE,
      );
      prober.port.close();
    }
    this.#probers.clear();
    this.#control.close();
    this.#emitUnsent();
  }

  /** @returns the spec that the run needs; undefined when the run was answered instead */
  #runnable(run: CheckRun): CheckSpec | undefined {
    const spec = this.#specs.get(run.specKey);
    if (spec === undefined) {
      this.#refuse([run], "cancelled", CHANGED_MESSAGE);
      return undefined;
    }
    const refusal = this.#quarantine.refusal(spec, this.#wallNowMs());
    if (refusal === undefined) return spec;
    this.#refuse([run], "internal-error", refusal);
    return undefined;
  }

  /** The prober that has the spec, unless it is clearly busier than another; undefined when the run was answered instead. */
  #proberFor(run: CheckRun): ProberSide | undefined {
    const least = this.#leastBusy();
    const home = this.#homes.get(run.specKey);
    if (home !== undefined && least !== undefined && home.flights.size <= least.flights.size + STICKY_SLACK)
      return home;
    if (least === undefined) return undefined;
    // A spec with a fault is answered without a run, so it may pass.
    if (this.#isHungFull && !this.#proven.has(run.specKey) && this.#specs.get(run.specKey)?.fault === undefined) {
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
      if (isOpen(prober) && (least === undefined || prober.flights.size < least.flights.size)) least = prober;
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

  #add(id: number, port: MessagePort, isAside: boolean): void {
    const prober: ProberSide = {
      id,
      port,
      defined: new Set(),
      flights: new IdTable(),
      stopped: false,
      silent: false,
      isAside,
    };
    port.on("message", (message: FromProber) => this.#hear(prober, message));
    port.on("close", () => this.#hear(prober, { type: "stopped" }));
    if (this.#isClosing) {
      send(prober, { type: "stop" });
      return;
    }
    this.#probers.set(id, prober);
    this.#callbacks.onChange?.({ type: "up", detail: `prober ${id}` });
    if (isAside) {
      this.#feedAside();
      return;
    }
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
        if (!prober.isAside) this.#callbacks.onFitness(prober.id, message.fitness);
        if (this.#aside.expire()) this.#endAside();
        return;
      case "held":
        this.#aside.charge(message.holds);
        return;
      case "stopped":
        prober.stopped = true;
        this.#closeWhenStopped();
    }
  }

  /** Only the prober that a run was last given to may answer for it. */
  #accept(prober: ProberSide, outcomes: readonly CheckOutcome[]): void {
    if (prober.isAside) {
      this.#acceptAside(prober, outcomes);
      return;
    }
    const expected = outcomes.filter(({ checkId }) => prober.flights.take(checkId) !== undefined);
    if (expected.length > 0) this.#callbacks.onOutcomes(expected);
    if (this.#recoveries.size > 0) this.#recover();
  }

  #acceptAside(prober: ProberSide, outcomes: readonly CheckOutcome[]): void {
    const measured: CheckOutcome[] = [];
    for (const outcome of outcomes) {
      const flight = prober.flights.take(outcome.checkId);
      if (flight === undefined) continue;
      measured.push(this.#aside.measured(flight.spec, outcome));
    }
    if (measured.length > 0) this.#callbacks.onOutcomes(measured);
    if (!this.#isClosing) this.#feedAside();
  }

  #endAside(): void {
    for (const prober of this.#probers.values()) {
      if (!prober.isAside) continue;
      this.#probers.delete(prober.id);
      send(prober, { type: "stop" });
    }
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

  #lose({ prober: id, reason, hangs, suspect, suspectConfig }: ProberDown): void {
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
    const left = prober.flights.values();
    if (this.#isClosing) {
      this.#refuse(
        left.map(({ run }) => run),
        "cancelled",
        STOPPING_MESSAGE,
      );
      this.#closeWhenStopped();
      return;
    }
    const hold = (killer: Flight): void => {
      this.#hold(killer, reason, killer.run.checkId === suspect ? suspectConfig : null);
    };
    const { killers, near } = this.#recoveries.settle(prober, suspect);
    for (const killer of prober.isAside ? left : killers) hold(killer);
    this.#waiting = this.#waiting.concat(near);
    const rest = left.filter(({ accused }) => !accused);
    const suspected = killers.length === 0 ? rest.find(({ run }) => run.checkId === suspect) : undefined;
    if (suspected !== undefined && hangs) hold(suspected);
    else if (suspected !== undefined) this.#aside.accuse(suspected.run.specKey);
    const others = rest.flatMap((one) => (hangs && one === suspected ? [] : one.run));
    if (suspected !== undefined || killers.length > 0) this.#waiting = this.#waiting.concat(others);
    else this.#recoveries.suspect(others, suspect);
    this.#recover();
  }

  /** Quarantines the configuration. */
  #hold({ run, spec }: Flight, reason: string, configId: number | null): void {
    const refusal = this.#quarantine.add(spec, configId, reason, this.#wallNowMs());
    this.#proven.delete(run.specKey);
    this.#callbacks.onHarm?.(run, { spec, reason, configId });
    this.#refuse([run], "internal-error", refusal);
    this.#callbacks.onChange?.({ type: "quarantined", detail: `check ${run.checkId}: ${refusal}` });
  }

  /** Gives what deaths left its next alone runs, and runs what waits for a prober. */
  #recover(): void {
    if (this.size === 0 || this.#isClosing) return;
    this.#recoveries.advance([...this.#probers.values()].filter(isOpen), (prober, runs) =>
      this.#runAlone(prober, runs),
    );
    if (this.#waiting.length > 0) this.run(this.#waiting.splice(0));
  }

  #runAlone(prober: ProberSide, runs: readonly CheckRun[]): readonly number[] {
    const batch: CheckRun[] = [];
    for (const run of runs) {
      const spec = this.#runnable(run);
      if (spec === undefined) continue;
      batch.push({ ...run, alone: true });
      prober.flights.set(run.checkId, { run, spec, accused: true });
    }
    this.#send(prober, batch);
    return batch.map(({ checkId }) => checkId);
  }

  /** Answers for runs that no prober will; later, so that run() never calls back before it returns. */
  #refuse(runs: readonly CheckRun[], verdict: "cancelled" | "internal-error", message: string, isSpent = false): void {
    if (runs.length === 0) return;
    if (this.#unsent.length === 0) queueMicrotask(() => this.#emitUnsent());
    const nowMs = this.#wallNowMs();
    for (const run of runs) {
      const outcome = unrunOutcome(run, verdict, message, nowMs);
      this.#unsent.push(isSpent ? { ...outcome, isSpent } : outcome);
    }
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

/** The outcome of a run that measured nothing. */
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
