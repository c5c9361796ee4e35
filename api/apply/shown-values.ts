/** What a plan shows of a monitor and of what is wanted of it. */
import { MONITOR_NAMES, type Monitor } from "../../model/monitor.ts";
import type { WantedMonitor } from "./wanted-monitor.ts";

/** Characters of a value in a plan. */
const SHOWN_LENGTH = 200;

/** Of tunnels: everything else may hold a secret. */
export const PLAIN: ReadonlySet<string> = new Set([
  "type",
  "protocol",
  "active",
  "interval",
  "timeout",
  "timeout_follows_interval",
  "maxretries",
  "tags",
]);

const MEMBER_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(MONITOR_NAMES).map(([member, name]) => [name, member]),
);

/** As every user may see it. */
export function shownValue(monitor: Monitor, field: string): unknown {
  if (field === "period") return monitor.intervalS;
  const member = MEMBER_OF.get(field);
  if (member !== undefined) return monitor[member as keyof Monitor];
  return monitor.settings[field];
}

export function valueIn({ body, locations }: WantedMonitor, field: string): unknown {
  if (field === "locations") return locations.locations;
  if (field === "disabled_locations") return locations.disabledLocations;
  if (field === "notify_on_partial") return locations.notifyOnPartial;
  return body[field];
}

export function shortened(value: unknown): unknown {
  if (typeof value === "string" && value.length > SHOWN_LENGTH) return `${value.slice(0, SHOWN_LENGTH)}…`;
  const text = JSON.stringify(value) ?? "null";
  return text.length > 2 * SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : value;
}
