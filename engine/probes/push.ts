/**
 * Heartbeats (push): nothing is sent, so there is no probe. The job calls us, and the scheduler judges its calls and its silence
 * (docs/decisions/0006-stores.md); here are only the kind's own settings.
 */
import { z } from "zod";
import { defaultGraceS, GRACE_S, PERIOD_S } from "../../model/schedule.ts";
import { definePassive } from "../contract/kind.ts";
import { refusalOf } from "./target-fields.ts";

const wholeSecondsOf = ({ least, most }: { readonly least: number; readonly most: number }): string =>
  `must be a whole number of seconds from ${least} to ${most}`;
const periodError = refusalOf("period", wholeSecondsOf(PERIOD_S));
const graceError = refusalOf("grace", wholeSecondsOf(GRACE_S));

const period = z
  .int({ error: periodError })
  .min(PERIOD_S.least, { error: periodError })
  .max(PERIOD_S.most, { error: periodError })
  .describe("Seconds, the longest time between two calls from the job");

const grace = z
  .int({ error: graceError })
  .min(GRACE_S.least, { error: graceError })
  .max(GRACE_S.most, { error: graceError })
  .describe("Seconds a call may be late before the heartbeat is down");

/** A heartbeat: the job calls the address in the API's answer, and is down when no call comes. */
export const push = definePassive({
  kind: "push",
  summary: "Heartbeat: waits for calls from a job, and is down when they stay away",
  settings: z
    .object({ period, grace: grace.optional() }, { error: "Missing or invalid period" })
    .transform((fields) => ({ period: fields.period, grace: fields.grace ?? defaultGraceS(fields.period) })),
  example: { period: 86_400, grace: 3_600 },
});
