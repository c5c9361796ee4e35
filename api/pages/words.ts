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

/** @param language a tag, such as `ru` or `zh-Hans` */
export function wordsIn(language: string): PageWords {
  return BY_LANGUAGE.get(language.split("-")[0]?.toLowerCase() ?? "") ?? english;
}
