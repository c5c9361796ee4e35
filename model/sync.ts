/** What a subscription's new list changes in the servers that were imported from it (docs/api-contract.md#subscriptions). Pure. */
import type { Kind } from "./kind.ts";
import type { PauseReason } from "./monitor.ts";
import { MAX_CONFIGS } from "./subscription.ts";

/** Below this part of the last count a list has shrunken (docs/api-contract.md#subscriptions). */
const SHRUNKEN = 0.3;
/** Shrunken lists that are refused in a row. */
export const SHRUNKEN_REFUSALS = 2;
/** Failures in a row that switch a subscription off (docs/api-contract.md#subscriptions). */
export const FAILURES_TO_DISABLE = 10;
/** Checks that are this part of an interval late cannot keep it. */
const LATE_PART = 0.25;

export interface ListedConfig {
  /** Equal for equal configs, whatever they are called. */
  readonly identity: string;
  /** Its name in the list. */
  readonly tag: string;
  readonly type: Kind;
  readonly port: number;
  /** Its fields, sealed. */
  readonly sealed: string;
}

export interface ListedServer {
  /** Host as written in the configs, lowercase: what a server is known by. */
  readonly address: string;
  /** The first config's name; null: it has none. */
  readonly name: string | null;
  /** In the list's order, each once. */
  readonly configs: readonly ListedConfig[];
}

export interface FormerConfig {
  readonly id: number;
  readonly identity: string;
  readonly position: number;
  readonly tag: string;
  readonly port: number;
}

export interface FormerServer {
  readonly monitorId: number;
  readonly address: string;
  readonly name: string | null;
  readonly kind: Kind;
  readonly configCount: number;
  readonly pauseReasons: readonly PauseReason[];
  readonly configs: readonly FormerConfig[];
}

/** A server whose entry differs, in whatever way. */
export interface ServerChange {
  readonly monitorId: number;
  readonly name: string | null;
  readonly kind: Kind;
  readonly configCount: number;
  readonly added: readonly { readonly position: number; readonly config: ListedConfig }[];
  /** Listed still, at another place or under another name. */
  readonly moved: readonly { readonly id: number; readonly position: number; readonly tag: string }[];
  readonly removedIds: readonly number[];
  /** Its checks run something else than before. */
  readonly runsOthers: boolean;
}

export interface SyncPlan {
  readonly created: readonly ListedServer[];
  /** New servers for which there is no slot. */
  readonly leftOut: number;
  /** Monitors whose server is no longer listed. */
  readonly leftIds: readonly number[];
  /** Monitors whose server is listed again. */
  readonly returnedIds: readonly number[];
  readonly changed: readonly ServerChange[];
}

export interface SyncInput {
  readonly former: readonly FormerServer[];
  readonly listed: readonly ListedServer[];
  /** Addresses whose monitors were deleted: they do not come back (docs/api-contract.md#monitors). */
  readonly excluded: ReadonlySet<string>;
  /** null: unlimited. */
  readonly freeSlots: number | null;
}

export function planSync({ former, listed, excluded, freeSlots }: SyncInput): SyncPlan {
  // In loops: pairs of a large list would be thrown away by the ten thousands.
  const before = new Set<string>();
  for (const { address } of former) before.add(address);
  const now = new Map<string, ListedServer>();
  for (const server of listed) now.set(server.address, server);
  const fresh = listed.filter(({ address }) => !before.has(address) && !excluded.has(address));
  const created = freeSlots === null ? fresh : fresh.slice(0, Math.max(0, freeSlots));
  const leftIds: number[] = [];
  const returnedIds: number[] = [];
  const changed: ServerChange[] = [];
  for (const server of former) {
    const isGone = server.pauseReasons.includes("provider");
    const found = now.get(server.address);
    if (found === undefined) {
      if (!isGone) leftIds.push(server.monitorId);
      continue;
    }
    if (isGone) returnedIds.push(server.monitorId);
    const change = changeOf(server, found);
    if (change !== undefined) changed.push(change);
  }
  return { created, leftOut: fresh.length - created.length, leftIds, returnedIds, changed };
}

/** What is tested of a new server. */
export function testedOf({ configs }: Pick<ListedServer, "configs">): readonly ListedConfig[] {
  return configs.slice(0, MAX_CONFIGS);
}

/** The monitor's protocol: that of its first config. */
export function kindOf({ configs }: Pick<ListedServer, "configs">): Kind {
  const [first] = configs;
  if (first === undefined) throw new Error("a listed server has no config");
  return first.type;
}

/** @returns undefined when nothing differs */
function changeOf(before: FormerServer, now: ListedServer): ServerChange | undefined {
  if (isUntouched(before, now)) return undefined;
  const known = new Map(before.configs.map((config) => [config.identity, config]));
  const tested = stillTested(known, now.configs);
  const added: { position: number; config: ListedConfig }[] = [];
  const moved: { id: number; position: number; tag: string }[] = [];
  const kept = new Set<number>();
  for (const [position, config] of tested.entries()) {
    const before = known.get(config.identity);
    if (before === undefined) {
      added.push({ position, config });
      continue;
    }
    kept.add(before.id);
    if (before.position !== position || before.tag !== config.tag)
      moved.push({ id: before.id, position, tag: config.tag });
  }
  const removedIds = before.configs.filter(({ id }) => !kept.has(id)).map(({ id }) => id);
  const kind = now.configs.some(({ type }) => type === before.kind) ? before.kind : kindOf(now);
  const runsOthers = added.length > 0 || removedIds.length > 0 || kind !== before.kind;
  const isSame = before.name === now.name && before.configCount === now.configs.length && moved.length === 0;
  if (isSame && !runsOthers) return undefined;
  const { monitorId } = before;
  return { monitorId, name: now.name, kind, configCount: now.configs.length, added, moved, removedIds, runsOthers };
}

/** Nearly every server of nearly every list: recognised without allocating anything. */
function isUntouched(before: FormerServer, { name, configs }: ListedServer): boolean {
  if (before.name !== name || before.configCount !== configs.length) return false;
  if (before.configs.length !== configs.length) return false;
  return before.configs.every((config, position) => {
    const listed = configs[position];
    return config.position === position && config.identity === listed?.identity && config.tag === listed.tag;
  });
}

/** Of more configs than are tested those that were tested before go first, so that a list in another order tests the same. */
function stillTested(
  known: ReadonlyMap<string, FormerConfig>,
  configs: readonly ListedConfig[],
): readonly ListedConfig[] {
  if (configs.length <= MAX_CONFIGS) return configs;
  const old = configs.filter(({ identity }) => known.has(identity)).slice(0, MAX_CONFIGS);
  const fresh = configs.filter(({ identity }) => !known.has(identity)).slice(0, MAX_CONFIGS - old.length);
  const chosen = new Set([...old, ...fresh]);
  return configs.filter((config) => chosen.has(config));
}

/**
 * Whether a list may replace the one before: an empty one never, a shrunken one the third time in a row.
 * @param formerCount servers of the last list that was taken
 * @param refusedInARow how often one was refused as shrunken since
 */
export function mayReplace(formerCount: number, count: number, refusedInARow: number): boolean {
  if (count === 0) return false;
  return count >= formerCount * SHRUNKEN || refusedInARow >= SHRUNKEN_REFUSALS;
}

/** What the last sync was, for people; null: there is nothing to say. */
export function syncNote(facts: {
  readonly leftOut: number;
  readonly slots: number | null;
  readonly badCount: number;
  readonly firstBad: { readonly at: number; readonly reason: string } | null;
  readonly unsupported: Readonly<Record<string, number>>;
  readonly intervalS: number;
  readonly maxWorkers: number;
  /** Of the latest check of each active monitor. */
  readonly latenessMs: readonly number[];
}): string | null {
  const { leftOut, slots, badCount, firstBad, unsupported, intervalS, maxWorkers, latenessMs } = facts;
  const medianLatenessMs = medianOf(latenessMs);
  const notes: string[] = [];
  if (leftOut > 0) {
    const why = slots === null ? "the plan allows no monitors" : `tunnel limit of ${slots} reached`;
    notes.push(`${countOf(leftOut, "server")} left out: ${why}.`);
  }
  const isCapped = latenessMs.length > maxWorkers;
  if (isCapped && medianLatenessMs !== null && medianLatenessMs > intervalS * 1_000 * LATE_PART) {
    const lateS = Math.round(medianLatenessMs / 1_000);
    notes.push(
      `Checks start ${lateS} s late: ${maxWorkers} at a time (maxWorkers) cannot keep the interval of ${intervalS} s.`,
    );
  }
  if (badCount > 0 && firstBad !== null) {
    notes.push(`${countOf(badCount, "entry")} could not be read (entry ${firstBad.at}: ${firstBad.reason}).`);
  }
  const kinds = Object.entries(unsupported);
  const others = kinds.reduce((sum, [, count]) => sum + count, 0);
  if (others > 0) {
    notes.push(
      `${countOf(others, "entry")} of kinds that are not supported: ${kinds.map(([kind]) => kind).join(", ")}.`,
    );
  }
  return notes.length === 0 ? null : notes.join(" ");
}

function countOf(count: number, thing: "server" | "entry"): string {
  const many = { server: "servers", entry: "entries" }[thing];
  return `${count} ${count === 1 ? thing : many}`;
}

/** Seldom more than one is wanted, and the lists are short enough to sort. */
function medianOf(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
