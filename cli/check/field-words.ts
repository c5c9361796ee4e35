/** `field=value` and `field@file` on the command line, as fields of a request. */
import { readFileSync, statSync } from "node:fs";
import { decodeText } from "../../model/decode-text.ts";
import { usageError } from "../command.ts";

/** Bytes: the largest field of the API is a configuration of 100 KiB. */
const LARGEST_BYTES = 102_400;

/** Numbers, true, false, null and JSON are what they look like; what a file holds is text. */
export function fieldOfWord(word: string): readonly [field: string, value: unknown] {
  const [, field = "", sign] = /^\s*([A-Za-z_]{1,40})\s*([=@])/.exec(word) ?? [];
  if (sign === undefined) throw usageError(`${word} is no field=value, such as interval=60`);
  const value = word.slice(word.indexOf(sign) + 1);
  return [field, sign === "=" ? readValue(value) : textOfFile(value)];
}

/** A secret belongs in a file: every process can read a command line. The newline at its end is not part of it. */
function textOfFile(path: string): string {
  try {
    if (statSync(path).size > LARGEST_BYTES) throw usageError(`${path} is larger than ${LARGEST_BYTES / 1_024} KiB`);
    return decodeText(readFileSync(path)).replace(/\r?\n$/, "");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw typeof code === "string" ? usageError(`cannot read ${path} (${code})`) : error;
  }
}

function readValue(text: string): unknown {
  if (!/^(?:true|false|null|-?\d{1,15}|["[{].*)$/s.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
