/** The open project: its monitors, kept fresh by the live stream, and read again where a stream cannot be had. */
import { computed, signal } from "@preact/signals";
import { client, data, messageOf, type Schemas } from "../api/client.ts";
import { parseFilter } from "./filter.ts";
import {
  applyChanges,
  type Change,
  countByStatus,
  entriesOf,
  ID_PREFIX,
  type MonitorEntry,
  select,
} from "./monitors.ts";
import { route } from "./route.ts";

interface Shown {
  readonly entries: readonly MonitorEntry[];
  /** By `srv_12`, and by 12, as the stream has it. */
  readonly byId: ReadonlyMap<string | number, MonitorEntry>;
  readonly columns: Schemas["Overview"];
}

/** Null before the first answer. */
export const shown = signal<Shown | null>(null);
export const overviewError = signal<string | null>(null);
/** Grows whenever something in the entries has changed in place. */
export const revision = signal(0);

/** Grows whenever something about incidents has changed. */
export const incidentNews = signal(0);

/** Another text whenever incidents may be other ones: told by the stream, or, without one, seen in the columns that were read again. */
export const incidentState = computed(() => {
  const { active, unacknowledged } = shown.value?.columns.incidents ?? { active: 0, unacknowledged: 0 };
  return `${incidentNews.value} ${active} ${unacknowledged}`;
});

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

/** An answer that is longer away is none: where a network swallows everything, nothing else would say so, ms. */
const DEADLINE_MS = 20_000;

/**
 * Asks for the columns; what is shown stays until they are there.
 * @returns whether the service answered; null: another question took the place of this one
 */
export async function loadOverview(): Promise<boolean | null> {
  flight?.abort();
  const own = new AbortController();
  flight = own;
  try {
    const signal = AbortSignal.any([own.signal, AbortSignal.timeout(DEADLINE_MS)]);
    const columns = await data(client.GET("/overview", { signal }));
    if (flight !== own) return null;
    take(columns);
    return true;
  } catch (error) {
    if (flight !== own || own.signal.aborted) return null;
    overviewError.value = messageOf(error);
    return false;
  }
}

function take(columns: Schemas["Overview"]): void {
  clockOffsetMs = Date.parse(columns.at) - Date.now();
  const entries = entriesOf(columns);
  overviewError.value = null;
  const byId = new Map<string | number, MonitorEntry>();
  for (const entry of entries) byId.set(entry.id, entry).set(Number(entry.id.slice(ID_PREFIX.length)), entry);
  shown.value = { entries, byId, columns };
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
