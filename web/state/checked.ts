/** What came of many checks: rows as the API sends them, chosen, put in order, and written down. Pure. */
import type { Cell, Sheet } from "./sheet.ts";

export interface Row {
  /** Number of the line or entry in what was checked. */
  readonly line: number;
  readonly name: string;
  readonly protocol: string;
  /** `host:port` as the configuration has it. */
  readonly place: string;
  readonly works: boolean;
  readonly ms: number | null;
  readonly error: string;
  readonly category: string;
  readonly exitIp: string;
  readonly country: string;
  readonly engine: string;
}

export interface Head {
  readonly total: number;
  readonly invalidCount: number;
  readonly invalid: readonly { readonly line: number; readonly reason: string }[];
}

export const CHOICES = ["all", "works", "fails"] as const;
export type Choice = (typeof CHOICES)[number];
export const ORDERS = ["works", "name", "protocol", "ms", "exit", "engine"] as const;
export type Order = (typeof ORDERS)[number];

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** @returns null for a line that is not the first */
export function headOf(value: unknown): Head | null {
  const { total, invalid_count: count, invalid } = fieldsOf(value);
  if (typeof total !== "number") return null;
  const reasons = (Array.isArray(invalid) ? invalid : []).map((one: unknown) => {
    const { line, reason } = fieldsOf(one);
    return { line: numberOf(line) ?? 0, reason: textOf(reason) };
  });
  return { total, invalidCount: numberOf(count) ?? reasons.length, invalid: reasons };
}

/** @returns null for what is no result of a check */
export function rowOf(value: unknown): Row | null {
  const fields = fieldsOf(value);
  const { line, success, server, port } = fields;
  if (typeof line !== "number" || typeof success !== "boolean") return null;
  const host = textOf(server);
  return {
    line,
    name: textOf(fields.tag) || host,
    protocol: textOf(fields.type),
    place: typeof port === "number" && port > 0 ? `${host.includes(":") ? `[${host}]` : host}:${port}` : host,
    works: success,
    ms: numberOf(fields.total_ms),
    error: textOf(fields.error),
    category: textOf(fields.error_category),
    exitIp: textOf(fields.public_ip),
    country: textOf(fields.country),
    engine: textOf(fields.engine_used),
  };
}

/** The line that ends it. @returns whether all was checked; null for another line */
export function endOf(value: unknown): boolean | null {
  const { done } = fieldsOf(value);
  return typeof done === "boolean" ? done : null;
}

export function chosen(rows: readonly Row[], choice: Choice, protocol: string, find: string): readonly Row[] {
  const words = find
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return rows.filter((row) => {
    if (choice !== "all" && row.works !== (choice === "works")) return false;
    if (protocol !== "" && row.protocol !== protocol) return false;
    if (words.length === 0) return true;
    const text = `${row.name} ${row.place} ${row.country} ${row.exitIp} ${row.error}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** What has no value comes last in both directions; equals stay in the order of the list. */
export function ordered(rows: readonly Row[], order: Order, descending: boolean): readonly Row[] {
  const sign = descending ? -1 : 1;
  const { compare } = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const texts = (a: string, b: string) =>
    a === "" || b === "" ? Number(a === "") - Number(b === "") : sign * compare(a, b);
  const numbers = (a: number | null, b: number | null) =>
    a === null || b === null ? Number(a === null) - Number(b === null) : sign * (a - b);
  const by: Record<Order, (a: Row, b: Row) => number> = {
    works: (a, b) => sign * (Number(b.works) - Number(a.works)) || (numbersUp(a.ms, b.ms) as number),
    name: (a, b) => texts(a.name, b.name),
    protocol: (a, b) => texts(a.protocol, b.protocol),
    ms: (a, b) => numbers(a.ms, b.ms),
    exit: (a, b) => texts(a.country || a.exitIp, b.country || b.exitIp),
    engine: (a, b) => texts(a.engine, b.engine),
  };
  return [...rows].sort((a, b) => by[order](a, b) || a.line - b.line);
}

const numbersUp = (a: number | null, b: number | null): number =>
  a === null || b === null ? Number(a === null) - Number(b === null) : a - b;

const COLUMNS: readonly (readonly [string, (row: Row) => Cell])[] = [
  ["line", ({ line }) => line],
  ["name", ({ name }) => name],
  ["protocol", ({ protocol }) => protocol],
  ["server", ({ place }) => place],
  ["works", ({ works }) => (works ? "yes" : "no")],
  ["total_ms", ({ ms }) => ms],
  ["public_ip", ({ exitIp }) => exitIp],
  ["country", ({ country }) => country],
  ["engine_used", ({ engine }) => engine],
  ["error_category", ({ category }) => category],
  ["error", ({ error }) => error],
];

export function sheetOf(rows: readonly Row[]): Sheet {
  return {
    heads: COLUMNS.map(([name]) => name),
    rows: rows.map((row) => COLUMNS.map(([, cell]) => cell(row))),
  };
}

/** The lines of what was pasted, as the API counts them: a list in base64 as a whole is opened. */
export function pastedLines(text: string): readonly string[] {
  return opened(text)
    .split(/\r?\n/)
    .map((line) => line.trim());
}

function opened(text: string): string {
  const packed = text.replace(/\s/g, "");
  if (text.includes("://") || !/^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(packed)) return text;
  try {
    const bytes = Uint8Array.from(atob(packed.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));
    const plain = new TextDecoder().decode(bytes);
    return plain.includes("://") ? plain : text;
  } catch {
    return text;
  }
}
