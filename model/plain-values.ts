/** Values of another process, one by one: what JSON or a structured clone can carry, read into a type with bounds. Linear in their length. */

/** It cannot be what it should be. The message names the field and the bound, never the value: that may be a secret, or megabytes. */
export class Refused extends Error {
  override readonly name = "Refused";
}

export type Fields = Readonly<Record<string, unknown>>;

/** The last millisecond of the year 9999: four digits in ISO 8601, and within the 64 bits of both databases. */
export const LATEST_MS = 253_402_300_799_999;

/** An object with members: neither null nor a list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown, what: string): Fields {
  if (!isFields(value)) throw new Refused(`${what} is no object`);
  return value;
}

/** Neither NaN nor infinite; -0 becomes 0. */
export function numberOf(value: unknown, least: number, most: number, what: string): number {
  if (typeof value !== "number" || !(value >= least && value <= most)) {
    throw new Refused(`${what} is no number from ${least} to ${most}`);
  }
  return value + 0;
}

export function numberOrNull(value: unknown, most: number, what: string): number | null {
  return value === null ? null : numberOf(value, 0, most, what);
}

/** 0 or more, exact in a double. */
export function countOf(value: unknown, what: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Refused(`${what} is no whole number`);
  return (value as number) + 0;
}

export function booleanOf(value: unknown, what: string): boolean {
  if (typeof value !== "boolean") throw new Refused(`${what} is neither true nor false`);
  return value;
}

/** Well-formed Unicode without U+0000, which PostgreSQL cannot store. @param most UTF-16 units */
export function textOf(value: unknown, most: number, what: string): string {
  if (typeof value !== "string") throw new Refused(`${what} is no text`);
  if (value.length > most) throw new Refused(`${what} is longer than ${most} characters`);
  if (!isStorable(value)) throw new Refused(`${what} holds U+0000 or a lone surrogate`);
  return value;
}

export function textOrNull(value: unknown, most: number, what: string): string | null {
  return value === null ? null : textOf(value, most, what);
}

export function oneOf<Word extends string>(value: unknown, words: ReadonlySet<string>, what: string): Word {
  if (typeof value !== "string" || !words.has(value)) throw new Refused(`${what} is not one of the known words`);
  return value as Word;
}

export function listOf(value: unknown, most: number, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Refused(`${what} is no list`);
  if (value.length > most) throw new Refused(`${what} has more than ${most} entries`);
  return value;
}

const HALF = /\p{Surrogate}/u;
const HALVES = /\0|\p{Surrogate}/gu;

function isStorable(text: string): boolean {
  return !text.includes("\0") && !HALF.test(text);
}

/** The nearest text that textOf() takes. @param most UTF-16 units */
export function storableText(text: string, most: number): string {
  const cut = text.length > most ? text.slice(0, most) : text;
  return isStorable(cut) ? cut : cut.replace(HALVES, "\ufffd");
}

/** The nearest number that numberOf() takes from 0 on; what is none becomes 0. */
export function nearestNumber(value: number, most: number): number {
  if (!(value >= 0)) return 0;
  return value > most ? most : value + 0;
}

export function nearestOrNull(value: number | null, most: number): number | null {
  return value === null || !Number.isFinite(value) ? null : nearestNumber(value, most);
}
