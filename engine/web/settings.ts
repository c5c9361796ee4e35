/** What website and keyword checks share in the API: fields, defaults and the contract's messages. */

import { isIP } from "node:net";
import { z } from "zod";
import { withoutBrackets } from "../../model/url.ts";
import { parseWebUrl } from "../protocols/http/hop.ts";
import { isStatusCodeItem } from "../protocols/http/status-codes.ts";
import { checkJudgeFields, type JudgeSettings, judgeFields } from "./judge-fields.ts";
import { checkRequestFields, type RequestSettings, requestFields } from "./request-fields.ts";

/** docs/api-contract.md#uptime-fields. 0 is off and reads back as null (docs/api-contract.md#monitors). */
const EXPIRY_DAYS = [0, 1, 2, 3, 7, 14, 30, 60] as const;

const STATUS_CODES_MESSAGE =
  'accepted_statuscodes must be a list of codes or ranges from 100 to 599, such as "200-299".';

/** As many as there are codes: lists of monitors repeat them all. */
const MOST_STATUS_CODES = 500;

const url = z
  .string({ error: "Missing or invalid url" })
  .refine((text) => parseWebUrl(text) !== undefined, "Missing or invalid url")
  .describe("Address to request, http or https");

const acceptedStatusCodes = z
  .array(z.string({ error: STATUS_CODES_MESSAGE }).refine(isStatusCodeItem, STATUS_CODES_MESSAGE), {
    error: STATUS_CODES_MESSAGE,
  })
  .min(1, STATUS_CODES_MESSAGE)
  .max(MOST_STATUS_CODES, `accepted_statuscodes must have at most ${MOST_STATUS_CODES} codes and ranges.`)
  .default(["200-299"])
  .describe("Status codes or ranges that count as up");

const ipVersion = z
  .enum(["ipv4", "ipv6"], { error: "ip_version must be ipv4, ipv6 or null." })
  .nullable()
  .default(null)
  .describe("Address family to use; null for both");

/** What an expiry alert is set by. Undefined when omitted: the default depends on the project's other checks, which only the API knows. */
export function expiryDays(field: "ssl_expiration" | "domain_expiration", what: string) {
  return z
    .literal(EXPIRY_DAYS, { error: `${field} must be one of ${EXPIRY_DAYS.join(", ")} or null.` })
    .nullable()
    .transform((days) => (days === 0 ? null : days))
    .optional()
    .describe(`Days before ${what} expiry to alert; 0 or null is off`);
}

export const webFields = {
  url,
  accepted_statuscodes: acceptedStatusCodes,
  ip_version: ipVersion,
  ssl_expiration: expiryDays("ssl_expiration", "certificate"),
  domain_expiration: expiryDays("domain_expiration", "domain"),
  ...requestFields,
  ...judgeFields,
};

/** Additions with what each is where it says nothing. */
const STANDARDS: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.entries({ ...requestFields, ...judgeFields }).map(([field, schema]) => [field, schema.parse(undefined)]),
);
export const LATER_FIELDS: readonly string[] = Object.keys(STANDARDS);

/** Leaves out additions with their default: such settings stay readable by every version. */
function withoutStandards<Settings extends object>(settings: Settings): Settings {
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(settings))
    if (!Object.hasOwn(STANDARDS, field) || STANDARDS[field] !== value) kept[field] = value;
  return kept as Settings;
}

/** The whole schema of a kind of website check. @param fields webFields and the kind's own */
export function webSettings<Shape extends typeof webFields>(fields: Shape) {
  return z
    .object(fields)
    .superRefine((settings, context) => checkExpiryFields(settings as WebSettings, context))
    .superRefine((settings, context) => checkRequestFields(settings as WebSettings, context))
    .superRefine((settings, context) => checkJudgeFields(settings as WebSettings, context))
    .transform((settings) => withoutStandards(settings) as WebSettings);
}

export interface WebSettings extends RequestSettings, JudgeSettings {
  readonly url: string;
  readonly accepted_statuscodes: readonly string[];
  readonly ip_version: "ipv4" | "ipv6" | null;
  readonly ssl_expiration?: number | null | undefined;
  readonly domain_expiration?: number | null | undefined;
  readonly keyword?: string;
  readonly invert_keyword?: boolean;
}

/** Rules between fields: what an expiry alert needs of the address. */
function checkExpiryFields(settings: WebSettings, context: z.RefinementCtx): void {
  if (typeof settings.ssl_expiration !== "number" && typeof settings.domain_expiration !== "number") return;
  const target = parseWebUrl(settings.url);
  if (target === undefined) return;
  if (typeof settings.ssl_expiration === "number" && target.protocol !== "https:") {
    refuse("ssl_expiration", "ssl_expiration needs an https URL.");
  }
  // docs/api-contract.md#order-of-checks.
  if (typeof settings.domain_expiration === "number" && isIP(withoutBrackets(target.hostname)) !== 0) {
    refuse("domain_expiration", "domain_expiration needs a domain name.");
  }

  function refuse(field: keyof WebSettings, message: string): void {
    context.addIssue({ code: "custom", path: [field], message, input: settings[field] });
  }
}
