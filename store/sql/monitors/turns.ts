/** When the turns of a maintenance schedule are. Local time is kept when clocks change; a time that does not exist on such a day is the change itself. */
import { Cron } from "croner";
import type { PlannedTurns, Turn } from "../../../model/maintenance-schedule.ts";

const MINUTE_MS = 60_000;
const ZONE = /^[A-Za-z][A-Za-z0-9_+-]{0,30}(?:\/[A-Za-z0-9_+-]{1,30}){0,2}$/;
/** Turns that are compared with the next one, when a pattern is looked at. */
const LOOKED_AT = 50;

/** Our choice: 29 February comes within eight years, and a pattern that comes more rarely takes milliseconds each time that it is looked at. */
const LONGEST_WAIT_MS = 10 * 366 * 86_400_000;

/** What is wrong, as a sentence for the one who sent it. */
export class ScheduleError extends Error {
  override readonly name = "ScheduleError";
}

export class Turns {
  readonly #planned: PlannedTurns;
  /** null: there is one turn. */
  readonly #cron: Cron | null;
  readonly #dayFormat: Intl.DateTimeFormat;

  /** @throws ScheduleError */
  constructor(planned: PlannedTurns) {
    this.#planned = planned;
    const { schedule, timezone } = planned;
    this.#dayFormat = dayFormatOf(timezone);
    this.#cron = schedule.type === "once" ? null : cronOf(patternOf(schedule), planned);
  }

  /** The turn that is on then; null: none is. */
  at(atMs: number): Turn | null {
    const { schedule } = this.#planned;
    if (schedule.type === "once") {
      const turn = { fromMs: schedule.startsAtMs, untilMs: schedule.endsAtMs };
      return turn.fromMs <= atMs && atMs < turn.untilMs ? turn : null;
    }
    const lengthMs = schedule.minutes * MINUTE_MS;
    // Forward from where it began at the earliest: backward, a pattern that is rare or never comes is looked for through centuries.
    let [found, next] = [null as number | null, this.#startAfter(atMs - lengthMs)];
    for (let count = 0; next !== null && next <= atMs && count < LOOKED_AT; count++) {
      found = next;
      next = this.#startAfter(next);
    }
    return found !== null && this.#isWithinDays(found) ? { fromMs: found, untilMs: found + lengthMs } : null;
  }

  /** The first turn that begins after then; null: none does. */
  after(atMs: number): Turn | null {
    const { schedule } = this.#planned;
    if (schedule.type === "once")
      return schedule.startsAtMs > atMs ? { fromMs: schedule.startsAtMs, untilMs: schedule.endsAtMs } : null;
    const fromMs = this.#startAfter(atMs);
    if (fromMs === null || !this.#isWithinDays(fromMs)) return null;
    return { fromMs, untilMs: fromMs + schedule.minutes * MINUTE_MS };
  }

  #startAfter(atMs: number): number | null {
    return this.#cron?.nextRun(new Date(atMs))?.getTime() ?? null;
  }

  /** @throws ScheduleError when a turn begins before the one before it has ended, or none comes for years */
  refuseUseless(nowMs: number): void {
    // Asked once where the pattern never comes, because that answer takes longest.
    const isNever = this.#cron !== null && this.#startAfter(nowMs) === null;
    let turn = isNever ? null : this.after(nowMs);
    if (isNever || (turn === null && this.at(nowMs) === null))
      throw new ScheduleError("The schedule has no turn that is still to come.");
    if (this.#cron === null) return;
    if (turn !== null && turn.fromMs > nowMs + LONGEST_WAIT_MS)
      throw new ScheduleError("The schedule has no turn in the next ten years.");
    for (let count = 0; turn !== null && count < LOOKED_AT; count++) {
      const next = this.after(turn.fromMs);
      if (next !== null && next.fromMs < turn.untilMs)
        throw new ScheduleError(
          "A turn of the schedule begins before the one before it has ended: send fewer minutes.",
        );
      turn = next;
    }
  }

  #isWithinDays(atMs: number): boolean {
    const { startsOn, endsOn } = this.#planned;
    if (startsOn === null && endsOn === null) return true;
    const day = this.#dayFormat.format(atMs);
    return (startsOn === null || day >= startsOn) && (endsOn === null || day <= endsOn);
  }
}

/** YYYY-MM-DD in the zone. @throws ScheduleError */
function dayFormatOf(timezone: string): Intl.DateTimeFormat {
  try {
    if (!ZONE.test(timezone)) throw new RangeError(timezone);
    return new Intl.DateTimeFormat("en-CA", { timeZone: timezone, year: "numeric", month: "2-digit", day: "2-digit" });
  } catch {
    throw new ScheduleError("timezone must be a name of the IANA database, such as Europe/Berlin.");
  }
}

function patternOf(schedule: Exclude<PlannedTurns["schedule"], { type: "once" }>): string {
  if (schedule.type === "cron") return schedule.cron;
  const [hour, minute] = schedule.from.split(":").map(Number);
  return `${minute} ${hour} * * ${schedule.days.join(",")}`;
}

function cronOf(pattern: string, { timezone, startsOn }: PlannedTurns): Cron {
  try {
    // The second before the day: a turn at its midnight belongs to it.
    const startAt = startsOn === null ? {} : { startAt: `${dayBefore(startsOn)}T23:59:59` };
    // Where clocks go back, what names its hours and minutes runs once, as with Debian's cron; `*` and steps run on.
    return new Cron(pattern, { timezone, paused: true, mode: "5-part", fixedTimeRule: "no-wildcard", ...startAt });
  } catch {
    throw new ScheduleError("schedule.cron is no pattern that can be read.");
  }
}

function dayBefore(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
}
