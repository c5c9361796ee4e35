/** What a language is made of. */
import type { en } from "./en.ts";

/** A text, or one text for each plural category of its language (Intl.PluralRules) that it needs. */
export type Text = string | { readonly [Category in Intl.LDMLPluralRule]?: string };
export type Key = keyof typeof en;
/** The same keys in another language. */
export type WordsOf<English> = { readonly [Name in keyof English]: Text };
export type Words = WordsOf<typeof en>;
