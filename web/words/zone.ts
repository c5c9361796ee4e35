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
