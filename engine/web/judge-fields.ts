/** How a website check's outcome is judged beside its status code: additions to the contract's fields, each with the message that refuses it. */
import { z } from "zod";
import { queryFault, regexFault } from "../text-judge/expressions.ts";

/** The longest timeout of a monitor is 120 s. */
const MOST_RESPONSE_MS = 120_000;
const RESPONSE_MESSAGE = `max_response_time must be a whole number of ms from 1 to ${MOST_RESPONSE_MS}, or null.`;

export const verifyCertificateField = z
  .boolean({ error: "verify_certificate must be true or false." })
  .default(true)
  .describe("Whether a certificate that is not valid for the host counts as down");

/** Characters: compiling it takes 60 ms of a processor at most (regex-steps.ts bounds what repetitions make of it). */
const MOST_EXPRESSION = 1_024;

function expressionField(field: string, faultOf: (text: string) => string | undefined) {
  const message = `${field} must be a text of 1 to ${MOST_EXPRESSION} characters, or null.`;
  return z
    .string({ error: message })
    .min(1, message)
    .max(MOST_EXPRESSION, message)
    .superRefine((text, context) => {
      const fault = text.length > MOST_EXPRESSION || text === "" ? undefined : faultOf(text);
      if (fault !== undefined) context.addIssue({ code: "custom", message: `${field}: ${fault}.`, input: text });
    })
    .nullable()
    .default(null);
}

const EXPECTED_MESSAGE = `json_expected must be a text of at most ${MOST_EXPRESSION} characters, or null.`;

export const judgeFields = {
  body_regex: expressionField("body_regex", regexFault).describe(
    "Regular expression (RE2 syntax) that the first MiB of the answer must match somewhere",
  ),
  json_query: expressionField("json_query", queryFault).describe(
    "Query (JSONata) of the answer's JSON; what it gives must be json_expected, or without it not be null, false or nothing",
  ),
  json_expected: z
    .string({ error: EXPECTED_MESSAGE })
    .max(MOST_EXPRESSION, EXPECTED_MESSAGE)
    .nullable()
    .default(null)
    .describe("What json_query must give: a text as it is, all else as JSON, such as 5, true or [1,2]"),
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

/** Rules between fields. */
export function checkJudgeFields(
  settings: JudgeSettings & { readonly method?: string | undefined },
  context: z.RefinementCtx,
): void {
  const { body_regex: regex, json_query: query, json_expected: expected, method } = settings;
  const refuse = (field: keyof JudgeSettings, message: string): void =>
    context.addIssue({ code: "custom", path: [field], message, input: settings[field] });
  if (typeof expected === "string" && typeof query !== "string")
    refuse("json_expected", "json_expected needs json_query.");
  if (method !== "HEAD") return;
  for (const [field, value] of [
    ["body_regex", regex],
    ["json_query", query],
  ] as const) {
    if (typeof value === "string") refuse(field, `${field} needs an answer with a text: method must not be HEAD.`);
  }
}

export interface JudgeSettings {
  readonly body_regex?: string | null;
  readonly json_query?: string | null;
  readonly json_expected?: string | null;
  readonly max_response_time?: number | null;
  readonly invert?: boolean;
  readonly verify_certificate?: boolean;
}
