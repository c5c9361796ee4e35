/** Path parameters for the document; handlers read them with pathId(). */
import { z } from "zod";

function idParam(prefix: string, what: string): z.ZodType {
  return z
    .string()
    .regex(new RegExp(`^(${prefix}_)?[0-9]+$`))
    .describe(`${what} id, \`${prefix}_<n>\` or \`<n>\``)
    .meta({ examples: [`${prefix}_12`] });
}

export const serverIdParams = { id: idParam("srv", "Monitor") };
export const incidentIdParams = { id: idParam("inc", "Incident") };
