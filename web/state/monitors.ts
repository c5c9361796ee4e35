/** The monitors of the open project as columns: what 10,000 of them need to be counted, filtered, sorted and grouped between two frames. Pure. */
import { familyOf, type Kind } from "../../model/kind.ts";
import type { Schemas } from "../api/client.ts";
import { matches, type Subject, type Term } from "./filter.ts";

/** The API's words and `maintenance`, by the letter that stands for each in the columns; worst first. */
export const STATUS_OF_LETTER = {
  d: "down",
  g: "degraded",
  p: "partial",
  u: "unknown",
  m: "maintenance",
  z: "paused",
  h: "healthy",
} as const;
export type Letter = keyof typeof STATUS_OF_LETTER;
export type Status = (typeof STATUS_OF_LETTER)[Letter];
export const STATUSES = Object.values(STATUS_OF_LETTER);
const RANK: Readonly<Record<Status, number>> = Object.fromEntries(
  STATUSES.map((status, index) => [status, index]),
) as Record<Status, number>;

export const SORTS = ["status", "name", "kind", "latency", "checked"] as const;
export type Sort = (typeof SORTS)[number];
export const GROUPINGS = ["tag", "kind", "subscription", "none"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** One monitor; the numbers change in place as news come in. */
export interface MonitorEntry {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly tags: readonly string[];
  readonly subscription: string | null;
  /** Between two checks. */
  readonly intervalS: number | null;
  status: Status;
  /** Of the latest check; null when it had none. */
  latencyMs: number | null;
  /** Start of the latest check, Unix ms by the service's clock; null before the first. */
  checkedAtMs: number | null;
  /** Since when the status is what it is, Unix ms; null where that is not known. */
  sinceMs: number | null;
  /** Place in the order of names. */
  readonly nameRank: number;
  readonly subject: { -readonly [Key in keyof Subject]: Subject[Key] };
}

/** `[id, letter, latency_ms or null, seconds since its check]`, as the live stream has it. */
export type Change = readonly [id: number | string, letter: string, latencyMs: number | null, agoS: number | null];

export interface Group {
  /** What all of it have in common; null: the ones that have none. */
  readonly name: string | null;
  /** Worst first. */
  readonly entries: readonly MonitorEntry[];
  /** The entries as stretches of one status each. */
  readonly runs: readonly Run[];
}

export interface Run {
  readonly status: Status;
  /** Place of the first entry behind it; it begins where the one before ends. */
  readonly end: number;
}

function statusOf(letter: string): Status {
  return STATUS_OF_LETTER[letter as Letter] ?? "unknown";
}

export const ID_PREFIX = "srv_";
export const idText = (id: number | string): string =>
  typeof id === "number" || /^\d/.test(id) ? `${ID_PREFIX}${id}` : id;

/** Controls, spaces of no width, and letters that draw nothing: a link of these alone could be neither seen nor heard. */
const SEEN = /[^\p{C}\p{Z}\u115f\u1160\u2800\u3164\uffa0]/u;

/** @returns the name, or the id where the name has nothing to see */
export const shownName = (name: string, id: string): string => (SEEN.test(name) ? name : id);

/**
 * @param columns the answer of /overview; a column that is shorter than `ids` leaves the rest unknown
 * @returns in the order of names
 */
export function entriesOf(columns: Schemas["Overview"]): readonly MonitorEntry[] {
  const atMs = Date.parse(columns.at);
  const ranks = nameRanks(columns.names);
  const subscriptions = columns.subscriptions.map(({ id, name }) => name ?? String(id));
  const agoMs = (seconds: number | null | undefined) => (typeof seconds === "number" ? atMs - seconds * 1_000 : null);
  const entries = columns.ids.map((id, index) => {
    const name = shownName(columns.names[index] ?? "", idText(id));
    const kind = columns.kinds[columns.kind[index] ?? -1] ?? "";
    const tags = (columns.tag[index] ?? []).map((tag) => columns.tags[tag] ?? "");
    const subscription = subscriptions[columns.subscription[index] ?? -1] ?? null;
    const status = statusOf(columns.status[index] ?? "u");
    return {
      id: idText(id),
      name,
      kind,
      tags,
      subscription,
      intervalS: columns.interval_s[index] ?? null,
      status,
      latencyMs: columns.latency_ms[index] ?? null,
      checkedAtMs: agoMs(columns.checked_s[index]),
      sinceMs: agoMs(columns.since_s[index]),
      nameRank: ranks[index] ?? 0,
      subject: {
        id: idText(id),
        name: name.toLowerCase(),
        status,
        kind,
        family: familyOf(kind as Kind),
        tags: tags.map((tag) => tag.toLowerCase()),
        subscription: subscription?.toLowerCase() ?? null,
      },
    };
  });
  return entries.sort((a, b) => a.nameRank - b.nameRank);
}

let ranked: { readonly names: readonly string[]; readonly ranks: Uint32Array } = {
  names: [],
  ranks: new Uint32Array(),
};

/**
 * Comparing 10,000 names by language takes a tenth of a second, comparing their places nothing: so it is done once, and again when names have
 * changed, which they seldom have when the columns are read again.
 */
function nameRanks(names: readonly string[]): Uint32Array {
  const isKnown = names.length === ranked.names.length && names.every((name, index) => name === ranked.names[index]);
  if (!isKnown) ranked = { names, ranks: ranksOf(names) };
  return ranked.ranks;
}

function ranksOf(names: readonly string[]): Uint32Array {
  const { compare } = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const order = names.map((_, index) => index).sort((a, b) => compare(names[a] ?? "", names[b] ?? ""));
  const ranks = new Uint32Array(names.length);
  for (const [rank, index] of order.entries()) ranks[index] = rank;
  return ranks;
}

/**
 * @param byId by the ids as changes have them, or as text; numbers are found without making 2,000 texts
 * @returns how many of the changes were of monitors that are here
 */
export function applyChanges(
  byId: ReadonlyMap<string | number, MonitorEntry>,
  changes: readonly Change[],
  atMs: number,
): number {
  let known = 0;
  for (const [id, letter, latencyMs, agoS] of changes) {
    const entry = byId.get(id) ?? byId.get(idText(id));
    if (entry === undefined) continue;
    known++;
    const status = statusOf(letter);
    if (status !== entry.status) {
      entry.status = status;
      entry.subject.status = status;
      entry.sinceMs = atMs;
    }
    entry.latencyMs = latencyMs;
    if (agoS !== null && agoS !== undefined) entry.checkedAtMs = atMs - agoS * 1_000;
  }
  return known;
}

export function countByStatus(entries: readonly MonitorEntry[]): Readonly<Record<Status, number>> {
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number>;
  for (const { status } of entries) counts[status]++;
  return counts;
}

/** What is said while nothing is down: that all is well only where all was checked, and nothing is worse than healthy. */
export function wellWord(of: Readonly<Record<"unknown" | "degraded" | "partial" | "healthy", number>>) {
  const isWell = of.unknown === 0 && of.degraded === 0 && of.partial === 0 && of.healthy > 0;
  return isWell ? ("verdict.well" as const) : ("verdict.wellSoFar" as const);
}

export function select(entries: readonly MonitorEntry[], terms: readonly Term[]): readonly MonitorEntry[] {
  return terms.length === 0 ? entries : entries.filter((entry) => matches(terms, entry.subject));
}

export function sorted(entries: readonly MonitorEntry[], sort: Sort, descending: boolean): readonly MonitorEntry[] {
  const sign = descending ? -1 : 1;
  if (sort === "name") return descending ? entries.toReversed() : entries;
  if (sort === "status" && !descending) return worstFirst(entries, null, ranksNow(entries)).entries;
  // What has no value comes last in both directions.
  const numbers = (a: number | null, b: number | null) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return sign * (a - b);
  };
  const compare: Record<Exclude<Sort, "name">, (a: MonitorEntry, b: MonitorEntry) => number> = {
    status: (a, b) => sign * (RANK[a.status] - RANK[b.status]),
    kind: (a, b) => sign * (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0),
    latency: (a, b) => numbers(a.latencyMs, b.latencyMs),
    checked: (a, b) => numbers(a.checkedAtMs, b.checkedAtMs),
  };
  const first = compare[sort];
  return [...entries].sort(first);
}

/** @returns place of each entry's status in the order of statuses, by the entry's place */
function ranksNow(entries: readonly MonitorEntry[]): Uint8Array {
  const ranks = new Uint8Array(entries.length);
  let place = 0;
  for (const { status } of entries) ranks[place++] = RANK[status];
  return ranks;
}

/**
 * By status, and by name within one. Entries are kept in the order of names, so they are counted, then each is put into its place: a comparing sort
 * of 10,000 takes half a frame.
 * @param members places in `entries`, growing; null: all
 */
function worstFirst(
  entries: readonly MonitorEntry[],
  members: Uint32Array | null,
  ranks: Uint8Array,
): Pick<Group, "entries" | "runs"> {
  const count = members === null ? entries.length : members.length;
  const next = new Uint32Array(STATUSES.length + 1);
  const placeOf = (n: number): number => (members === null ? n : (members[n] ?? 0));
  const taken = (rank: number): number => {
    const at = next[rank] ?? 0;
    next[rank] = at + 1;
    return at;
  };
  for (let n = 0; n < count; n++) taken((ranks[placeOf(n)] ?? 0) + 1);
  for (let rank = 0; rank < STATUSES.length; rank++) next[rank + 1] = (next[rank + 1] ?? 0) + (next[rank] ?? 0);
  const runs = STATUSES.map((status, rank) => ({ status, end: next[rank + 1] ?? 0 })).filter(
    ({ end }, rank) => end > (next[rank] ?? 0),
  );
  const dealt = new Array<MonitorEntry>(count);
  for (let n = 0; n < count; n++) {
    const entry = entries[placeOf(n)];
    if (entry !== undefined) dealt[taken(ranks[placeOf(n)] ?? 0)] = entry;
  }
  return { entries: dealt, runs };
}

/** @returns those that take longest and work, at most so many. In one pass: to put 10,000 in order takes half a frame */
export function slowest(entries: readonly MonitorEntry[], most: number): readonly MonitorEntry[] {
  const found: MonitorEntry[] = [];
  for (const entry of entries) {
    const { latencyMs, status } = entry;
    if (latencyMs === null || status === "paused" || status === "down") continue;
    if (found.length === most && latencyMs <= (found.at(-1)?.latencyMs ?? 0)) continue;
    const at = found.findIndex((one) => (one.latencyMs ?? 0) < latencyMs);
    found.splice(at < 0 ? found.length : at, 0, entry);
    if (found.length > most) found.pop();
  }
  return found;
}

/** Worst first inside each group; groups by name, the one without a name last. A monitor of two tags is in both groups. */
export function grouped(entries: readonly MonitorEntry[], by: Grouping): readonly Group[] {
  const ranks = ranksNow(entries);
  if (by === "none") return entries.length === 0 ? [] : [{ name: null, ...worstFirst(entries, null, ranks) }];
  return membersOf(entries, by).map(([name, members]) => ({ name, ...worstFirst(entries, members, ranks) }));
}

type Members = readonly (readonly [name: string | null, members: Uint32Array])[];

let together: { readonly entries: readonly MonitorEntry[]; readonly by: Grouping; readonly members: Members } | null =
  null;

/** Who belongs together does not change with a status, so it is found once for the same entries. */
function membersOf(entries: readonly MonitorEntry[], by: Grouping): Members {
  const isKnown =
    together?.by === by &&
    together.entries.length === entries.length &&
    together.entries.every((entry, place) => entry === entries[place]);
  if (!isKnown || together === null) together = { entries, by, members: foundMembers(entries, by) };
  return together.members;
}

function foundMembers(entries: readonly MonitorEntry[], by: Grouping): Members {
  const groups = new Map<string | null, number[]>();
  const put = (name: string | null, place: number) => {
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [place]);
    else group.push(place);
  };
  for (const [place, { tags, kind, subscription }] of entries.entries()) {
    const names = by === "tag" ? tags : by === "kind" ? [kind] : [subscription];
    if (names.length === 0) put(null, place);
    for (const name of names) put(name, place);
  }
  return [...groups]
    .map(([name, places]) => [name, Uint32Array.from(places)] as const)
    .sort(([a], [b]) => (a === null ? 1 : b === null ? -1 : a.localeCompare(b)));
}
