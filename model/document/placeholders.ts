/**
 * Placeholders in the texts of a document. `${env:NAME}` and `${file:PATH}` stand for what only the machine of `sonde apply` has; the service
 * never fills one in, because a document that it is sent must not read its environment or its files. `$${` is a literal `${`. Pure.
 */

const ESCAPED = /\$\$\{/g;
/** A name or a path has no braces and is one line. */
const PLACEHOLDER = /\$\$\{|\$\{(env|file):([^{}\r\n]{1,4096})\}/g;

export interface Placeholder {
  readonly source: "env" | "file";
  readonly name: string;
}

/** The text in which nothing is a placeholder any more. */
export function escapeText(text: string): string {
  return text.includes("${") ? text.replaceAll("${", () => "$${") : text;
}

/** What an escaped text says. */
export function unescapeText(text: string): string {
  return text.includes("$${") ? text.replace(ESCAPED, () => "${") : text;
}

/** The first that is not escaped; undefined: there is none. */
export function placeholderIn(text: string): Placeholder | undefined {
  if (!text.includes("${")) return undefined;
  for (const [, source, name] of text.matchAll(PLACEHOLDER)) {
    if (source !== undefined && name !== undefined) return { source: source as Placeholder["source"], name };
  }
  return undefined;
}

/** The text with its placeholders filled in. What they stand for is escaped: a secret that looks like a placeholder is none. */
export function fillPlaceholders(text: string, textOf: (placeholder: Placeholder) => string): string {
  if (!text.includes("${")) return text;
  return text.replace(PLACEHOLDER, (whole, source: Placeholder["source"] | undefined, name: string | undefined) =>
    source === undefined || name === undefined ? whole : escapeText(textOf({ source, name })),
  );
}

/** What is exported in the place of a secret. @param words such as the key and the field */
export function environmentPlaceholder(...words: readonly string[]): string {
  const name = words
    .join("_")
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .split("_")
    .filter((word) => word !== "")
    .join("_")
    .toUpperCase();
  return `\${env:${/^[0-9]/.test(name) ? `_${name}` : name || "SECRET"}}`;
}
