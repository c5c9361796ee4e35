/** Addresses of website checks: the whole one for drafts, what callers may see, and what a masked one that is sent back means. */
import { isWebsite } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import { displayAddress, editorAddress, HIDDEN, restoreAddress, withoutFragment } from "../../model/web-address.ts";
import { openTarget } from "../../store/sealing/target.ts";
import type { Api } from "../api.ts";
import type { JsonObject } from "../body.ts";
import { badRequest } from "../errors.ts";

/** Whole ones of monitors that were opened before: a document asks for each several times. */
const opened = new WeakMap<Monitor, Monitor>();

/** In the place of opening it. @param url its whole address; null: another one than all that it will be compared with */
export function knowTarget(monitor: Monitor, url: string | null): void {
  opened.set(monitor, url === null ? monitor : { ...monitor, settings: { ...monitor.settings, url } });
}

/** With its whole address, for drafts. One that cannot be opened stays as every user sees it, and can still be replaced. */
export function wholeTarget(api: Api, monitor: Monitor): Monitor {
  if (!isWebsite(monitor.kind)) return monitor;
  const known = opened.get(monitor);
  if (known !== undefined) return known;
  try {
    const whole = openTarget(monitor, api.sealing.open);
    opened.set(monitor, whole);
    return whole;
  } catch (error) {
    api.log.error({ err: error }, "a website's address does not open");
    return monitor;
  }
}

/**
 * The body with the whole address that is meant. A body that is not ours to judge (no text, another kind) is left to its draft.
 * @param stored with its whole address; null: the monitor is new
 * @throws 400 when it hides what cannot be filled in
 */
export function withWholeUrl(kind: string, body: JsonObject, stored: Monitor | null): JsonObject {
  const { url } = body;
  if (!isWebsite(kind) || typeof url !== "string") return body;
  const before = stored === null ? null : String(stored.settings.url);
  const restored = restoreAddress(url, before);
  if ("fault" in restored) throw badRequest(restored.fault);
  return { ...body, url: withoutFragment(restored.url) };
}

/** What the caller may see of a monitor's address; null: it has none. */
export function shownUrl(api: Api, monitor: Monitor, isEditor: boolean): string | null {
  const { url } = monitor.settings;
  if (typeof url !== "string") return null;
  if (!isWebsite(monitor.kind)) return HIDDEN;
  return isEditor ? editorAddress(String(wholeTarget(api, monitor).settings.url)) : displayAddress(url);
}

/** Whether those who may edit see the same as the others. */
export function isShownToAll({ settings: { url }, urlSealed }: Monitor): boolean {
  return typeof urlSealed !== "string" && (typeof url !== "string" || displayAddress(url) === url);
}
