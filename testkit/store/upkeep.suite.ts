/** Named values, pings, a second connection. */
import { describe, expect, it } from "vitest";
import { StoreError } from "../../store/errors.ts";
import { type Another, type Ground, make } from "./ground.suite.ts";

export function upkeepTests(currentGround: () => Ground, another: Another): void {
  describe("upkeep", () => {
    it("keeps named values", async () => {
      const { plane } = currentGround();
      expect(await plane.meta.get("a")).toBeUndefined();
      await plane.meta.set("a", "1");
      await plane.meta.set("a", "2");
      expect(await plane.meta.get("a")).toBe("2");
    });

    it("answers a ping while open and rejects with StoreError once closed", async () => {
      const second = await another("api");
      await second.ping();
      await second.close();
      await expect(second.ping()).rejects.toThrow(StoreError);
      await expect(second.generation()).rejects.toThrow(StoreError);
      await expect(second.meta.set("x", "y")).rejects.toThrow(StoreError);
    });

    it("lets a second connection see what the first has committed", async () => {
      const ground = currentGround();
      const second = await another("api");
      try {
        const id = await make(ground);
        expect((await second.monitors.recall(id))?.monitor.name).toBe("Shop");
        expect(await second.generation()).toBe(await ground.plane.generation());
      } finally {
        await second.close();
      }
    });
  });
}
