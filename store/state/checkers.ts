/**
 * Which checkers there are, and where: every checker reports, and processes that need checkers read the reports. One that reported within
 * the last minute is healthy (docs/api-contract.md#regions) unless its clock is off (docs/decisions/0007-roles-and-shards.md).
 */
export interface CheckerReport extends CheckerState {
  readonly location: string;
  /** New at each start: what runs are sent to. */
  readonly id: string;
  /** The machine's, for people. */
  readonly name: string;
  readonly version: string;
  /** By Redis's clock, Unix ms. */
  readonly atMs: number;
  /** Its clock minus Redis's, ms. */
  readonly clockOffsetMs: number;
}

/** What a checker reports about itself. */
export interface CheckerState {
  /** Checks it runs at the same time, and how many run now. */
  readonly room: number;
  readonly inFlight: number;
  /** Whether it trusts its measurements. */
  readonly isFit: boolean;
  /** Why not, for people; empty when fit. */
  readonly reasons: readonly string[];
  /** It is stopping: it takes no more runs. */
  readonly isLeaving: boolean;
}

/** docs/decisions/0007-roles-and-shards.md. */
export const REPORT_EVERY_MS = 20_000;
export const HEALTHY_FOR_MS = 60_000;
export const CLOCK_OFF_MS = 2_000;

/** Whether it counts among those of its location: one that restarts is away for seconds, which makes no location unavailable. */
export function isStaff({ atMs, clockOffsetMs }: CheckerReport, nowMs: number, redisAheadMs = 0): boolean {
  return nowMs - atMs <= HEALTHY_FOR_MS && Math.abs(clockOffsetMs + redisAheadMs) <= CLOCK_OFF_MS;
}

/** @param nowMs by Redis's clock @param redisAheadMs that clock minus the right one */
export function isHealthy(report: CheckerReport, nowMs: number, redisAheadMs = 0): boolean {
  return !report.isLeaving && isStaff(report, nowMs, redisAheadMs);
}

/** Reads the reports again and again; answers from memory. */
export interface CheckerWatch {
  /** The healthy checkers of the locations that were asked for. */
  healthy(): readonly CheckerReport[];
  /** All that have reported within minutes, also those that get no runs: their clock is off, or they are leaving. */
  known(): readonly CheckerReport[];
  /** Locations that had a healthy checker within the last minute. */
  staffed(): ReadonlySet<string>;
  /** Our wall clock minus Redis's, as far as it is known, ms. */
  clockOffsetMs(): number;
  close(): Promise<void>;
}

export interface CheckerWatchOptions {
  readonly locations: () => readonly string[];
  /** After a look that found other healthy checkers or staffed locations than the one before. */
  readonly onChange?: () => void;
  /** Redis's clock minus the right one, ms: a checker whose clock is right must not count as off because Redis's is. Absent: it is right. */
  readonly redisAheadMs?: () => number;
  /** Called with the number of invalid reports of a location's checkers. */
  readonly onRefused: (location: string, count: number, reason: string) => void;
}
