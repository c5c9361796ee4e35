/** Times in the zone and the language of a page. Pure. */
import { BoundedMap } from "../../model/bounded-map.ts";
import { formatIso } from "../../model/time.ts";
import { type Html, html } from "./html.ts";

export interface Clockface {
  readonly timezone: string;
  readonly language: string;
}

const STYLES = {
  moment: {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  },
  clock: { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" },
  day: { day: "numeric", month: "short" },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>;

/** Making one takes 50 µs; pages of a service have few zones and languages. */
const formats = new BoundedMap<string, Intl.DateTimeFormat>(200);

function timeText(atMs: number, style: keyof typeof STYLES, { timezone, language }: Clockface): string {
  const key = `${style} ${timezone} ${language}`;
  let format = formats.use(key);
  if (format === undefined) {
    // English of Europe has the day before the month, as the design of the page.
    format = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, { ...STYLES[style], timeZone: timezone });
    formats.set(key, format);
  }
  return format.format(atMs);
}

export function time(atMs: number, style: keyof typeof STYLES, clockface: Clockface): Html {
  return html`<time datetime="${formatIso(atMs)}">${timeText(atMs, style, clockface)}</time>`;
}
