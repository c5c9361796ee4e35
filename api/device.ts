/** A browser in words, for the list of sessions. It proves nothing: a browser says what it likes. */

/** The first that matches: most browsers name others too, for old pages. */
const BROWSERS: readonly (readonly [string, string])[] = [
  ["Edg", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["FxiOS/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["CriOS/", "Chrome"],
  ["Safari/", "Safari"],
  ["curl/", "curl"],
];
const SYSTEMS: readonly (readonly [string, string])[] = [
  ["Android", "Android"],
  ["iPhone", "iOS"],
  ["iPad", "iOS"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["CrOS", "ChromeOS"],
  ["Linux", "Linux"],
];

/** @returns `Firefox on Linux`, `A browser` */
export function deviceOf(userAgent: string): string {
  const browser = wordOf(BROWSERS, userAgent) ?? "A browser";
  const system = wordOf(SYSTEMS, userAgent);
  return system === undefined ? browser : `${browser} on ${system}`;
}

function wordOf(words: readonly (readonly [string, string])[], text: string): string | undefined {
  return words.find(([mark]) => text.includes(mark))?.[1];
}
