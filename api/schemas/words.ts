/** What the shapes of all groups are made of: ids, times, lists of words, the actor. */
import { z } from "zod";
import { UPTIME_KINDS } from "../../engine/contract/registry.ts";
import { TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import { ERROR_CATEGORIES } from "../../model/verdict.ts";

export const MONITOR_TYPES = ["vpn", ...UPTIME_KINDS] as const;
export const PROTOCOLS = [...TUNNEL_PROTOCOLS, ...UPTIME_KINDS] as const;

export const utc = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  .describe("YYYY-MM-DD HH:MM:SS, UTC, no zone marker")
  .meta({ examples: ["2026-11-21 06:10:00"] });
export const iso = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .describe("ISO 8601, UTC, with milliseconds")
  .meta({ examples: ["2026-11-21T06:10:00.000Z"] });
export const wholeOrNull = z.int().nullable();
export const total = z.int().min(0);

/** A number with the prefix of its kind. */
export function id(prefix: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}[0-9]+$`))
    .meta({ examples: [`${prefix}12`] });
}

/** Of answers to POST and PUT; reads have the header X-Sonde-Warning. */
export const warnings = z
  .array(z.string())
  .min(1)
  .optional()
  .describe("Only in answers to POST and PUT, and only where something that was sent is ignored: what it was")
  .meta({ examples: [['unknown field "intervall" was ignored; did you mean "interval"?']] });

export const errorCategory = z.enum(ERROR_CATEGORIES);

export const actor = z
  .strictObject({
    type: z.enum(["user", "system"]),
    id: wholeOrNull,
    name: z.string().nullable(),
    via: z.enum(["api", "dashboard", "system"]),
    key_id: wholeOrNull,
  })
  .meta({ id: "Actor" });
