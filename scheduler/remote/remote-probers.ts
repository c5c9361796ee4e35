/**
 * Probers in separate processes: sends every run to a checker of its location, tracks where it is, and reports one outcome for each.
 *
 * A monitor stays with one checker, found by rendezvous hashing (Thaler and Ravishankar 1998), so that when a checker comes or goes, only its monitors move. A
 * confirming check runs at the next checker in that order. A run without an answer by its deadline cannot begin there any more: it runs elsewhere, or ends as
 * `cancelled`, a skipped turn. No run is missed because Redis is away: a deadline passes only when everything that arrived before it was read. Meanwhile runs of
 * the general pool go to the stand-in, the scheduler's own probers, where there is one; not those that use an account, because its lease is in Redis.
 */

import type { CheckRun, CheckSpec } from "../../engine/contract/messages.ts";
import { hasLaterField } from "../../engine/contract/registry.ts";
import { toWire } from "../../engine/contract/wire-kind.ts";
import { type Probers, type ProbersCallbacks, unrunOutcome } from "../../engine/pool/probers.ts";
import type { After } from "../../engine/transport/after.ts";
import { HOLD_MS } from "../../engine/trust/suspect-buffer.ts";
import { familyOf } from "../../model/kind.ts";
import { ANY_LOCATION } from "../../model/monitor.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { CheckerReport, CheckerWatch } from "../../store/state/checkers.ts";
import type { RunSender, SentHarm, SentOutcome, SentRun } from "../../store/state/runs.ts";
import type { Clocks } from "../clock.ts";
import { createBelievedHarms } from "./believed-harms.ts";
import { type Flight, flightOf, inTime } from "./flight.ts";
import { RedisSilence } from "./redis-silence.ts";
import { weightOf } from "./rendezvous.ts";
import { RunOutbox } from "./run-outbox.ts";
import type { StandIn } from "./stand-in.ts";

/** A checker begins a run within this, or never, ms. */
export const START_WITHIN_MS = 5_000;
/** Time for the way back of an outcome, added to START_WITHIN_MS and the check's time-out, ms. */
export const RETURN_WITHIN_MS = 5_000;
/** How often look() is to be called, ms. */
export const LOOK_EVERY_MS = 250;
/** After this without an answer to one of its runs the scheduler asks whether a checker is alive, ms. */
const SUSPECT_AFTER_MS = 2_000;
/** A checker that was absent gets no runs for this long, ms. */
const ABSENT_MS = 1_000;
/** When a checker has not said within this whether a failure counts, the turn counts as skipped, ms. */
export const FINAL_WITHIN_MS = HOLD_MS + RETURN_WITHIN_MS;
/** Most characters of a checker's report how a run brought its prober down. */
const REASON_LENGTH = 200;
/** Failed sends of one run before its turn counts as skipped. */
const MOST_SENDS = 3;

const NO_CHECKER_MESSAGE = "The check was not run: no checker had room for it in time";
const CHANGED_MESSAGE = "The check was cancelled because its monitor has changed";
const STOPPING_MESSAGE = "The check was cancelled because the scheduler is stopping";

const UNSAID_MESSAGE = "The checker did not say whether its own network had failed";

export interface RemoteProbersCallbacks extends Pick<ProbersCallbacks, "onOutcomes" | "onHarm"> {
  /** These runs are over; onOutcomes gets their outcomes when their checker knows whether its own network had failed. */
  onPending(outcomes: readonly CheckOutcome[]): void;
}

export interface RemoteProbersOptions {
  readonly callbacks: RemoteProbersCallbacks;
  /** An outcome from that location does not fit its run and was dropped. */
  readonly onRefused: (location: string, count: number, reason: string) => void;
  readonly watch: Pick<CheckerWatch, "healthy" | "clockOffsetMs">;
  readonly clocks: Clocks;
  /** What the stand-in's probers read as the time minus ours, ms. */
  readonly machineAheadMs: () => number;
  readonly after: After;
  /** Runs of this long go to a checker in one message, ms. */
  readonly gatherMs: number;
  /** How long runs may still begin, ms: another scheduler may run them afterwards. */
  readonly tenureLeftMs: () => number;
  /** Runs what is due in the general pool while Redis is away; absent: it waits. */
  readonly standIn?: Pick<StandIn, "run" | "forget" | "close">;
}

/** Most difference between a checker's clock and ours, compared through Redis, ms; checkers whose clock is 2 s off get no runs. */
const CLOCKS_APART_MS = 60_000;

interface Defined {
  readonly spec: CheckSpec;
  /** As it is sent. */
  readonly wire: CheckSpec;
  /** Size on the wire, before sealing. */
  readonly sizeBytes: number;
}

export class RemoteProbers implements Probers {
  readonly #options: RemoteProbersOptions;
  readonly #specs = new Map<number, Defined>();
  readonly #flights = new Map<number, Flight>();
  readonly #load = new Map<string, number>();
  /** By checker: monotonic ms until which it gets no runs. */
  readonly #absent = new Map<string, number>();
  readonly #outbox: RunOutbox<Flight>;
  readonly #silence = new RedisSilence();
  readonly #harms = createBelievedHarms();
  #sender: RunSender<CheckSpec> | null = null;
  #unsent: CheckOutcome[] = [];
  #isClosing = false;
  #isProbing = false;

  constructor(options: RemoteProbersOptions) {
    this.#options = options;
    this.#outbox = new RunOutbox({
      gapMs: options.gatherMs,
      monotonicNowMs: options.clocks.monotonicNowMs,
      after: options.after,
      sizeBytes: ({ run }) => this.#specs.get(run.specKey)?.sizeBytes ?? 0,
      post: (checker, flights) => void this.#post(checker, flights),
    });
  }

  /** Sets the sender. Runs wait until this is called. */
  connect(sender: RunSender<CheckSpec>): void {
    this.#sender = sender;
    this.#silence.heard(this.#options.clocks.monotonicNowMs());
    this.look();
  }

  get size(): number {
    return this.#options.watch.healthy().length;
  }

  /** Each checker has its own budget. */
  get overBudget(): number {
    return 0;
  }

  get inFlight(): number {
    return this.#flights.size;
  }

  /** The stand-in runs what is due in the general pool. */
  get isStoodInFor(): boolean {
    return this.#options.standIn !== undefined && this.#silence.isAway;
  }

  define(specs: readonly CheckSpec[]): void {
    for (const spec of specs) {
      const wire = toWire(spec, hasLaterField(spec.kind, spec.settings));
      this.#specs.set(spec.key, { spec, wire, sizeBytes: Buffer.byteLength(JSON.stringify(wire)) });
    }
  }

  forget(specKeys: readonly number[]): void {
    for (const key of specKeys) this.#specs.delete(key);
    this.#options.standIn?.forget(specKeys);
  }

  run(runs: readonly CheckRun[]): void {
    const flights: Flight[] = [];
    for (const run of runs) {
      if (run.place === undefined) throw new Error(`run ${run.checkId} does not say where`);
      const flight = flightOf(run, run.place);
      this.#flights.set(run.checkId, flight);
      flights.push(flight);
    }
    if (this.#isClosing) for (const flight of flights) this.#refuse(flight, STOPPING_MESSAGE);
    else this.#send(flights);
  }

  /** From a location's checkers; the first answer is applied, later ones are dropped. */
  take(location: string, outcomes: readonly SentOutcome[]): void {
    const aheadMs = this.#options.watch.clockOffsetMs();
    const measured: CheckOutcome[] = [];
    const pending: CheckOutcome[] = [];
    const unrun: Flight[] = [];
    const nowMs = this.#options.clocks.wallNowMs();
    for (const outcome of outcomes) {
      const flight = this.#flights.get(outcome.checkId);
      // The run was answered before, was sent by an earlier process, or went to another location.
      if (flight === undefined || flight.place.location !== location) continue;
      const reason = this.#misfit(flight, outcome, outcome.startedAtMs + aheadMs, nowMs);
      if (reason !== null) {
        this.#options.onRefused(location, 1, reason);
        continue;
      }
      if (outcome.verdict === "cancelled" && outcome.isSpent !== true) {
        unrun.push(flight);
        continue;
      }
      const { withheld: isPending, harm, ...said } = outcome;
      if (harm !== undefined) this.#tellHarm(flight, harm);
      const ours = inTime(said, -aheadMs);
      if (isPending !== true) {
        this.#end(flight);
        measured.push(ours);
      } else if (!flight.isOver) {
        flight.isOver = true;
        flight.deadlineMs = this.#options.clocks.monotonicNowMs() + FINAL_WITHIN_MS;
        pending.push(ours);
      }
    }
    for (const flight of unrun) this.#leaveChecker(flight);
    this.#again(unrun);
    if (pending.length > 0) this.#options.callbacks.onPending(pending);
    if (measured.length > 0) this.#options.callbacks.onOutcomes(measured);
  }

  /** From the stand-in; a run that a checker has answered meanwhile is over. */
  takeOwn(outcomes: readonly CheckOutcome[]): void {
    const measured: CheckOutcome[] = [];
    for (const outcome of outcomes) {
      const flight = this.#flights.get(outcome.checkId);
      if (flight === undefined) continue;
      this.#end(flight);
      measured.push(inTime(outcome, this.#options.machineAheadMs()));
    }
    if (measured.length > 0) this.#options.callbacks.onOutcomes(measured);
  }

  /** The stand-in does not know yet whether these count. */
  takeOwnPending(outcomes: readonly CheckOutcome[]): void {
    const pending: CheckOutcome[] = [];
    for (const outcome of outcomes) {
      const flight = this.#flights.get(outcome.checkId);
      if (flight === undefined || flight.isOver) continue;
      flight.isOver = true;
      pending.push(inTime(outcome, this.#options.machineAheadMs()));
    }
    if (pending.length > 0) this.#options.callbacks.onPending(pending);
  }

  /** Called before its outcome, so that the next turn is not sent elsewhere. */
  #tellHarm({ run, spec, place }: Flight, { reason, configId }: SentHarm): void {
    if (spec === undefined) return;
    const { callbacks, clocks, onRefused } = this.#options;
    const refusal = this.#harms.refuse(place.location, clocks.monotonicNowMs());
    const words = reason.slice(0, REASON_LENGTH);
    if (refusal === null) callbacks.onHarm?.(run, { spec, reason: words, configId });
    else onRefused(place.location, 1, refusal);
  }

  /** @returns why the outcome cannot belong to that run; the run then counts as unanswered */
  #misfit(flight: Flight, outcome: SentOutcome, startedAtMs: number, nowMs: number): string | null {
    const { run } = flight;
    // A wrong time would stay for ever in ids and states, which only go forward.
    if (startedAtMs > nowMs + CLOCKS_APART_MS) return "an outcome of the future";
    if (startedAtMs < Math.min(run.dueAtMs, nowMs) - CLOCKS_APART_MS) return "an outcome from before its run was due";
    if (outcome.configs === undefined) return null;
    const known = this.#specs.get(run.specKey)?.spec.configs ?? [];
    if (outcome.configs.length > known.length) return "outcomes of configs that its run does not have";
    const ids = new Set(known.map(({ id }) => id));
    return outcome.configs.every(({ configId }) => ids.has(configId))
      ? null
      : "outcomes of configs that its run does not have";
  }

  /**
   * Everything that had arrived by that time was read.
   * @param monotonicMs by our own clock
   * @param behind locations that are not read so far
   */
  caughtUp(monotonicMs: number, behind: ReadonlySet<string> = NONE): void {
    this.#silence.heard(this.#options.clocks.monotonicNowMs());
    const missed: Flight[] = [];
    for (const flight of this.#flights.values()) {
      if (flight.checker === null || flight.deadlineMs >= monotonicMs) continue;
      if (!behind.has(flight.place.location)) missed.push(flight);
    }
    for (const flight of missed) this.#leaveChecker(flight);
    this.#again(missed);
  }

  /**
   * Runs of a checker that is dead, cut off or frozen are sent elsewhere before their deadline, all of them as soon as one has waited
   * for long enough to ask. Tunnels wait for it, because a tunnel's account must not be used twice at once.
   */
  async #probe(): Promise<void> {
    if (this.#isProbing || this.#sender === null) return;
    this.#isProbing = true;
    const nowMs = this.#options.clocks.monotonicNowMs();
    const suspects = new Map<string, CheckerReport>();
    for (const { checker, sentAtMs } of this.#flights.values()) {
      if (checker !== null && nowMs - sentAtMs > SUSPECT_AFTER_MS) suspects.set(checker.id, checker);
    }
    for (const checker of suspects.values()) {
      if (await this.#sender.isThere(checker)) continue;
      const lost = [...this.#flights.values()].filter(
        (flight) => flight.checker?.id === checker.id && this.#mayRunTwice(flight),
      );
      for (const flight of lost) this.#leaveChecker(flight);
      this.#again(lost);
    }
    this.#isProbing = false;
  }

  #mayRunTwice({ run }: Flight): boolean {
    const kind = this.#specs.get(run.specKey)?.spec.kind;
    return kind === undefined || familyOf(kind) === "uptime";
  }

  /** Sends waiting runs whose location has a checker now, and those of checkers that are gone. */
  look(): void {
    this.#silence.look(this.#options.clocks.monotonicNowMs());
    if (this.isStoodInFor) this.#leaveSilent();
    this.#leaveUnfit();
    const waiting: Flight[] = [];
    for (const flight of this.#flights.values()) if (flight.checker === null && !flight.isHere) waiting.push(flight);
    this.#again(waiting);
    void this.#probe();
  }

  /** What a checker has measured meanwhile comes when Redis is back, perhaps: the stand-in runs it too, and the first outcome counts. */
  #leaveSilent(): void {
    for (const flight of this.#flights.values()) {
      if (flight.isOver || !this.#mayStandInFor(flight) || !this.#mayRunTwice(flight)) continue;
      this.#leaveChecker(flight);
    }
  }

  /** A checker that doubts its own network would end these with their time-outs: another one that does not has them meanwhile. */
  #leaveUnfit(): void {
    const sentUntilMs = this.#options.clocks.monotonicNowMs() - SUSPECT_AFTER_MS;
    const checkers = this.#options.watch.healthy();
    const unfit = new Set(checkers.filter(({ isFit }) => !isFit).map(({ id }) => id));
    const fitPlaces = new Set(checkers.filter(({ isFit }) => isFit).map(({ location }) => location));
    for (const flight of unfit.size > 0 ? this.#flights.values() : []) {
      const { checker, isOver, place, sentAtMs } = flight;
      if (checker === null || isOver || sentAtMs >= sentUntilMs || !unfit.has(checker.id)) continue;
      if (fitPlaces.has(place.location) && this.#mayRunTwice(flight)) this.#leaveChecker(flight);
    }
  }

  #mayStandInFor({ place }: Flight): boolean {
    return place.location === ANY_LOCATION && place.account === null;
  }

  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#outbox.close();
    for (const flight of [...this.#flights.values()]) this.#refuse(flight, STOPPING_MESSAGE);
    this.#emitUnsent();
    await this.#options.standIn?.close();
    await this.#sender?.close();
  }

  /** Sends runs that did not start to another checker, if there is one and they have not expired. */
  #again(flights: readonly Flight[]): void {
    const nowMs = this.#options.clocks.wallNowMs();
    const living: Flight[] = [];
    for (const flight of flights) {
      if (!this.#flights.has(flight.run.checkId)) continue;
      if (flight.isOver) this.#refuse(flight, UNSAID_MESSAGE);
      else if (!this.#specs.has(flight.run.specKey)) this.#refuse(flight, CHANGED_MESSAGE);
      else if (nowMs > flight.place.expiresAtMs || flight.tried.length >= MOST_SENDS)
        this.#refuse(flight, NO_CHECKER_MESSAGE);
      else living.push(flight);
    }
    this.#send(living);
  }

  #send(flights: readonly Flight[]): void {
    if (this.#sender === null || flights.length === 0 || this.#options.tenureLeftMs() <= 0) return;
    const ours = this.isStoodInFor ? flights.filter((flight) => this.#mayStandInFor(flight)) : [];
    if (ours.length > 0) this.#runHere(ours);
    const byLocation = this.#present();
    const batches = new Map<CheckerReport, Flight[]>();
    for (const flight of flights) {
      if (flight.isHere) continue;
      const checker = this.#choose(flight, byLocation.get(flight.place.location) ?? []);
      if (checker === undefined) continue;
      this.#enter(flight, checker);
      const batch = batches.get(checker);
      if (batch === undefined) batches.set(checker, [flight]);
      else batch.push(flight);
    }
    for (const [checker, batch] of batches) this.#outbox.add(checker, batch);
  }

  #runHere(flights: readonly Flight[]): void {
    for (const flight of flights) {
      flight.isHere = true;
      flight.spec = this.#specs.get(flight.run.specKey)?.spec;
    }
    const runs = flights.map(({ run }) => ({ ...run, dueAtMs: run.dueAtMs + this.#options.machineAheadMs() }));
    this.#options.standIn?.run(runs, (key) => this.#specs.get(key)?.spec);
  }

  async #post(checker: CheckerReport, gathered: readonly Flight[]): Promise<void> {
    if (this.#sender === null) return;
    const specs = new Map<number, CheckSpec>();
    const flights: Flight[] = [];
    for (const flight of gathered) {
      const defined = this.#specs.get(flight.run.specKey);
      if (defined === undefined) {
        this.#refuse(flight, CHANGED_MESSAGE);
        continue;
      }
      specs.set(flight.run.specKey, defined.wire);
      flight.spec = defined.spec;
      flights.push(flight);
    }
    if (flights.length === 0) return;
    const { clocks, watch } = this.#options;
    const aheadMs = watch.clockOffsetMs();
    const runs = flights.map((flight) => this.#toSent(flight, aheadMs));
    const answer = await this.#sender.send(checker, { specs: [...specs.values()], runs });
    if (answer === "sent") return;
    if (answer === "unknown") {
      // The message may have arrived: runs that must not run twice at once wait for their deadline. All others are sent again; the first
      // outcome counts.
      for (const flight of flights) {
        if (flight.checker?.id === checker.id && this.#mayRunTwice(flight)) this.#leaveChecker(flight);
      }
      return;
    }
    if (answer === "absent") this.#absent.set(checker.id, clocks.monotonicNowMs() + ABSENT_MS);
    const refused = flights.filter((flight) => flight.checker?.id === checker.id);
    for (const flight of refused) {
      this.#leaveChecker(flight);
      // It was not sent there.
      flight.tried.pop();
    }
    if (answer === "absent") this.#again(refused);
  }

  #toSent({ run, place }: Flight, aheadMs: number): SentRun {
    const withinMs = Math.min(START_WITHIN_MS, this.#options.tenureLeftMs());
    const startByMs = Math.min(place.expiresAtMs, this.#options.clocks.wallNowMs() + withinMs);
    return {
      checkId: run.checkId,
      specKey: run.specKey,
      dueAtMs: run.dueAtMs - aheadMs,
      startByMs: startByMs - aheadMs,
      alone: run.alone,
      host: place.host,
      wasHealthy: place.wasHealthy,
    };
  }

  /** Checkers that may get runs, by location; those that trust their own measurements first. */
  #present(): ReadonlyMap<string, readonly CheckerReport[]> {
    const nowMs = this.#options.clocks.monotonicNowMs();
    for (const [id, untilMs] of this.#absent) if (untilMs <= nowMs) this.#absent.delete(id);
    const byLocation = new Map<string, CheckerReport[]>();
    for (const checker of this.#options.watch.healthy()) {
      if (this.#absent.has(checker.id)) continue;
      const others = byLocation.get(checker.location);
      if (others === undefined) byLocation.set(checker.location, [checker]);
      else others.push(checker);
    }
    for (const [location, all] of byLocation) {
      const fit = all.filter(({ isFit }) => isFit);
      if (fit.length > 0) byLocation.set(location, fit);
    }
    return byLocation;
  }

  #choose({ place, tried }: Flight, among: readonly CheckerReport[]): CheckerReport | undefined {
    const withRoom = among.filter(({ id, room }) => (this.#load.get(id) ?? 0) < room);
    const untried = withRoom.filter(({ id }) => !tried.includes(id));
    const open = untried.length > 0 ? untried : withRoom;
    if (open.length < 2) return open[0];
    const ranked = open
      .map((checker) => ({ checker, weight: weightOf(place.home, checker.id) }))
      .sort((a, b) => b.weight - a.weight);
    return ranked[place.elsewhere && tried.length === 0 ? 1 : 0]?.checker;
  }

  #enter(flight: Flight, checker: CheckerReport): void {
    const timeoutMs = this.#specs.get(flight.run.specKey)?.spec.timeoutMs ?? 0;
    flight.checker = checker;
    flight.tried.push(checker.id);
    flight.sentAtMs = this.#options.clocks.monotonicNowMs();
    flight.deadlineMs = this.#options.clocks.monotonicNowMs() + START_WITHIN_MS + timeoutMs + RETURN_WITHIN_MS;
    this.#load.set(checker.id, (this.#load.get(checker.id) ?? 0) + 1);
  }

  #leaveChecker(flight: Flight): void {
    if (flight.checker === null) return;
    const { id } = flight.checker;
    flight.checker = null;
    const load = (this.#load.get(id) ?? 1) - 1;
    if (load > 0) this.#load.set(id, load);
    else this.#load.delete(id);
  }

  #end(flight: Flight): void {
    this.#leaveChecker(flight);
    this.#flights.delete(flight.run.checkId);
  }

  /** Asynchronous, so that run() never calls back before it returns. */
  #refuse(flight: Flight, message: string): void {
    this.#end(flight);
    if (this.#unsent.length === 0) queueMicrotask(() => this.#emitUnsent());
    this.#unsent.push(unrunOutcome(flight.run, "cancelled", message, this.#options.clocks.wallNowMs()));
  }

  #emitUnsent(): void {
    const outcomes = this.#unsent;
    this.#unsent = [];
    if (outcomes.length > 0) this.#options.callbacks.onOutcomes(outcomes);
  }
}

const NONE: ReadonlySet<string> = new Set();
