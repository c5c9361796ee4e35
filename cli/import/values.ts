/** Values of others' files, whatever type they have there: each reader takes anything and says undefined for what it cannot use. Pure. */
import { type Fields, isFields } from "../../model/plain-values.ts";

export { type Fields, isFields };

const NONE: Fields = Object.freeze({});
/** Characters of a foreign text within a note. */
const MOST_QUOTED = 80;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Its members; none of what is no object. */
export function fieldsIn(value: unknown): Fields {
  return isFields(value) ? value : NONE;
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** An own member: names such as `constructor` come from outside. */
export function memberOf<Value>(fields: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** A text or a number as text; undefined for what is empty or something else. */
export function textIn(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  if (typeof value === "bigint") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A number, or a text that is one. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "string" || !/^\s{0,20}[+-]?\d{1,20}(?:\.\d{1,20})?\s{0,20}$/.test(value)) return undefined;
  return Number(value);
}

/** true, 1, "true", "1", "yes", "on" and their opposites. */
export function booleanIn(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== "string" || value.length > 8) return undefined;
  const word = value.trim().toLowerCase();
  if (["true", "1", "yes", "on"].includes(word)) return true;
  return ["false", "0", "no", "off"].includes(word) ? false : undefined;
}

/** What a text holds as JSON; what is no text, as it is. */
export function jsonIn(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** One line that a note may repeat. */
export function quoted(value: unknown): string {
  const text = (typeof value === "string" ? value : (JSON.stringify(value) ?? String(value))).replace(UNSEEN, " ");
  return text.length > MOST_QUOTED ? `${[...text.slice(0, MOST_QUOTED)].slice(0, -1).join("")}…` : text;
}

/** Code points. */
export function cutTo(text: string, most: number): string {
  return text.length <= most ? text : [...text.slice(0, 2 * most)].slice(0, most).join("");
}

/** Members, read as the functions above read values. */
export function textAt(fields: Fields, name: string): string | undefined {
  return textIn(memberOf(fields, name));
}

export function numberAt(fields: Fields, name: string): number | undefined {
  return numberIn(memberOf(fields, name));
}

export function booleanAt(fields: Fields, name: string): boolean | undefined {
  return booleanIn(memberOf(fields, name));
}

export function fieldsAt(fields: Fields, name: string): Fields {
  return fieldsIn(memberOf(fields, name));
}

export function listAt(fields: Fields, name: string): readonly unknown[] {
  return listIn(memberOf(fields, name));
}

/** What of a list has members itself. */
export function rowsAt(fields: Fields, name: string): readonly Fields[] {
  return listAt(fields, name).filter(isFields);
}
