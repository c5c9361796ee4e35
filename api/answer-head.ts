/** The head of an answer, as text. */
import { STATUS_CODES } from "node:http";

const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([code, words]) => [Number(code), `HTTP/1.1 ${code} ${words}\r\n`]),
);
/** A value with one would be two lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;
/** Of a Date header's text, ms. */
const DATE_FRESH_MS = 1_000;

let date = "";
let dateUntilMs = 0;

/** RFC 9110 section 6.6.1. It is made once a second. */
export function dateLine(): string {
  const nowMs = Date.now();
  if (nowMs >= dateUntilMs || nowMs < dateUntilMs - DATE_FRESH_MS) {
    date = `Date: ${new Date(nowMs).toUTCString()}\r\n`;
    dateUntilMs = nowMs + DATE_FRESH_MS;
  }
  return date;
}

/**
 * @param headers names and values in turn; one whose value cannot be written is left out
 * @param last lines of the server's own, each with its end
 */
export function answerHead(status: number, headers: readonly string[], last: string): string {
  let text = (STATUS_LINES.get(status) ?? `HTTP/1.1 ${status} \r\n`) + dateLine();
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const value = headers[index + 1] ?? "";
    if (!CONTROL.test(value)) text += `${headers[index] ?? ""}: ${value}\r\n`;
  }
  return `${text}${last}\r\n`;
}
