/** The page's words in the chosen language. English of the first screens is always here; all other words are files that are loaded when they are wanted. */
import { effect, signal } from "@preact/signals";
import { type Language, language } from "../state/prefs.ts";
import { setting } from "./en/setting.ts";
import { using } from "./en/using.ts";
import { watching } from "./en/watching.ts";
import type { Key, Words } from "./text.ts";

export type { Key } from "./text.ts";

const FIRST: Partial<Words> = { ...watching, ...setting, ...using };
const LOADERS: Readonly<Record<Language, () => Promise<Partial<Words>>>> = {
  en: async () => FIRST,
  ru: async () => (await import("./ru.ts")).ru,
  fa: async () => (await import("./fa.ts")).fa,
  zh: async () => (await import("./zh.ts")).zh,
};
/** Tags of the document, by which a browser chooses fonts. */
const TAGS: Readonly<Record<Language, string>> = { en: "en", ru: "ru", fa: "fa", zh: "zh-Hans" };
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(["fa"]);
/** Hebrew, Arabic and what is written like them. */
const RIGHT_TO_LEFT_LETTER = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

const current = signal<{ readonly language: Language; readonly words: Partial<Words> }>({
  language: "en",
  words: FIRST,
});

/** Loads what English says on the screens that are no part of the first load; every other language is one file. */
export async function allWords(): Promise<void> {
  if (current.peek().words !== FIRST) return;
  const { en } = await import("./en.ts");
  if (current.peek().words === FIRST) current.value = { language: "en", words: en };
}

/**
 * @param values what stands for `{name}` in the text; `n` chooses the plural
 * @returns the text in the chosen language
 */
export function t(key: Key, values: Readonly<Record<string, string | number>> = {}): string {
  const { words, language: spoken } = current.value;
  const text = words[key];
  if (text === undefined) {
    // Drawn again when they are there; where they cannot be loaded, the screen that needs them says so.
    allWords().catch(() => {});
    return "";
  }
  const chosen = typeof text === "string" ? text : (text[pluralOf(spoken, Number(values.n ?? 0))] ?? text.other ?? "");
  return chosen.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? "";
    return typeof value === "number" ? number(value) : isolated(value, spoken);
  });
}

/** A name of the other direction would turn the words around it: it gets a direction of its own (U+2068 … U+2069). */
function isolated(value: string, spoken: Language): string {
  const isOther = RIGHT_TO_LEFT.has(spoken) ? value !== "" : RIGHT_TO_LEFT_LETTER.test(value);
  return isOther ? `\u2068${value}\u2069` : value;
}

const rules = new Map<string, Intl.PluralRules>();
function pluralOf(spoken: Language, n: number): Intl.LDMLPluralRule {
  const known = rules.get(spoken) ?? new Intl.PluralRules(spoken);
  rules.set(spoken, known);
  return known.select(n);
}

/** Whether the chosen language is written from right to left. */
export const isRightToLeft = (): boolean => RIGHT_TO_LEFT.has(current.value.language);

/** The tag for Intl: the browser's own region where it speaks the language. */
export function locale(): string {
  const spoken = current.value.language;
  return navigator.languages.find((tag) => tag.startsWith(spoken)) ?? spoken;
}

const formats = new Map<string, Intl.NumberFormat>();
export function number(value: number, digits = 0): string {
  const key = `${locale()} ${digits}`;
  const format = formats.get(key) ?? new Intl.NumberFormat(locale(), { maximumFractionDigits: digits });
  formats.set(key, format);
  return format.format(value);
}

/** @param value 0 … 100 */
export function percent(value: number): string {
  return new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: 2 }).format(value / 100);
}

/** `a, b and c` in the chosen language; each stays whole beside words of the other direction. */
export function list(items: readonly string[]): string {
  const spoken = current.value.language;
  return new Intl.ListFormat(spoken, { type: "unit", style: "short" }).format(
    items.map((one) => isolated(one, spoken)),
  );
}

/** Loads the language whenever another is chosen, and says on the document which it is. */
export function followLanguage(): void {
  effect(() => {
    const wanted = language.value;
    LOADERS[wanted]().then(
      (words) => {
        if (language.peek() !== wanted) return;
        current.value = { language: wanted, words };
        document.documentElement.lang = TAGS[wanted];
        document.documentElement.dir = RIGHT_TO_LEFT.has(wanted) ? "rtl" : "ltr";
      },
      // The file is not there while the service is updated: English stays, which is right for each key.
      () => {},
    );
  });
}
