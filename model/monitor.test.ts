import { describe, expect, it } from "vitest";
import { enabledLocations } from "./monitor.ts";

describe("enabledLocations", () => {
  it.each([
    ["http", ["any"], [], ["any"]],
    ["http", ["de", "nl"], [], ["de", "nl"]],
    ["http", ["de", "nl"], ["nl"], ["de"]],
    ["http", ["de"], ["de"], []],
    ["push", ["de", "nl"], ["nl"], ["any"]],
  ] as const)("%s at %j without %j", (kind, locations, disabledLocations, enabled) => {
    expect(enabledLocations({ kind, locations, disabledLocations })).toEqual(enabled);
  });
});
