/** Whether a record that people expect is among those of a reply. Pure. */
import { canonicalIp } from "../../net/ip.ts";
import type { DataType } from "./data.ts";

/** A text in quotes as zone files write it (RFC 1035 section 5.1), and the blanks behind it. */
const QUOTED_TEXT = /"((?:[^"\\]|\\.)*)"\s*/suy;

/** @param records as data.ts writes them @param expected as people write zone files */
export function hasRecord(records: readonly string[], expected: string, type: DataType): boolean {
  if (type === "TXT" && records.includes(joined(expected))) return true;
  const wanted = comparable(expected, type);
  return records.some((record) => comparable(record, type) === wanted);
}

/**
 * Case counts in text only, as names have none (RFC 4343). What never counts: a final dot, the spelling of an address, quotes around a text, the
 * width of blanks between fields.
 */
function comparable(record: string, type: DataType): string {
  if (type === "TXT") return unquoted(record);
  const words = record.split(/\s+/).map(unquoted);
  if (type === "CAA") return [words[0], words[1]?.toLowerCase(), ...words.slice(2)].join(" ");
  return words.map((word) => canonicalIp(word) ?? nameWithoutDot(word)).join(" ");
}

/** What a TXT record of these texts says: a record's texts are one that was cut into pieces. */
function joined(texts: string): string {
  let whole = "";
  let end = 0;
  while (end < texts.length) {
    QUOTED_TEXT.lastIndex = end;
    const [matched = "", text = ""] = QUOTED_TEXT.exec(texts) ?? [];
    if (matched === "") return texts;
    whole += text.replace(/\\(\D)/gu, "$1");
    end += matched.length;
  }
  return whole;
}

function unquoted(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

function nameWithoutDot(word: string): string {
  return (word.length > 1 && word.endsWith(".") ? word.slice(0, -1) : word).toLowerCase();
}
