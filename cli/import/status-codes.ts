/** Lists of accepted status codes in the form of monitors here: codes and ranges from 100 to 599. Pure. */
import type { MonitorDraft } from "./monitor-draft.ts";
import { quoted, textIn } from "./values.ts";

const LEAST = 100;
const MOST = 599;
const STANDARD = "200-299";
/** Ranges of a list that are read; there are 500 codes. */
const MOST_ITEMS = 500;

/** A list of `200`, `200-299`; codes outside of the valid range are cut off. */
export function readCodes(monitor: MonitorDraft, list: unknown): void {
  if (!Array.isArray(list) || list.length === 0) return;
  const items: string[] = [];
  for (const one of list.slice(0, MOST_ITEMS)) {
    const item = codesOf(textIn(one) ?? "");
    if (item === undefined) monitor.changed(`the status code ${quoted(one)} is left out`);
    else items.push(item);
  }
  if (items.length === 0) monitor.lost("none of its status codes is a code from 100 to 599");
  else if (items.join() !== STANDARD) monitor.set("accepted_statuscodes", items);
}

function codesOf(text: string): string | undefined {
  const [, first, last] = /^\s{0,9}(\d{1,4})\s{0,9}(?:-\s{0,9}(\d{1,4})\s{0,9})?$/.exec(text) ?? [];
  if (first === undefined) return undefined;
  return rangeOf(Number(first), Number(last ?? first));
}

function rangeOf(first: number, last: number): string | undefined {
  const [from, to] = [Math.max(first, LEAST), Math.min(last, MOST)];
  if (from > to) return undefined;
  return from === to ? String(from) : `${from}-${to}`;
}

/** Which codes count, while conditions take some away. */
export class Codes {
  readonly #kept: boolean[] = Array.from({ length: MOST - LEAST + 1 }, () => true);

  /** Those that do not hold are taken away. */
  keep(holds: (code: number) => boolean): void {
    for (let code = LEAST; code <= MOST; code++) if (!holds(code)) this.#kept[code - LEAST] = false;
  }

  /** As ranges; empty when none is left. */
  ranges(): readonly string[] {
    const ranges: string[] = [];
    let from: number | undefined;
    for (let code = LEAST; code <= MOST + 1; code++) {
      const isKept = code <= MOST && this.#kept[code - LEAST] === true;
      if (isKept) from ??= code;
      else if (from !== undefined) {
        ranges.push(rangeOf(from, code - 1) ?? "");
        from = undefined;
      }
    }
    return ranges;
  }
}
