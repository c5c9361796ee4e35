/** The open project: its monitors, kept fresh by the live stream, and read again where a stream cannot be had. */
import { computed, signal } from "@preact/signals";
import { client, data, messageOf, type Schemas } from "../api/client.ts";
import { parseFilter } from "./filter.ts";
import { applyChanges, type Change, countByStatus, entriesOf, type MonitorEntry, select } from "./monitors.ts";
import { route } from "./route.ts";

interface Shown {
  readonly entries: readonly MonitorEntry[];
  readonly byId: ReadonlyMap<string, MonitorEntry>;
  readonly columns: Schemas["Overview"];
}

/** Null before the first answer. */
export const shown = signal<Shown | null>(null);
export const overviewError = signal<string | null>(null);
/** Grows whenever something in the entries has changed in place. */
export const revision = signal(0);

/** Grows whenever something about incidents has changed. */
export const incidentNews = signal(0);

/** The service's clock less this device's, ms: ages are right on a device whose clock is wrong. */
let clockOffsetMs = 0;

/** Unix ms by the service's clock. */
export const serviceNow = (): number => Date.now() + clockOffsetMs;

export const filterLine = computed(() => route.value.query.get("q") ?? "");
export const filterTerms = computed(() => parseFilter(filterLine.value));

export const counts = computed(() => {
  revision.value;
  return shown.value === null ? null : countByStatus(shown.value.entries);
});

export const selected = computed(() => {
  revision.value;
  return shown.value === null ? [] : [...select(shown.value.entries, filterTerms.value)];
});

let flight: AbortController | null = null;

/** Asks for the columns; what is shown stays until they are there. */
export async function loadOverview(): Promise<void> {
  flight?.abort();
  const own = new AbortController();
  flight = own;
  try {
    const columns = await data(client.GET("/overview", { signal: own.signal }));
    if (flight === own) take(columns);
  } catch (error) {
    if (flight === own && !own.signal.aborted) overviewError.value = messageOf(error);
  }
}

function take(columns: Schemas["Overview"]): void {
  clockOffsetMs = Date.parse(columns.at) - Date.now();
  const entries = entriesOf(columns);
  overviewError.value = null;
  shown.value = { entries, byId: new Map(entries.map((entry) => [entry.id, entry])), columns };
}

/** @param at of the service, ISO 8601 */
export function takeChanges(changes: readonly Change[], at: string): void {
  const now = shown.peek();
  if (now === null) return;
  if (applyChanges(now.byId, changes, Date.parse(at)) > 0) revision.value++;
}

/** Another project, or none: nothing of the old one stays. */
export function forgetProject(): void {
  flight?.abort();
  flight = null;
  shown.value = null;
  overviewError.value = null;
}
