/** Fields that checks of every kind share: schemas that validate and document, with the contract's messages. */
import { z } from "zod";
import { INTERVAL_S, RETRIES, TIMEOUT_S } from "../../model/schedule.ts";
import { fieldOf, type JsonObject } from "../body.ts";
import { badRequest } from "../errors.ts";

/** Code points (docs/api-contract.md#lengths). */
const MAX_NAME = 255;
const MAX_TAGS = 20;
const MAX_TAG = 50;
/** With duplicates, which are dropped. */
const MAX_SENT_TAGS = 1_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what is looked for; neither database keeps it in a text
const NUL = /\u0000/;

export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

const nameError = "Missing or invalid name";
const tagsError = `tags must be an array of at most ${MAX_TAGS} texts of 1 to ${MAX_TAG} characters.`;
const intervalError = `interval must be a whole number from ${INTERVAL_S.least} to ${INTERVAL_S.most}.`;
const timeoutError = `timeout must be a whole number from ${TIMEOUT_S.least} to ${TIMEOUT_S.most}.`;
const retriesError = `maxretries must be a whole number from ${RETRIES.least} to ${RETRIES.most}.`;

const tag = z
  .string({ error: tagsError })
  .trim()
  .toLowerCase()
  .refine((text) => text !== "" && codePoints(text) <= MAX_TAG && !NUL.test(text), { error: tagsError });

export const nameField = z
  .string({ error: nameError })
  .trim()
  .refine((text) => text !== "" && codePoints(text) <= MAX_NAME && !NUL.test(text), { error: nameError })
  .describe(`1 to ${MAX_NAME} characters after trimming`);

export const commonFields = {
  interval: z
    .int({ error: intervalError })
    .min(INTERVAL_S.least, { error: intervalError })
    .max(INTERVAL_S.most, { error: intervalError })
    .describe("Seconds; not below the plan's shortest. Default: 180, or the plan's shortest if longer"),
  timeout: z
    .int({ error: timeoutError })
    .refine((value) => value === 0 || (value >= TIMEOUT_S.least && value <= TIMEOUT_S.most), { error: timeoutError })
    .describe(
      `Seconds a request may take, ${TIMEOUT_S.least} to ${TIMEOUT_S.most}; 0 or omitted is ${TIMEOUT_S.standard}`,
    ),
  timeout_follows_interval: z
    .boolean({ error: "timeout_follows_interval must be true or false." })
    .describe(
      `Addition: a check may take as long as the interval is, ${TIMEOUT_S.least} seconds at least and ${TIMEOUT_S.most} at most, whatever timeout says. Default: false`,
    ),
  maxretries: z
    .int({ error: retriesError })
    .min(0, { error: retriesError })
    .max(RETRIES.most, { error: retriesError })
    .describe(`Failed checks in a row before the check is down; 0 or omitted is ${RETRIES.standard}`),
  tags: z
    .array(tag, { error: tagsError })
    .max(MAX_SENT_TAGS, { error: tagsError })
    .refine((tags) => new Set(tags).size <= MAX_TAGS, { error: tagsError })
    .describe("Saved lowercase, duplicates dropped"),
  active: z.boolean({ error: "active must be true or false." }).describe("false is paused"),
} as const;

/** Reads one field if it was sent. @throws 400 with the schema's message */
export function readField<T>(body: JsonObject, field: string, schema: z.ZodType<T>): T | undefined {
  const value = fieldOf(body, field);
  if (value === undefined) return undefined;
  return parsed(schema, value, `Missing or invalid ${field}`);
}

export function parsed<T>(schema: z.ZodType<T>, value: unknown, otherwise: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw badRequest(result.error.issues[0]?.message ?? otherwise);
}

export interface CommonFields {
  readonly name?: string;
  readonly intervalS?: number;
  readonly timeoutS?: number;
  readonly timeoutFollowsInterval?: boolean;
  readonly maxRetries?: number;
  readonly tags?: readonly string[];
}

/** What was sent of them, with 0 read as the default. */
export function readCommon(body: JsonObject): CommonFields {
  const name = readField(body, "name", nameField);
  const intervalS = readField(body, "interval", commonFields.interval);
  const timeoutS = readField(body, "timeout", commonFields.timeout);
  const timeoutFollowsInterval = readField(body, "timeout_follows_interval", commonFields.timeout_follows_interval);
  const maxRetries = readField(body, "maxretries", commonFields.maxretries);
  const tags = readField(body, "tags", commonFields.tags);
  return {
    ...(name !== undefined && { name }),
    ...(intervalS !== undefined && { intervalS }),
    ...(timeoutS !== undefined && { timeoutS: timeoutS === 0 ? TIMEOUT_S.standard : timeoutS }),
    ...(timeoutFollowsInterval !== undefined && { timeoutFollowsInterval }),
    ...(maxRetries !== undefined && { maxRetries: maxRetries === 0 ? RETRIES.standard : maxRetries }),
    ...(tags !== undefined && { tags: [...new Set(tags)] }),
  };
}

export const DEFAULTS = { timeoutS: TIMEOUT_S.standard, maxRetries: RETRIES.standard } as const;

/** NUL in any text of the body's own fields: no field has a use for it. */
export function hasNul(value: unknown): boolean {
  if (typeof value === "string") return NUL.test(value);
  return typeof value === "object" && value !== null && Object.values(value).some(hasNul);
}
