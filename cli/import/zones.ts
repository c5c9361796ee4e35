/** Times as programs with time zones keep them. Pure. */

/** Whether the platform knows the zone. */
export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** `2026-03-01 22:00:00` on the clocks of a zone as ms; undefined for what is no time. An own offset in the text wins. */
export function wallTime(text: string, zone: string): number | undefined {
  const [, date, hour = "00", minute = "00", second = "00", offset] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?)?(Z|[+-]\d\d:\d\d)?$/.exec(text.trim()) ?? [];
  if (date === undefined) return undefined;
  const atMs = Date.parse(`${date}T${hour}:${minute}:${second}${offset ?? "Z"}`);
  if (Number.isNaN(atMs)) return undefined;
  if (offset !== undefined) return atMs;
  // The offset is that of the moment itself, which the first guess is near to.
  const guess = atMs - offsetMs(atMs, zone);
  return atMs - offsetMs(guess, zone);
}

function offsetMs(atMs: number, zone: string): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(atMs);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  const wall = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return wall - Math.floor(atMs / 1_000) * 1_000;
}

/** The first ten characters of a date or a time; undefined when they are no date. */
export function dateIn(text: string | undefined): string | undefined {
  const date = text?.slice(0, 10);
  return date !== undefined && /^\d{4}-\d\d-\d\d$/.test(date) && !Number.isNaN(Date.parse(date)) ? date : undefined;
}

/** `7:05`, `07:05:00` as minutes of the day. */
export function minuteOfDay(text: string | undefined): number | undefined {
  const [, hour, minute] = /^(\d{1,2}):(\d\d)(?::\d\d(?:\.\d{1,9})?)?$/.exec(text?.trim() ?? "") ?? [];
  const total = Number(hour) * 60 + Number(minute);
  return hour !== undefined && Number(hour) < 24 && Number(minute) < 60 ? total : undefined;
}

/** Minutes of the day as `07:05`. */
export function clockOf(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
}

/** From one time of the day to the next time that is the other, minutes; a whole day from a time to itself. */
export function minutesBetween(from: number, to: number): number {
  return to > from ? to - from : to - from + 1_440;
}
