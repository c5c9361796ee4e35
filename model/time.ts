/** Times as the API writes and reads them (docs/api-contract.md#times). Inside, a time is Unix ms. */

const DAY_MS = 86_400_000;

const MINUTE_MS = 60_000;
/** First and last millisecond of the years 0 to 9999: what both forms can write. */
const [EARLIEST_MS, LATEST_MS] = [-62_167_219_200_000, 253_402_300_799_999];
/** What ISO 8601 ends with at the beginning of a minute. */
const NO_SECONDS = "00.000Z";
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

/** The latest minute that was written: times of one answer are of few minutes, and V8 writes a date in half a microsecond. */
const latest = { minute: Number.NaN, iso: "", utc: "" };

function minuteOf(atMs: number): typeof latest {
  const minute = Math.floor(atMs / MINUTE_MS);
  if (minute !== latest.minute) {
    const iso = new Date(minute * MINUTE_MS).toISOString().slice(0, -NO_SECONDS.length);
    latest.minute = minute;
    latest.iso = iso;
    latest.utc = `${iso.slice(0, 10)} ${iso.slice(11)}`;
  }
  return latest;
}

/** `YYYY-MM-DD HH:MM:SS`, UTC, no zone marker: monitors, results, subscriptions, keys. Parts of a second are cut off. */
export function formatUtc(atMs: number): string {
  const { minute, utc } = minuteOf(Math.trunc(atMs));
  return utc + TWO_DIGITS[Math.floor((Math.trunc(atMs) - minute * MINUTE_MS) / 1_000)];
}

/** ISO 8601, UTC, with milliseconds and `Z`: incidents, regional status, on-demand checks, everything newer. */
export function formatIso(atMs: number): string {
  const { minute, iso } = minuteOf(Math.trunc(atMs));
  const ms = Math.trunc(atMs) - minute * MINUTE_MS;
  const second = Math.floor(ms / 1_000);
  const thousandths = ms - second * 1_000;
  const zeros = thousandths < 10 ? "00" : thousandths < 100 ? "0" : "";
  return `${iso}${TWO_DIGITS[second]}.${zeros}${thousandths}Z`;
}

/** As formatIso(); null stays null. */
export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : formatIso(atMs);
}

/** The calendar month, UTC, `YYYY-MM`: what the on-demand quota is counted by. */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** Date; then optionally `T` or a space and the time, with parts of a second and a zone if wanted. */
const TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))?)?$/;

/**
 * Reads both forms above, a date alone (00:00:00 of it, docs/api-contract.md#keys) and ISO times with an offset.
 * @returns Unix ms; undefined for anything else, days that are not in the calendar included, and times of UTC that four digits of a year cannot write
 */
export function parseTime(text: string): number | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  const [offsetHour, offsetMinute] = [part(9), part(10)];
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return undefined;
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month - 1, day);
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day) return undefined;
  const thousandths = Number((match[7] ?? "").padEnd(3, "0").slice(0, 3));
  const offsetMs = (match[8] === "-" ? -1 : 1) * (offsetHour * 60 + offsetMinute) * 60_000;
  const atMs = midnight.getTime() + ((hour * 60 + minute) * 60 + second) * 1_000 + thousandths - offsetMs;
  return atMs >= EARLIEST_MS && atMs <= LATEST_MS ? atMs : undefined;
}

/** Whole days from now until then, rounded down; negative once it has passed. */
export function daysUntil(atMs: number, nowMs: number): number {
  return Math.floor((atMs - nowMs) / DAY_MS);
}
