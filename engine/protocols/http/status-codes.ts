/** `accepted_statuscodes`: each item one code or one `low-high` range, 100 to 599 (docs/api-contract.md#uptime-fields). */

const ITEM = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/;

export function isStatusCodeItem(item: string): boolean {
  const match = ITEM.exec(item);
  if (match === null) return false;
  return match[2] === undefined || Number(match[1]) <= Number(match[2]);
}

/** First and last code of each range. */
export type StatusCodes = readonly (readonly [first: number, last: number])[];

export function compileStatusCodes(items: readonly string[]): StatusCodes {
  return items.flatMap((item) => {
    const [, first, last = first] = ITEM.exec(item) ?? [];
    return first === undefined ? [] : [[Number(first), Number(last)] as const];
  });
}

export function isAmong(codes: StatusCodes, status: number): boolean {
  return codes.some(([first, last]) => first <= status && status <= last);
}
