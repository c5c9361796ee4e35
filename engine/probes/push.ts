/**
 * Heartbeats (push): nothing is sent, so there is no probe. The job calls us, and the scheduler judges its calls and its silence
 * (design 3.6); here are only the kind's own settings.
 */
import { z } from "zod";

/** Seconds (contract: Update monitor, "period" and "grace"). */
const SHORTEST_PERIOD_S = 60;
const LONGEST_PERIOD_S = 604_800;
const LONGEST_GRACE_S = 604_800;
/** Default grace: a fifth of the period, at least a minute (open-points 3.2). */
const GRACE_SHARE = 0.2;
const SHORTEST_DEFAULT_GRACE_S = 60;

const period = z
  .int({ error: "Missing or invalid period" })
  .min(SHORTEST_PERIOD_S, { error: "Missing or invalid period" })
  .max(LONGEST_PERIOD_S, { error: "Missing or invalid period" })
  .describe("Seconds, the longest time between two calls from the job");

const grace = z
  .int({ error: "Missing or invalid grace" })
  .min(0, { error: "Missing or invalid grace" })
  .max(LONGEST_GRACE_S, { error: "Missing or invalid grace" })
  .describe("Seconds a call may be late before the heartbeat is down");

export const pushSettings = z
  .object({ period, grace: grace.optional() }, { error: "Missing or invalid period" })
  .transform((given) => ({ period: given.period, grace: given.grace ?? defaultGraceS(given.period) }));

export type PushSettings = z.output<typeof pushSettings>;

export function defaultGraceS(periodS: number): number {
  return Math.max(SHORTEST_DEFAULT_GRACE_S, Math.round(periodS * GRACE_SHARE));
}
