/** Applies a change to a monitor, and makes the entry of its history. Pure. */
import { isPassive } from "../../../model/kind.ts";
import { isActive, MONITOR_NAMES, type Monitor, PAUSE_REASONS, type PauseReason } from "../../../model/monitor.ts";
import { storable, storableOrNull } from "../schema/text.ts";
import type { MonitorChange } from "./port.ts";

export interface ChangedMonitor {
  readonly monitor: Monitor;
  /** API names of the fields that differ now, pausing aside. */
  readonly fields: readonly string[];
  readonly turned: "paused" | "resumed" | null;
  /** Whether anything differs at all. */
  readonly isChanged: boolean;
}

export function changeMonitor(before: Monitor, change: MonitorChange, nowMs: number): ChangedMonitor {
  const { addPauseReason, removePauseReasons, sealedFields, ...values } = change;
  const pauseReasons = changeReasons(before.pauseReasons, addPauseReason, removePauseReasons ?? []);
  // One copy: a document changes thousands of monitors at once.
  const after = merged(before, values);
  after.name = storable(after.name);
  after.host = storableOrNull(after.host);
  after.pauseReasons = pauseReasons;
  const fields = [...new Set([...changedFields(before, after), ...(sealedFields ?? [])])];
  const isHostChanged = before.host !== after.host;
  const isChanged = fields.length > 0 || isHostChanged || !isSame(before.pauseReasons, pauseReasons);
  const turned = turnOf(before, after);
  if (!isChanged) return { monitor: before, fields, turned, isChanged };
  if (turned !== null) after.pausedAtMs = turned === "paused" ? nowMs : null;
  after.updatedAtMs = nowMs;
  return { monitor: after, fields, turned, isChanged };
}

type WritableMonitor = { -readonly [Name in keyof Monitor]: Monitor[Name] };

/** Values that are undefined say nothing. */
function merged(before: Monitor, values: Partial<Monitor>): WritableMonitor {
  const after: WritableMonitor = { ...before };
  const present: Record<string, unknown> = {};
  for (const name in values) {
    const value = values[name as keyof Monitor];
    if (value !== undefined) present[name] = value;
  }
  return Object.assign(after, present);
}

/** Always in the order of the list, each once. */
function changeReasons(
  before: readonly PauseReason[],
  added: PauseReason | undefined,
  removed: readonly PauseReason[],
): readonly PauseReason[] {
  return PAUSE_REASONS.filter((reason) => reason === added || (before.includes(reason) && !removed.includes(reason)));
}

function turnOf(before: Monitor, after: Monitor): ChangedMonitor["turned"] {
  if (isActive(before) === isActive(after)) return null;
  return isActive(after) ? "resumed" : "paused";
}

const NAMES = Object.entries(MONITOR_NAMES) as readonly (readonly [keyof typeof MONITOR_NAMES, string])[];

function changedFields(before: Monitor, after: Monitor): readonly string[] {
  const fields: string[] = [];
  for (const [key, apiName] of NAMES) {
    if (isSame(before[key], after[key])) continue;
    // A heartbeat's interval is its period (docs/api-contract.md#heartbeat-address).
    fields.push(key === "intervalS" && isPassive(after.kind) ? "period" : apiName);
  }
  const settings = new Set([...Object.keys(before.settings), ...Object.keys(after.settings)]);
  for (const name of settings) {
    if (!isSame(before.settings[name], after.settings[name])) fields.push(name);
  }
  // A heartbeat's period and grace stand in both.
  return [...new Set(fields)];
}

/** Values are plain JSON. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
