/**
 * Due times of planned checks. Periods do not drift: the next due time is computed from the phase, never from the end of the last run.
 * Due times that could not be used (a freeze, a check that still runs) are counted and not made up for.
 */
import { heartbeatPatienceMs } from "../../model/schedule.ts";
import { nextDue } from "../plan/phase.ts";
import type { PlannedCheck } from "../plan/planned-check.ts";
import { createWheel } from "./wheel.ts";

/**
 * A planned check is due. For a heartbeat its deadline has passed, and the listener must set the next deadline.
 * @returns busy: the run before is not over, and this due time is skipped · left: another process takes this one and all that follow
 */
export type OnDue = (planned: PlannedCheck, dueAtMs: number) => "taken" | "busy" | "left";

export class DueTimes {
  readonly #byId: (id: number) => PlannedCheck | undefined;
  readonly #onSkipped: (planned: PlannedCheck, count: number) => void;
  #wheel: ReturnType<typeof createWheel>;
  #skipped = 0;
  /** What nextMs() said last, or what is due before that. */
  #toldMs = Number.NEGATIVE_INFINITY;
  #onSooner: () => void = () => {};

  /**
   * @param byId the planned check by its id in the wheel
   * @param onSkipped called with the number of due times of a planned check at which nothing ran
   */
  constructor(
    nowMs: number,
    byId: (id: number) => PlannedCheck | undefined,
    onSkipped: (planned: PlannedCheck, count: number) => void,
  ) {
    this.#wheel = createWheel(nowMs);
    this.#byId = byId;
    this.#onSkipped = onSkipped;
  }

  /** Due times since the start at which nothing ran. */
  get skipped(): number {
    return this.#skipped;
  }

  /** When advance may have something to do, never after the first due time; Infinity: nothing is planned. */
  nextMs(): number {
    this.#toldMs = this.#wheel.nextMs();
    return this.#toldMs;
  }

  /** Called when something is due before what nextMs() said last: who waits until then must ask anew. */
  onSooner(listener: () => void): void {
    this.#onSooner = listener;
  }

  /** Reports every planned check that is due, each once, and sets its next due time. @returns how many were due */
  advance(nowMs: number, onDue: OnDue): number {
    // The caller asks for the next time afterwards.
    this.#toldMs = Number.NEGATIVE_INFINITY;
    let due = 0;
    this.#wheel.advance(nowMs, (id) => {
      const planned = this.#byId(id);
      if (planned === undefined) return;
      due += 1;
      this.#take(planned, nowMs, onDue);
    });
    return due;
  }

  /** Sets its next due time, which replaces the one it had. */
  set(planned: PlannedCheck, atMs: number): void {
    this.clear(planned);
    planned.nextDueAtMs = atMs;
    this.#wheel.insert(planned.id, atMs);
    if (atMs >= this.#toldMs) return;
    this.#toldMs = atMs;
    this.#onSooner();
  }

  clear(planned: PlannedCheck): void {
    if (planned.nextDueAtMs === Number.POSITIVE_INFINITY) return;
    this.#wheel.remove(planned.id);
    planned.nextDueAtMs = Number.POSITIVE_INFINITY;
  }

  /** Sets the first due time of its phase after a time. */
  settle(planned: PlannedCheck, afterMs: number): void {
    this.set(planned, nextDue(afterMs, planned.intervalMs, planned.phaseMs));
  }

  /** Moves the next due time to a time, unless it is sooner already. */
  hasten(planned: PlannedCheck, atMs: number): void {
    if (atMs < planned.nextDueAtMs) this.set(planned, atMs);
  }

  /**
   * It was last checked by another scheduler or before a restart. Of the due times since then, the last is taken late if they
   * stopped no longer ago than `latestMs`; all others are counted.
   */
  resume(planned: PlannedCheck, lastAtMs: number, nowMs: number, latestMs: number): void {
    const { intervalMs, phaseMs } = planned;
    // The clock of who wrote it may be ahead: its time is not waited for.
    const dueAtMs = nextDue(Math.min(lastAtMs, nowMs), intervalMs, phaseMs);
    // The missed due times before this one are counted when it is taken.
    if (nowMs - dueAtMs <= latestMs) {
      this.set(planned, dueAtMs);
      return;
    }
    this.skip(planned, Math.floor((nowMs - dueAtMs) / intervalMs) + 1);
    this.settle(planned, nowMs);
  }

  /**
   * Its last check here began at a time, and its next holder goes on from there: due times up to then, which neither takes, are counted. The check
   * began that late because a checker was busy.
   */
  leave(planned: PlannedCheck, startedAtMs: number): void {
    const { nextDueAtMs, intervalMs } = planned;
    if (planned.spec === null || startedAtMs < nextDueAtMs) return;
    this.skip(planned, Math.floor((startedAtMs - nextDueAtMs) / intervalMs) + 1);
    this.clear(planned);
  }

  /** The clock was set: all due times are set again by phase, without a burst. */
  restart(all: Iterable<PlannedCheck>, nowMs: number): void {
    this.#wheel = createWheel(nowMs);
    this.#toldMs = Number.POSITIVE_INFINITY;
    for (const planned of all) {
      planned.nextDueAtMs = Number.POSITIVE_INFINITY;
      // A heartbeat's deadline was computed by the wrong clock.
      if (planned.spec === null) this.set(planned, nowMs + heartbeatPatienceMs(planned.monitor));
      else this.settle(planned, nowMs);
    }
  }

  /** Counts due times at which nothing ran. */
  skip(planned: PlannedCheck, count: number): void {
    if (count === 0) return;
    this.#skipped += count;
    this.#onSkipped(planned, count);
  }

  #take(planned: PlannedCheck, nowMs: number, onDue: OnDue): void {
    const dueAtMs = planned.nextDueAtMs;
    planned.nextDueAtMs = Number.POSITIVE_INFINITY;
    if (planned.spec === null) {
      onDue(planned, dueAtMs);
      return;
    }
    const { intervalMs, phaseMs } = planned;
    // One that was hastened is off its phase: a turn of the phase may have come since.
    const takenAtMs = Math.max(dueAtMs, nextDue(nowMs, intervalMs, phaseMs) - intervalMs);
    const late = Math.ceil((takenAtMs - dueAtMs) / intervalMs);
    const how = onDue(planned, takenAtMs);
    if (how === "left") {
      planned.nextDueAtMs = dueAtMs;
      return;
    }
    this.skip(planned, how === "taken" ? late : late + 1);
    this.settle(planned, nowMs);
  }
}
