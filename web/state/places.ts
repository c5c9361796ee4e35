/** Where a location is on the map, by its code: `de`, `de-fra` and `de2` are in Germany. Pure. */
import { COUNTRIES } from "../parts/world-outline.ts";

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** What people write and ISO 3166 does not. */
const OTHER_CODES: Readonly<Record<string, string>> = { uk: "gb" };

const PLACES: ReadonlyMap<string, Place> = new Map(
  COUNTRIES.split(" ").map((entry) => {
    const [x = 0, y = 0] = entry.slice(2).split(",").map(Number);
    return [entry.slice(0, 2), { x, y }] as const;
  }),
);

/** @returns null where the code does not begin with a country's */
export function placeOf(code: string): Place | null {
  const [, letters = ""] = /^([a-z]{2})(?![a-z])/.exec(code.toLowerCase()) ?? [];
  return PLACES.get(OTHER_CODES[letters] ?? letters) ?? null;
}
