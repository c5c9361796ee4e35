/** What a document wants of one monitor: the defaults filled in, and the body of the API's own requests. Pure. */
import type { MonitorDefaults, MonitorEntry } from "../../model/document/document.ts";
import type { Kind } from "../../model/kind.ts";
import type { JsonObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { codesOf, readLocations, type WantedLocations } from "../monitors/locations.ts";
import { TOKEN } from "../monitors/token.ts";
import { isTunnel, kindOfNew } from "../monitors/uptime-requests.ts";
import { OWN_FIELDS } from "./words.ts";

export interface WantedMonitor {
  readonly key: string;
  /** `vpn` where its fields decide the protocol. */
  readonly kind: Kind | "vpn";
  /** As POST and PUT /servers take it; the name only where the document has one. */
  readonly body: JsonObject;
  /** The key where the document has no name. */
  readonly name: string;
  readonly locations: WantedLocations & { readonly notifyOnPartial?: boolean };
  readonly token: string | null;
  readonly replace: boolean;
}

/** @throws ApiError for what is of no kind */
export function wantedMonitor(key: string, entry: MonitorEntry, defaults: MonitorDefaults): WantedMonitor {
  const kind = isTunnel(entry) ? "vpn" : kindOfNew({ name: key, ...entry });
  const isPassive = kind === "push";
  const { tags: defaultTags, locations: defaultLocations, notify_on_partial: defaultPartial, ...checked } = defaults;
  const fields = Object.entries(entry).filter(([name]) => !OWN_FIELDS.has(name));
  const tags = tagsOf(entry, defaultTags);
  const body = {
    ...(isPassive ? {} : checked),
    ...Object.fromEntries(fields),
    ...(tags !== undefined && { tags }),
    ...(kind === "vpn" && { type: "vpn" }),
  };
  const own = {
    ...(!isPassive && defaultLocations !== undefined && { locations: defaultLocations }),
    ...(!isPassive && defaultPartial !== undefined && { notify_on_partial: defaultPartial }),
  };
  return {
    key,
    kind,
    body,
    name: entry.name ?? key,
    locations: locationsOf({ ...own, ...entry }, isPassive),
    token: tokenOf(entry, isPassive),
    replace: entry.replace === true,
  };
}

function tagsOf({ tags, tags_add: add, tags_remove: remove }: MonitorEntry, defaults: readonly string[] | undefined) {
  const listed = tags ?? (add !== undefined || remove !== undefined ? (defaults ?? []) : defaults);
  if (listed === undefined) return undefined;
  const removed = new Set(remove?.map(normal));
  return [...new Set([...listed.map(normal).filter((tag) => !removed.has(tag)), ...(add ?? []).map(normal)])];
}

function normal(tag: string): string {
  return tag.trim().toLowerCase();
}

/** @throws 400 */
function locationsOf(entry: MonitorEntry, isPassive: boolean): WantedMonitor["locations"] {
  const { locations, disabled_locations: disabled, notify_on_partial: notifyOnPartial } = entry;
  if (isPassive && (locations !== undefined || disabled !== undefined || notifyOnPartial !== undefined))
    throw refusal("heartbeatLocations");
  const disabledLocations = disabled === undefined ? undefined : codesOf(disabled);
  if (disabledLocations === null) throw refusal("disabledLocationsInvalid");
  return {
    ...(locations !== undefined && { locations: readLocations(locations) }),
    ...(disabledLocations !== undefined && { disabledLocations }),
    ...(notifyOnPartial !== undefined && { notifyOnPartial }),
  };
}

/** @throws 400 */
function tokenOf({ token }: MonitorEntry, isPassive: boolean): string | null {
  if (token === undefined) return null;
  if (!isPassive) throw refusal("tokenForPush");
  if (!TOKEN.test(token)) throw refusal("tokenInvalid");
  return token;
}
