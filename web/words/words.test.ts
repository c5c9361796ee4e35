import { expect, it } from "vitest";
import { LANGUAGES } from "../state/prefs.ts";
import { en } from "./en.ts";
import { fa } from "./fa.ts";
import { ru } from "./ru.ts";
import type { Key, Text, Words } from "./text.ts";
import { zh } from "./zh.ts";

const ALL: Readonly<Record<(typeof LANGUAGES)[number], Words>> = { en, ru, fa, zh };
/** Whole numbers up to it have every plural category that whole numbers have. */
const MOST_COUNTED = 200;
const KEYS = Object.keys(en) as Key[];

const formsOf = (text: Text): readonly string[] => (typeof text === "string" ? [text] : Object.values(text));
const placeholdersOf = (text: string): readonly string[] =>
  [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name))].sort();

for (const language of LANGUAGES) {
  const words = ALL[language];
  const rules = new Intl.PluralRules(language);
  const categories = new Set(Array.from({ length: MOST_COUNTED }, (_, n) => rules.select(n)));

  it(`${language} has every text, and none that is empty`, () => {
    expect(Object.keys(words).sort()).toEqual([...KEYS].sort());
    for (const key of KEYS) for (const form of formsOf(words[key])) expect(form.trim(), key).not.toBe("");
  });

  it(`${language} has every placeholder in every form, and no other`, () => {
    for (const key of KEYS) {
      const wanted = [...new Set(formsOf(en[key]).flatMap(placeholdersOf))].sort();
      const forms = formsOf(words[key]);
      expect([...new Set(forms.flatMap(placeholdersOf))].sort(), key).toEqual(wanted);
      // "The newest one" needs no number; what is many does.
      for (const form of forms) expect(wanted, key).toEqual(expect.arrayContaining([...placeholdersOf(form)]));
    }
  });

  it(`${language} has a form for every number`, () => {
    for (const key of KEYS) {
      const text = words[key];
      if (typeof text === "string") continue;
      for (const category of categories) expect(text[category], `${key} ${category}`).toBeTypeOf("string");
    }
  });
}
