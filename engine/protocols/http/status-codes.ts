/** `accepted_statuscodes`: each item one code or one `low-high` range, 100 to 599 (docs/api-contract.md#uptime-fields). */

const ITEM = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/;

export function isStatusCodeItem(item: string): boolean {
  const match = ITEM.exec(item);
  if (match === null) return false;
  return match[2] === undefined || Number(match[1]) <= Number(match[2]);
}

export interface StatusRange {
  readonly first: number;
  readonly last: number;
}

/** Of monitors that say nothing else: thousands of tables would each be read from memory at every check, one stays in the processor's caches. */
const USUAL_ITEM = "200-299";
const USUAL_RANGES: readonly StatusRange[] = [{ first: 200, last: 299 }];

export function compileStatusCodes(items: readonly string[]): readonly StatusRange[] {
  if (items.length === 1 && items[0] === USUAL_ITEM) return USUAL_RANGES;
  return items.flatMap((item) => {
    const [, first, last = first] = ITEM.exec(item) ?? [];
    return first === undefined ? [] : [{ first: Number(first), last: Number(last) }];
  });
}

export function isAmong(ranges: readonly StatusRange[], status: number): boolean {
  return ranges.some(({ first, last }) => first <= status && status <= last);
}
