/** Makes windows of maintenance from schedules: of the turn that is on, and of the one that begins within the hour. */
import type { MaintenanceSchedule, Schedules } from "./schedules-port.ts";
import { Turns } from "./turns.ts";

/** A monitor that is tagged later than that still gets its window: the next look makes it. */
const AHEAD_MS = 3_600_000;
/** Monitors in one transaction, so that no other writer waits for long. */
const AT_ONCE = 200;
/** As long as days are shown (docs/api-contract.md#days), and a month. */
const KEPT_MS = 400 * 86_400_000;
const FORGOTTEN_AT_ONCE = 1_000;

/** @returns how many windows were made or moved up */
export async function makeWindows(
  schedules: Schedules,
  of: readonly MaintenanceSchedule[],
  nowMs: number,
): Promise<number> {
  let changed = 0;
  for (const schedule of of) {
    const turns = new Turns(schedule);
    const [current, next] = [turns.at(nowMs), turns.after(nowMs)];
    for (const turn of [current, next]) {
      if (turn === null || turn.fromMs > nowMs + AHEAD_MS || turn.fromMs < (schedule.endedUntilMs ?? 0)) continue;
      changed += await allOf((limit) => schedules.make(schedule, turn, limit, nowMs));
    }
  }
  return changed;
}

/** One pass over all schedules. @param onError called with a schedule that cannot be used */
export async function keepWindows(
  schedules: Schedules,
  nowMs: number,
  onError: (error: unknown, scheduleId: number) => void,
): Promise<number> {
  let changed = 0;
  for (const schedule of await schedules.current(nowMs)) {
    try {
      changed += await makeWindows(schedules, [schedule], nowMs);
    } catch (error) {
      onError(error, schedule.id);
    }
  }
  changed += await allOf((limit) => schedules.settleNext(limit, nowMs));
  await schedules.forget(nowMs - KEPT_MS, FORGOTTEN_AT_ONCE);
  return changed;
}

async function allOf(step: (limit: number) => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const done = await step(AT_ONCE);
    total += done;
    if (done < AT_ONCE) return total;
  }
}
