/** Lines `Key = value` of a file of wg-quick, whatever stands around them: for questions that are asked before the file is parsed. */
import { before, linesOf } from "../../../model/text.ts";

/** Keys in lower case; a comment begins anywhere. */
export function looseEntries(config: string): readonly (readonly [key: string, value: string])[] {
  return linesOf(config).map((line) => {
    const text = before(line, "#");
    const equals = text.indexOf("=");
    return [text.slice(0, Math.max(0, equals)).trim().toLowerCase(), text.slice(equals + 1).trim()];
  });
}

/** Whether it names an endpoint with a port, as a file must. */
export function hasEndpoint(config: string): boolean {
  return looseEntries(config).some(([key, value]) => key === "endpoint" && /:\s*\d/.test(value));
}
