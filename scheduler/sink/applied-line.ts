/** Lines of the spool that were applied before they were written there. */

const MARK = ',"applied":true}';

/** @param line a JSON object with members. ClickHouse skips the member that it has no column for. */
export function markApplied(line: string): string {
  return `${line.slice(0, -1)}${MARK}`;
}

/** The mark ends the line: within a string of JSON its quotes would be escaped. */
export function isApplied(line: string): boolean {
  return line.endsWith(MARK);
}
