/** HTML as a separate type: a text from outside cannot get into a page before it was escaped. Pure. */

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
/** Control characters (XML 1.0 section 2.2 has none of them but tab and line ends), and those that turn the direction of a text around. */
const UNSHOWN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|\p{Surrogate}/gu;

/** Markup that is written to a page unchanged. */
export class Html {
  readonly markup: string;

  /** @param markup made by html(), or by what makes text harmless by itself */
  constructor(markup: string) {
    this.markup = markup;
  }
}

type Part = Html | string | number | null | readonly Html[];

/** Removes characters of a text from outside that could change the text around it. */
export function plain(text: string): string {
  return text.replace(UNSHOWN, "");
}

export function escaped(text: string): string {
  return plain(text).replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? "");
}

/** A template of a page: every value that is no Html is escaped. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let markup = strings[0] ?? "";
  for (const [index, part] of parts.entries()) markup += markupOf(part) + (strings[index + 1] ?? "");
  return new Html(markup);
}

function markupOf(part: Part): string {
  if (part === null) return "";
  if (part instanceof Html) return part.markup;
  if (typeof part === "string" || typeof part === "number") return escaped(String(part));
  return part.map((one) => one.markup).join("");
}
