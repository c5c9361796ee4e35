/** `accepted_statuscodes`: each item one code or one `low-high` range, 100 to 599 (docs/api-contract.md#uptime-fields). */

const ITEM = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/;

export function isStatusCodeItem(item: string): boolean {
  const match = ITEM.exec(item);
  if (match === null) return false;
  return match[2] === undefined || Number(match[1]) <= Number(match[2]);
}

/** @returns 1 at every accepted code. */
export function compileStatusCodes(items: readonly string[]): Uint8Array {
  const accepted = new Uint8Array(1000);
  for (const item of items) {
    const match = ITEM.exec(item);
    if (match === null) continue;
    accepted.fill(1, Number(match[1]), Number(match[2] ?? match[1]) + 1);
  }
  return accepted;
}
