/** Where a location is on the map: its code is a country's. Pure. */
import { COUNTRIES } from "../parts/world-outline.ts";

export interface MapPoint {
  readonly x: number;
  readonly y: number;
}

const PLACES: ReadonlyMap<string, MapPoint> = new Map(
  COUNTRIES.split(" ").map((entry) => {
    const [x = 0, y = 0] = entry.slice(2).split(",").map(Number);
    return [entry.slice(0, 2), { x, y }] as const;
  }),
);

/** @returns null for `any`, and for a country that the map does not have */
export function placeOf(code: string): MapPoint | null {
  return PLACES.get(code) ?? null;
}
