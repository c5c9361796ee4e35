/**
 * What a project's live messages say: checks that were written, and turns of incidents. A message that comes over Redis may have been written
 * by any program, so reading it checks everything. Pure.
 */
import { MAINTENANCE_LETTER, STATUS_LETTERS } from "./letters.ts";

export const INCIDENT_TURNS = ["opened", "raised", "acknowledged", "note", "recovered"] as const;
export type IncidentTurnWord = (typeof INCIDENT_TURNS)[number];

export interface LiveCheck {
  readonly monitorId: number;
  /** Of its status (letters.ts). */
  readonly letter: string;
  /** Whole ms; null when the check did not pass. */
  readonly latencyMs: number | null;
  /** Start of the check, Unix ms; null before the first. */
  readonly checkedAtMs: number | null;
  /** Whether its status is another than before. */
  readonly isChanged: boolean;
}

export interface LiveTurn {
  readonly monitorId: number;
  /** null: the monitor's latest. */
  readonly incidentId: number | null;
  readonly what: IncidentTurnWord;
}

export interface LiveMessage {
  readonly checks: readonly LiveCheck[];
  readonly turns: readonly LiveTurn[];
}

/** Of one message: more than a batch of the sink has. */
const MOST_ENTRIES = 200_000;
const LETTERS: ReadonlySet<unknown> = new Set([...Object.values(STATUS_LETTERS), MAINTENANCE_LETTER]);

export function writeLiveMessage({ checks, turns }: LiveMessage): string {
  return JSON.stringify({
    c: checks.map((one) => [one.monitorId, one.letter, one.latencyMs, one.checkedAtMs, one.isChanged ? 1 : 0]),
    t: turns.map((one) => [one.monitorId, one.incidentId, INCIDENT_TURNS.indexOf(one.what)]),
  });
}

/** @returns undefined for anything but a message of this version */
export function readLiveMessage(text: string): LiveMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { c: checks, t: turns } = value as Readonly<Record<string, unknown>>;
  if (!Array.isArray(checks) || !Array.isArray(turns) || checks.length + turns.length > MOST_ENTRIES) return undefined;
  const read = { checks: checks.map(checkOf), turns: turns.map(turnOf) };
  return read.checks.every((one) => one !== undefined) && read.turns.every((one) => one !== undefined)
    ? (read as LiveMessage)
    : undefined;
}

function checkOf(cells: unknown): LiveCheck | undefined {
  if (!Array.isArray(cells)) return undefined;
  const [monitorId, letter, latencyMs, checkedAtMs, isChanged] = cells as readonly unknown[];
  if (!isId(monitorId) || !LETTERS.has(letter) || !isNumberOrNull(latencyMs) || !isNumberOrNull(checkedAtMs))
    return undefined;
  return { monitorId, letter: String(letter), latencyMs, checkedAtMs, isChanged: isChanged === 1 };
}

function turnOf(cells: unknown): LiveTurn | undefined {
  if (!Array.isArray(cells)) return undefined;
  const [monitorId, incidentId, at] = cells as readonly unknown[];
  const what = typeof at === "number" ? INCIDENT_TURNS[at] : undefined;
  if (!isId(monitorId) || !(incidentId === null || isId(incidentId)) || what === undefined) return undefined;
  return { monitorId, incidentId, what };
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function isNumberOrNull(value: unknown): value is number | null {
  return value === null || (typeof value === "number" && Number.isFinite(value));
}
