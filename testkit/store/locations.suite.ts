/** Locations and the keys that are sealed to them. */
import { describe, expect, it } from "vitest";
import { type Ground, NOW_MS } from "./ground.suite.ts";

export function locationTests(currentGround: () => Ground): void {
  describe("locations", () => {
    it("are listed by code; each is added once, and removed", async () => {
      const { locations } = currentGround().plane;
      expect(await locations.all()).toEqual([]);
      expect(await locations.add("nl", "key of nl", NOW_MS)).toBe(true);
      expect(await locations.add("any", "key of any", NOW_MS + 1)).toBe(true);
      expect(await locations.add("nl", "another", NOW_MS + 2)).toBe(false);
      const nl = { code: "nl", sealedKey: "key of nl", nextSealedKey: null, createdAtMs: NOW_MS };
      expect((await locations.all()).map(({ code }) => code)).toEqual(["any", "nl"]);
      expect(await locations.find("nl")).toEqual(nl);
      expect(await locations.remove("nl")).toBe(true);
      expect(await locations.remove("nl")).toBe(false);
      expect(await locations.find("nl")).toBeUndefined();
    });

    it("change their key in two steps, one rotation at a time", async () => {
      const { locations } = currentGround().plane;
      expect(await locations.addKey("de", "second")).toBe(false);
      await locations.add("de", "first", NOW_MS);
      expect(await locations.promoteKey("de")).toBe(false);
      expect(await locations.addKey("de", "second")).toBe(true);
      expect(await locations.addKey("de", "third")).toBe(false);
      expect(await locations.find("de")).toMatchObject({ sealedKey: "first", nextSealedKey: "second" });
      expect(await locations.promoteKey("de")).toBe(true);
      expect(await locations.find("de")).toMatchObject({ sealedKey: "second", nextSealedKey: null });
    });
  });
}
