/** How a website check's outcome is judged beside its status code: additions to the contract's fields, each with the message that refuses it. */
import { z } from "zod";

/** The longest timeout of a monitor is 120 s. */
const MOST_RESPONSE_MS = 120_000;
const RESPONSE_MESSAGE = `max_response_time must be a whole number of ms from 1 to ${MOST_RESPONSE_MS}, or null.`;

export const verifyCertificateField = z
  .boolean({ error: "verify_certificate must be true or false." })
  .default(true)
  .describe("Whether a certificate that is not valid for the host counts as down");

export const judgeFields = {
  verify_certificate: verifyCertificateField,
  max_response_time: z
    .int({ error: RESPONSE_MESSAGE })
    .min(1, RESPONSE_MESSAGE)
    .max(MOST_RESPONSE_MS, RESPONSE_MESSAGE)
    .nullable()
    .default(null)
    .describe("Milliseconds; an answer that takes longer makes the check degraded. null: none does"),
  invert: z
    .boolean({ error: "invert must be true or false." })
    .nullable()
    .default(false)
    .transform((inverts) => inverts ?? false)
    .describe("True: the check passes when the website fails, and is down when it works"),
};

export interface JudgeSettings {
  readonly max_response_time?: number | null;
  readonly invert?: boolean;
  readonly verify_certificate?: boolean;
}
