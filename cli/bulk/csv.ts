/** Results as CSV (RFC 4180) that is safe in a spreadsheet: no text from a list becomes a formula. Pure. */
import { plain } from "../table.ts";
import type { BulkResult } from "./tally.ts";

export const CSV_HEAD =
  "line,protocol,server,name,status,verdict,error_category,latency_ms,connect_ms,engine_used,assigned_ip,tested_at,error_message,latency_crowded,exit_country,mbit_per_s\r\n";

/** @param mbitPerS null: not measured, or the download brought nothing */
export function csvLine({ item, view }: BulkResult, mbitPerS: number | null): string {
  const cells = [
    item.at,
    item.kind,
    item.place,
    item.name,
    view.status,
    view.verdict,
    view.error_category,
    view.latency_ms,
    view.connect_ms,
    view.engine_used,
    view.assigned_ip,
    view.tested_at,
    view.error_message,
    view.latency_crowded ? "yes" : null,
    view.exit_country ?? null,
    mbitPerS,
  ];
  return `${cells.map(csvCell).join(",")}\r\n`;
}

/** What spreadsheets take for a formula's beginning, full-width forms included (OWASP, CSV injection). */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/;

export function csvCell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = plain(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",'\r\n\t;]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
