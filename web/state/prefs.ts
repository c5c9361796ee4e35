/** What a person has chosen on this device: theme, language, project, shortcuts. Kept in the browser, never sent. */
import { effect, type Signal, signal } from "@preact/signals";

const PREFIX = "sonde.";

/** A browser that keeps nothing (private windows, blocked storage) gets the fallback each time. */
function kept<T extends string>(name: string, fallback: T, isValid: (text: string) => text is T): Signal<T> {
  const stored = read(PREFIX + name);
  const value = signal<T>(stored !== null && isValid(stored) ? stored : fallback);
  effect(() => write(PREFIX + name, value.value));
  return value;
}

function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function write(name: string, text: string): void {
  try {
    localStorage.setItem(name, text);
  } catch {
    // Without storage the choice lasts until the page is left.
  }
}

const oneOf =
  <T extends string>(words: readonly T[]) =>
  (text: string): text is T =>
    (words as readonly string[]).includes(text);

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
export const LANGUAGES = ["en", "ru", "fa", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];

export const theme = kept<Theme>("theme", "system", oneOf(THEMES));
export const language = kept<Language>("language", ofBrowser(), oneOf(LANGUAGES));
export const chosenProject = kept<string>("project", "", (text): text is string => true);
export const shortcuts = kept<"on" | "off">("shortcuts", "on", oneOf(["on", "off"]));
export const HOURS = ["auto", "12", "24"] as const;
export type Hours = (typeof HOURS)[number];
/** How the time of day is written; `auto`: as the language does. */
export const hours = kept<Hours>("hours", "auto", oneOf(HOURS));
/** In which times are shown; "": the device's own. */
export const zone = kept<string>("zone", "", isZone);
/** Of the table of monitors: names between commas; "": as usual. */
export const chosenColumns = kept<string>("columns", "", (text): text is string => true);
export const grouping = kept<"tag" | "kind" | "subscription" | "none">(
  "group",
  "tag",
  oneOf(["tag", "kind", "subscription", "none"]),
);

/** A stored zone may be one that this browser does not know. */
function isZone(text: string): text is string {
  try {
    return text === "" || new Intl.DateTimeFormat("en", { timeZone: text }) !== null;
  } catch {
    return false;
  }
}

function ofBrowser(): Language {
  const wanted = (globalThis.navigator?.languages ?? []).map((tag) => tag.slice(0, 2).toLowerCase());
  return wanted.find(oneOf(LANGUAGES)) ?? "en";
}

/** Puts the theme on the document, now and whenever it changes. */
export function followTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}
