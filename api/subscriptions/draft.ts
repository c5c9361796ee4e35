/** A subscription's body, new or changed: schemas that validate and document, with the contract's messages (docs/api-contract.md#subscriptions). */

import { z } from "zod";
import { webUrlFault } from "../../engine/contract/registry.ts";
import { refuseInterval } from "../../model/schedule.ts";
import {
  CONFIG_ALERT_PERCENT,
  defaultSyncIntervalS,
  normalUrl,
  SERVER_TIMEOUT_S,
  SYNC_INTERVAL_S,
  WORKERS,
} from "../../model/subscription.ts";
import { parseUrl, withoutBrackets } from "../../model/url.ts";
import type { NewSubscription, SubscriptionRecord } from "../../store/sql/subscriptions/port.ts";
import { fieldOf, type JsonObject } from "../body.ts";
import { badRequest, fieldTooLong, forbidden, refusal } from "../errors.ts";
import { codePoints, hasNul, readField } from "../monitors/every-kind.ts";
import type { Target } from "../monitors/targets.ts";
import type { ProjectCall } from "../route.ts";

/** Bytes of UTF-8 (docs/api-contract.md#lengths). */
const MAX_URL_BYTES = 8_192;
/** Code points. */
const MAX_NAME = 255;
const nameError = `name must be a text of at most ${MAX_NAME} characters, or null.`;

interface Range {
  readonly least: number;
  readonly most: number;
}

function wholeNumber(field: string, { least, most }: Range, description: string) {
  const error = `${field} must be a whole number from ${least} to ${most}.`;
  return z.int({ error }).min(least, { error }).max(most, { error }).describe(description);
}

const fields = {
  url: z.string().describe("http or https, a public address, used by no other subscription of the project"),
  name: z
    .string({ error: nameError })
    .trim()
    .refine((text) => codePoints(text) <= MAX_NAME && !hasNul(text), { error: nameError })
    .nullable()
    .describe("null is none"),
  syncIntervalSec: wholeNumber(
    "syncIntervalSec",
    SYNC_INTERVAL_S,
    "Seconds between syncs, and the check interval of its monitors; not below the plan's shortest. Default 300, or that if longer",
  ),
  timeoutSeconds: wholeNumber(
    "timeoutSeconds",
    SERVER_TIMEOUT_S,
    `Seconds each server's test may take. Default ${SERVER_TIMEOUT_S.standard}`,
  ),
  maxWorkers: wholeNumber("maxWorkers", WORKERS, `Servers tested at the same time. Default ${WORKERS.standard}`),
  configAlertPercent: wholeNumber(
    "configAlertPercent",
    CONFIG_ALERT_PERCENT,
    `Percent; a monitor of several configs alerts when a smaller share of them works, 0 is never. Default ${CONFIG_ALERT_PERCENT.standard}`,
  ),
  enabled: z.boolean().describe("The string `false` counts as true"),
} as const;

export const createBody = z
  .object({
    url: fields.url,
    name: fields.name.optional(),
    syncIntervalSec: fields.syncIntervalSec.optional(),
    timeoutSeconds: fields.timeoutSeconds.optional(),
    maxWorkers: fields.maxWorkers.optional(),
    configAlertPercent: fields.configAlertPercent.optional(),
    enabled: fields.enabled.optional(),
  })
  .meta({ id: "CreateSubscription" });

export const updateBody = createBody.partial().meta({ id: "UpdateSubscription" });

export interface SubscriptionUrl {
  readonly text: string;
  /** What it is compared by. */
  readonly normal: string;
  /** What a fetch dials first. */
  readonly target: Target;
}

export interface SubscriptionDraft {
  readonly url?: SubscriptionUrl;
  readonly name?: string | null;
  readonly syncIntervalS?: number;
  readonly timeoutS?: number;
  readonly maxWorkers?: number;
  readonly configAlertPercent?: number;
  readonly enabled?: boolean;
}

/** What was sent. @throws 400 or 413 */
export function readDraft(body: JsonObject): SubscriptionDraft {
  const url = urlOf(fieldOf(body, "url"));
  const name = readField(body, "name", fields.name);
  const syncIntervalS = readField(body, "syncIntervalSec", fields.syncIntervalSec);
  const timeoutS = readField(body, "timeoutSeconds", fields.timeoutSeconds);
  const maxWorkers = readField(body, "maxWorkers", fields.maxWorkers);
  const configAlertPercent = readField(body, "configAlertPercent", fields.configAlertPercent);
  const enabled = fieldOf(body, "enabled");
  return {
    ...(url !== undefined && { url }),
    ...(name !== undefined && { name: name === "" ? null : name }),
    ...(syncIntervalS !== undefined && { syncIntervalS }),
    ...(timeoutS !== undefined && { timeoutS }),
    ...(maxWorkers !== undefined && { maxWorkers }),
    ...(configAlertPercent !== undefined && { configAlertPercent }),
    // The JSON value false is the only no (docs/api-contract.md#subscriptions).
    ...(enabled !== undefined && enabled !== null && { enabled: enabled !== false }),
  };
}

function urlOf(value: unknown): SubscriptionUrl | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || hasNul(value)) throw refusal("urlInvalid");
  const size = Buffer.byteLength(value);
  if (size > MAX_URL_BYTES) throw fieldTooLong("url", MAX_URL_BYTES, size);
  const text = value.trim();
  const fault = webUrlFault(text);
  if (fault !== undefined) throw badRequest(`Missing or invalid url: ${fault}.`);
  const normal = normalUrl(text);
  const url = parseUrl(text);
  if (normal === undefined || url === undefined) throw refusal("urlInvalid");
  const { hostname, port, protocol } = url;
  const host = withoutBrackets(hostname.toLowerCase());
  return { text, normal, target: { host, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) } };
}

/** @param now undefined: a new one. @throws 403 when the plan or the workspace does not allow what was sent */
export function refuseByPlan(call: ProjectCall, draft: SubscriptionDraft, now: SubscriptionRecord | undefined): void {
  // Its monitors would be resumed.
  const isSwitchedOn = now === undefined || (draft.enabled === true && !now.enabled);
  if (isSwitchedOn && call.workspace.suspended) throw refusal("noMonitorsOnPlan");
  const tooShort = draft.syncIntervalS === undefined ? undefined : refuseInterval(draft.syncIntervalS, call.plan);
  if (tooShort !== undefined) throw forbidden(tooShort);
}

/** A new one, with the standards for what was not sent. */
export function newSubscription(
  call: ProjectCall,
  draft: SubscriptionDraft,
  others: Pick<NewSubscription, "name" | "urlSealed" | "urlHash">,
): NewSubscription {
  return {
    ...others,
    projectId: call.project.id,
    organizationId: call.project.organizationId,
    syncIntervalS: draft.syncIntervalS ?? defaultSyncIntervalS(call.plan),
    timeoutS: draft.timeoutS ?? SERVER_TIMEOUT_S.standard,
    maxWorkers: draft.maxWorkers ?? WORKERS.standard,
    configAlertPercent: draft.configAlertPercent ?? CONFIG_ALERT_PERCENT.standard,
    enabled: draft.enabled ?? true,
    nowMs: call.nowMs,
  };
}

/** @throws 400: the contract's answer where monitors answer 422 (docs/api-contract.md#addresses) */
export function refuseTarget(reason: string | undefined): void {
  if (reason !== undefined) throw badRequest(`url must reach a public address: ${reason}.`);
}
