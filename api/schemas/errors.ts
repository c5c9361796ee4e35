/** The standard error body and the usage limits' own (contract "Errors"). */
import { z } from "zod";

export const error = z
  .strictObject({
    error: z.literal(true),
    code: z.int(),
    message: z.string(),
    details: z.unknown().optional(),
    retry_after: z.int().optional(),
  })
  .meta({ id: "Error" });
export const usageLimitError = z
  .strictObject({
    error: z.enum(["Rate limit exceeded", "Daily limit exceeded", "Monthly limit exceeded"]),
    message: z.string(),
    retry_after: z.int().optional(),
  })
  .meta({ id: "UsageLimitError" });
