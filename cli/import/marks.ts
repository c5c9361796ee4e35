/**
 * Places in foreign texts where the other program fills in an environment variable. While a document is made they stand as marks, because
 * everything else that looks like a placeholder of ours must be escaped. Pure.
 */
import { escapeText } from "../../model/document/placeholders.ts";

const OPEN = "\u{f0000}";
const CLOSE = "\u{f0001}";
const MARKS = /[\u{f0000}\u{f0001}]/gu;
const MARKED = /\u{f0000}([A-Za-z0-9_]{1,128})\u{f0001}/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: neither database keeps it in a text
const NUL = /\u0000/g;
/** What a marked place may stand for when a field is looked at: part of a name, of a path, of a token. */
const STAND_IN = "placeholder";

/** `${NAME}` and `$NAME` as marks, `$$` as `$`: what Go's os.Expand does. What stands for a mark already is taken out. */
export function markEnvironment(text: string): string {
  if (!text.includes("$")) return text.replace(MARKS, "");
  return text
    .replace(MARKS, "")
    .replace(/\$\$|\$\{([A-Za-z_][A-Za-z0-9_]{0,127})\}|\$([A-Za-z_][A-Za-z0-9_]{0,127})/g, (whole, braced, bare) => {
      if (whole === "$$") return "$";
      return `${OPEN}${braced ?? bare}${CLOSE}`;
    });
}

/** As the document has it. @param takesEnvironment whether marks are places of the source's, not characters of its texts */
export function documentText(text: string, takesEnvironment: boolean): string {
  const escaped = escapeText(text.replace(NUL, ""));
  if (!takesEnvironment) return escaped.replace(MARKS, "");
  return escaped.replace(MARKED, (_, name: string) => `\${env:${name}}`).replace(MARKS, "");
}

/** A text with something harmless where variables are: what the form of a field is judged by. */
export function standIn(text: string): string {
  return text.replace(MARKED, STAND_IN);
}

/** Every text within a value. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [change(name), mapTexts(inner, change)] as const),
  );
}
