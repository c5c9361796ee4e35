/** One letter for each status, for answers that have thousands of them. Pure. */
import type { MonitorStatus } from "./status.ts";

export const STATUS_LETTERS = {
  healthy: "h",
  down: "d",
  degraded: "g",
  partial: "p",
  paused: "z",
  unknown: "u",
} as const satisfies Record<MonitorStatus, string>;

/** Shown instead of the status while a monitor that is not paused is in maintenance. */
export const MAINTENANCE_LETTER = "m";

export type StatusLetter = (typeof STATUS_LETTERS)[MonitorStatus] | typeof MAINTENANCE_LETTER;
