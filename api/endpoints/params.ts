/** Path parameters for the document; handlers read them with pathId(). */
import { z } from "zod";
import { parseId } from "../../model/ids.ts";
import { refusal, wordsOf } from "../errors.ts";
import type { QueryParameter } from "../query.ts";

function idParam(prefix: string, what: string): z.ZodType {
  return z
    .string()
    .regex(new RegExp(`^(${prefix}_)?[0-9]+$`))
    .describe(`${what} id, \`${prefix}_<n>\` or \`<n>\``)
    .meta({ examples: [`${prefix}_12`] });
}

/** Of what has plain numbers. */
function numberParam(what: string, example: string): z.ZodType {
  return z
    .string()
    .regex(/^[0-9]+$/)
    .describe(`${what} id`)
    .meta({ examples: [example] });
}

export const keyIdParams = { id: numberParam("Key", "31") };
export const webhookIdParams = { id: numberParam("Webhook", "3") };
export const userIdParams = { id: numberParam("User", "7") };
export const organizationIdParams = { id: numberParam("Workspace", "3") };

export function organizationParameter(description: string): QueryParameter<number | null> {
  return {
    schema: z.int().min(1).optional().describe(description),
    refusal: wordsOf("invalidOrganizationId")[1],
    read(text) {
      if (text === "") return null;
      const id = parseId("organization", text);
      if (id === undefined) throw refusal("invalidOrganizationId");
      return id;
    },
  };
}

export const serverIdParams = { id: idParam("srv", "Monitor") };
export const incidentIdParams = { id: idParam("inc", "Incident") };
export const noteIdParams = { ...incidentIdParams, note: idParam("evt", "Note") };
export const maintenanceIdParams = { id: idParam("mnt", "Maintenance") };
export const viewIdParams = { id: idParam("viw", "View") };
export const channelIdParams = { id: idParam("ch", "Channel") };
export const statusPageIdParams = { id: idParam("spg", "Status page") };
export const pageUpdateIdParams = { ...statusPageIdParams, update: idParam("spu", "Update") };
export const subscriptionIdParams = { id: idParam("sub", "Subscription") };
