/** What a bulk act wants of each monitor, and why some stay as they are (docs/api-contract.md#many-at-once). */
import { z } from "zod";
import { isPassive } from "../../model/kind.ts";
import { TIMEOUT_S } from "../../model/schedule.ts";
import type { MonitorChange, MonitorWithLive, Refused } from "../../store/sql/monitors/port.ts";
import { fieldOf, type JsonObject } from "../body.ts";
import { ApiError, refusal } from "../errors.ts";
import type { ProjectCall } from "../route.ts";
import { refuseShort } from "./draft.ts";
import { commonFields, DEFAULTS, readField } from "./every-kind.ts";
import { activityChange, refuseResume } from "./lifecycle.ts";
import { locationField, locationsChange, MOST_LOCATIONS, readLocations, requireLocationsOnPlan } from "./locations.ts";

/** What one monitor may have (docs/api-contract.md#lengths). */
const MOST_TAGS = 20;
const FIELDS = [
  "interval",
  "timeout",
  "maxretries",
  "tags_add",
  "tags_remove",
  "notify_on_partial",
  "locations",
] as const;

/** For the document. */
export const setBody = z
  .object({
    interval: commonFields.interval.optional(),
    timeout: commonFields.timeout.optional(),
    maxretries: commonFields.maxretries.optional(),
    tags_add: commonFields.tags.optional(),
    tags_remove: commonFields.tags.optional(),
    notify_on_partial: z.boolean().optional(),
    locations: z.array(locationField).min(1).max(MOST_LOCATIONS).optional(),
  })
  .meta({ id: "BulkSet" });

export type Decide = (now: MonitorWithLive) => MonitorChange | Refused;

/** Pause or resume. */
export function activityOf(active: boolean, call: ProjectCall): Decide {
  return orRefused((now) => {
    refuseResume({ active }, now, call);
    return activityChange({ active }, now);
  });
}

/** @param sent the field `set` of the body @throws 400, 402, 403 */
export function settingsOf(sent: unknown, call: ProjectCall): Decide {
  const set = read(sent);
  refuseShort(set, call.plan);
  requireLocationsOnPlan(set.locations, call.plan);
  return orRefused((now) => changeOf(now, set));
}

interface WantedSet {
  readonly intervalS?: number;
  readonly timeoutS?: number;
  readonly maxRetries?: number;
  readonly tagsAdd: readonly string[];
  readonly tagsRemove: readonly string[];
  readonly notifyOnPartial?: boolean;
  readonly locations?: readonly string[];
}

/** @throws 400 */
function read(sent: unknown): WantedSet {
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) throw refusal("bulkSetInvalid");
  const body = sent as JsonObject;
  const names = Object.keys(body);
  if (names.length === 0 || names.some((name) => !(FIELDS as readonly string[]).includes(name)))
    throw refusal("bulkSetInvalid");
  const intervalS = readField(body, "interval", commonFields.interval);
  const timeoutS = readField(body, "timeout", commonFields.timeout);
  const maxRetries = readField(body, "maxretries", commonFields.maxretries);
  const notifyOnPartial = fieldOf(body, "notify_on_partial");
  if (notifyOnPartial !== undefined && typeof notifyOnPartial !== "boolean") throw refusal("notifyOnPartialInvalid");
  const locations = fieldOf(body, "locations");
  return {
    ...(intervalS !== undefined && { intervalS }),
    ...(timeoutS !== undefined && { timeoutS: timeoutS === 0 ? TIMEOUT_S.standard : timeoutS }),
    ...(maxRetries !== undefined && { maxRetries: maxRetries === 0 ? DEFAULTS.maxRetries : maxRetries }),
    tagsAdd: readField(body, "tags_add", commonFields.tags) ?? [],
    tagsRemove: readField(body, "tags_remove", commonFields.tags) ?? [],
    ...(notifyOnPartial !== undefined && { notifyOnPartial }),
    ...(locations !== undefined && { locations: readLocations(locations) }),
  };
}

/** @throws 400, 409 */
function changeOf({ monitor }: MonitorWithLive, set: WantedSet): MonitorChange {
  const { intervalS, timeoutS, maxRetries, tagsAdd, tagsRemove, notifyOnPartial, locations } = set;
  const isOfChecks = [intervalS, timeoutS, maxRetries, locations].some((value) => value !== undefined);
  if (isOfChecks && isPassive(monitor.kind)) throw refusal("heartbeatUnchecked");
  if (intervalS !== undefined && monitor.subscriptionId !== null) throw refusal("followsSubscription");
  const kept = monitor.tags.filter((tag) => !tagsRemove.includes(tag));
  const tags = [...new Set([...kept, ...tagsAdd])];
  if (tags.length > MOST_TAGS) throw refusal("tagsTooMany");
  return {
    ...(intervalS !== undefined && { intervalS }),
    ...(timeoutS !== undefined && { timeoutS }),
    ...(maxRetries !== undefined && { maxRetries }),
    ...(tagsAdd.length + tagsRemove.length > 0 && { tags }),
    ...(notifyOnPartial !== undefined && { notifyOnPartial }),
    ...(locations !== undefined && locationsChange(monitor, { locations })),
  };
}

/** What one monitor may not is no reason to leave the others as they are. */
function orRefused(decide: (now: MonitorWithLive) => MonitorChange): Decide {
  return (now) => {
    try {
      return decide(now);
    } catch (error) {
      if (error instanceof ApiError) return { refused: error.message };
      throw error;
    }
  };
}
