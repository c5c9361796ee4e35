/**
 * Monitors that neither the document nor anything else has changed since the document was applied last: they need no comparison. Of a document of
 * thousands a few differ, and only those are compared field by field.
 */
import { isWebsite } from "../../model/kind.ts";
import { HIDDEN } from "../../model/web-address.ts";
import { type DocumentThing, GENERATION_MARK, type MonitorOfProject } from "../../store/sql/documents/port.ts";
import type { JsonObject } from "../body.ts";
import { knowTarget } from "../monitors/address.ts";
import { daysOrOff, type Expiry } from "../monitors/draft.ts";
import type { DraftPlan } from "./draft-plan.ts";
import type { WantedMonitor } from "./wanted-monitor.ts";

/** Among the marks of fields, none of which has this name. */
export const WHOLE_MARK = "*";

/** Of all that the document says of it. */
export function wholeMark(plan: DraftPlan, { kind, name, body, locations }: WantedMonitor): string {
  return plan.markOfMany([kind, name, body, locations]);
}

/** Nothing has changed it since a document was applied, which may be another one. */
export function isAsApplied({ marks }: DocumentThing, { generation }: MonitorOfProject): boolean {
  return marks[GENERATION_MARK] === String(generation);
}

/** A heartbeat's token is no part of its monitor, and is compared by itself. */
export function isUntouched(plan: DraftPlan, wanted: WantedMonitor, found: MonitorOfProject): boolean {
  const thing = plan.thing("monitor", wanted.key);
  if (thing === undefined || !plan.isOurs(thing) || wanted.token !== null) return false;
  return isAsApplied(thing, found) && thing.marks[WHOLE_MARK] === wholeMark(plan, wanted);
}

/**
 * A website's address is compared by its mark, as long as nothing else has changed the monitor: to open ten thousand sealed ones takes a
 * tenth of a plan. What hides something, or has more than is stored, is opened.
 */
export function knowAddress(plan: DraftPlan, { key, body: { url } }: WantedMonitor, found: MonitorOfProject): void {
  const thing = plan.thing("monitor", key);
  const { monitor } = found;
  if (typeof url !== "string" || url.includes(HIDDEN) || url.includes("#") || typeof monitor.urlSealed !== "string")
    return;
  if (thing?.marks.url === undefined || !isAsApplied(thing, found)) return;
  knowTarget(monitor, thing.marks.url === plan.mark("url", url) ? url : null);
}

export function expiryIn({ ssl_expiration: ssl, domain_expiration: domain }: JsonObject): Expiry {
  return {
    ...(ssl !== undefined && { sslExpirationDays: daysOrOff(ssl) }),
    ...(domain !== undefined && { domainExpirationDays: daysOrOff(domain) }),
  };
}

/** Its settings of expiry are shared by this host; null: they are its own. */
export function sharedHost({ monitor: { kind, host } }: MonitorOfProject): string | null {
  return isWebsite(kind) ? host : null;
}
