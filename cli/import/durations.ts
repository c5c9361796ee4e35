/** Durations as other programs write them. Pure. */
import { numberIn } from "./values.ts";

/** Seconds of each unit of Go's time.ParseDuration, and of Prometheus, which has days, weeks and years too. */
const UNITS_S: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  μs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
};
const LONGEST_TEXT = 40;
const PART = /(\d{1,12}(?:\.\d{1,12})?)(ns|us|µs|μs|ms|s|m|h|d|w|y)/gy;

/** `1h30m`, `500ms` as seconds; undefined for what is no duration. */
export function durationIn(value: unknown): number | undefined {
  if (typeof value !== "string" || value.length > LONGEST_TEXT) return undefined;
  const text = value.trim();
  let seconds = 0;
  let read = 0;
  for (const [part, digits, unit] of text.matchAll(PART)) {
    seconds += Number(digits) * (UNITS_S[unit ?? ""] ?? 0);
    read += part.length;
  }
  return read > 0 && read === text.length ? seconds : undefined;
}

/** The same; a number is nanoseconds, as Go's YAML has it. */
export function goDurationIn(value: unknown): number | undefined {
  const seconds = durationIn(value);
  if (seconds !== undefined) return seconds;
  const number = numberIn(value);
  return number === undefined ? undefined : number * 1e-9;
}
