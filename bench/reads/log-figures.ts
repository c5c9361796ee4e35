/** What the target's log tells of checks in a window: how many came, and how late. Pure. */
import { percentile } from "../statistics.ts";

export interface LogFigures {
  /** Of those that were due. */
  readonly doneShare: number;
  readonly lateP50Ms: number;
  readonly lateP99Ms: number;
}

/** Numbers of one entry: monitor, received and answered (Unix ms), status. */
const FIELDS = 4;

/**
 * A monitor's checks come at a phase of its own within the interval: its earliest within the whole log is taken for it, and what came after
 * the phase is late by that much.
 */
export function logFigures(
  log: Float64Array,
  { monitors, intervalMs, fromMs, toMs }: { monitors: number; intervalMs: number; fromMs: number; toMs: number },
): LogFigures {
  const phases = phasesOf(log, monitors, intervalMs);
  const lateMs: number[] = [];
  for (let at = 0; at < log.length; at += FIELDS) {
    const receivedAtMs = log[at + 1] ?? 0;
    const phaseMs = phases[log[at] ?? 0] ?? 0;
    if (receivedAtMs < fromMs || receivedAtMs >= toMs) continue;
    // Some ms early: the clock of a phase is not exact.
    lateMs.push(Math.max(0, (((receivedAtMs - phaseMs + EARLY_MS) % intervalMs) + intervalMs) % intervalMs) - EARLY_MS);
  }
  const due = (monitors * (toMs - fromMs)) / intervalMs;
  return { doneShare: lateMs.length / due, lateP50Ms: percentile(lateMs, 0.5), lateP99Ms: percentile(lateMs, 0.99) };
}

const EARLY_MS = 20;
/** A monitor's first checks, when it was created, come at any time; they would be taken for its phase while the log is short. */
const FIRST_CHECKS = 3;
/** Of the others this share may be earlier than the phase. */
const EARLIER_SHARE = 0.05;

function phasesOf(log: Float64Array, monitors: number, intervalMs: number): readonly number[] {
  const times: number[][] = Array.from({ length: monitors }, () => []);
  for (let at = 0; at < log.length; at += FIELDS) times[log[at] ?? 0]?.push(log[at + 1] ?? 0);
  return times.map((received) => {
    // Behind the widest gap on the circle of the interval no check comes: the phase is where they begin.
    const around = received
      .slice(received.length > 2 * FIRST_CHECKS ? FIRST_CHECKS : 0)
      .map((ms) => ms % intervalMs)
      .sort((a, b) => a - b);
    let widest = intervalMs - (around.at(-1) ?? 0) + (around[0] ?? 0);
    let start = 0;
    for (let at = 1; at < around.length; at++) {
      const gap = (around[at] ?? 0) - (around[at - 1] ?? 0);
      if (gap <= widest) continue;
      widest = gap;
      start = at;
    }
    const turned = [...around.slice(start), ...around.slice(0, start)];
    return turned[Math.floor(turned.length * EARLIER_SHARE)] ?? 0;
  });
}
