import { expect, it } from "vitest";
import { WORLD } from "../parts/world-outline.ts";
import { placeOf } from "./places.ts";

it("finds a country by its code", () => {
  // In half degrees from 180 west and 80 north: 10 east, 51 north.
  expect(placeOf("de")).toEqual({ x: 381, y: 58 });
});

it("has small countries, too, each on the map", () => {
  for (const code of ["sg", "hk", "mt", "lu", "bh", "is", "nz"]) {
    const place = placeOf(code);
    expect(place?.x).toBeGreaterThan(0);
    expect(place?.x).toBeLessThan(WORLD.width);
    expect(place?.y).toBeGreaterThan(0);
    expect(place?.y).toBeLessThan(WORLD.height);
  }
});

it("knows no place of what is no country", () => {
  for (const code of ["any", "", "d", "berlin", "xx", "__proto__"]) expect(placeOf(code)).toBeNull();
});
