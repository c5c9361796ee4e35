/** What a person writes as a date and a time is meant in the zone in which times are shown. */
import { zone } from "../state/prefs.ts";

export const zoneName = (): string =>
  zone.value === "" ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone.value;

/** As `<input type=datetime-local>` has it: `2026-11-28T13:05`. */
export function localText(atMs: number): string {
  // Swedish dates are written as ISO 8601 has them.
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zoneName(), dateStyle: "short", timeStyle: "short" });
  return format.format(atMs).replace(" ", "T");
}

/** @returns Unix ms, NaN where the text is none. Of a time that a change of clocks has twice, one; of one that it leaves out, one beside it */
export function instantOf(text: string): number {
  const asUtcMs = Date.parse(`${text}Z`);
  if (Number.isNaN(asUtcMs)) return asUtcMs;
  const aheadMs = (atMs: number) => Date.parse(`${localText(atMs)}Z`) - atMs;
  return asUtcMs - aheadMs(asUtcMs - aheadMs(asUtcMs));
}

const DAY_MS = 86_400_000;
const DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * A day as the reader has it, which a change of clocks makes an hour longer or shorter.
 * @param text `2026-10-25`
 * @returns its first and its last Unix ms; null where the text is no day
 */
export function dayOf(text: string): { readonly fromMs: number; readonly untilMs: number } | null {
  const noonMs = DAY.test(text) ? Date.parse(`${text}T12:00Z`) : Number.NaN;
  if (Number.isNaN(noonMs)) return null;
  const next = new Date(noonMs + DAY_MS).toISOString().slice(0, 10);
  if (!DAY.test(next)) return null;
  return { fromMs: instantOf(`${text}T00:00`), untilMs: instantOf(`${next}T00:00`) - 1 };
}
