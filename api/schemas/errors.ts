/** The standard error body and the usage limits' own (docs/api-contract.md#order-of-checks). */
import { z } from "zod";

const STANDARD = {
  error: z.literal(true),
  message: z.string().describe("What went wrong"),
};

const made = new Map<number, z.ZodType>();

/** The standard body of one status, `Error404`. */
export function errorOf(status: number): z.ZodType {
  const known = made.get(status);
  if (known !== undefined) return known;
  const schema = z
    .strictObject({
      ...STANDARD,
      code: z.literal(status).describe("The HTTP status, repeated"),
      details: z.unknown().optional().describe("More detail on some errors"),
      ...((status === 429 || status === 503) && { retry_after: z.int().optional().describe("Seconds") }),
    })
    .meta({ id: `Error${status}` });
  made.set(status, schema);
  return schema;
}

export const usageLimitError = z
  .strictObject({
    error: z.enum(["Rate limit exceeded", "Daily limit exceeded", "Monthly limit exceeded"]),
    message: z.string().meta({ examples: ["Per-minute limit of 60 requests exceeded"] }),
    retry_after: z
      .int()
      .optional()
      .describe("Seconds; absent for the month")
      .meta({ examples: [60] }),
  })
  .meta({ id: "UsageLimitError" });
