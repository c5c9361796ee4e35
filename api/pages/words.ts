/** The words of a status page in its language; English where there are none. Pure. */
import { english, type PageWords } from "./words-en.ts";
import { persian } from "./words-fa.ts";
import { russian } from "./words-ru.ts";
import { chinese } from "./words-zh.ts";

const BY_LANGUAGE: ReadonlyMap<string, PageWords> = new Map([
  ["ru", russian],
  ["fa", persian],
  ["zh", chinese],
]);

/** Entries of a header that are read; a browser sends a few. */
const MOST_LANGUAGES = 20;
const WEIGHT = /^q=([01](?:\.\d{0,3})?)$/i;

/** @returns the language that a reader wants most of those that have words here (RFC 9110 section 12.5.4); English where there is none */
export function wantedLanguage(acceptLanguage: string): string {
  let [wanted, most] = ["en", 0];
  for (const entry of acceptLanguage.split(",", MOST_LANGUAGES)) {
    const [tag = "", ...parameters] = entry.split(";").map((part) => part.trim());
    const language = tag.split("-")[0]?.toLowerCase() ?? "";
    const weights = parameters.flatMap((one) => WEIGHT.exec(one)?.[1] ?? []);
    const weight = Number(weights[0] ?? 1);
    if (weight > most && (language === "en" || BY_LANGUAGE.has(language))) [wanted, most] = [language, weight];
  }
  return wanted;
}

/** @param language a tag, such as `ru` or `zh-Hans` */
export function wordsIn(language: string): PageWords {
  return BY_LANGUAGE.get(language.split("-")[0]?.toLowerCase() ?? "") ?? english;
}
