/** Configurations that brought a prober down. */
import { describe, expect, it } from "vitest";
import type { Harm } from "../../store/sql/coordination/quarantine-port.ts";
import { type Ground, NOW_MS } from "./ground.suite.ts";

const HOUR_MS = 3_600_000;

export function quarantineTests(currentGround: () => Ground): void {
  const harm = (fingerprint: string): Harm => ({
    fingerprint,
    kind: "openvpn",
    reason: "hangs in native code",
    monitorId: 7,
    location: "any",
  });

  describe("quarantine", () => {
    it("holds a configuration for an hour, then longer, and counts what is told twice once", async () => {
      const { quarantine } = currentGround().plane;
      expect(await quarantine.find("a", NOW_MS)).toBeUndefined();
      const first = await quarantine.strike(harm("a"), NOW_MS);
      expect(first).toEqual({
        ...harm("a"),
        id: first.id,
        strikes: 1,
        firstAtMs: NOW_MS,
        lastAtMs: NOW_MS,
        untilMs: NOW_MS + HOUR_MS,
      });
      expect(await quarantine.strike({ ...harm("a"), monitorId: 8 }, NOW_MS + 5)).toEqual(first);
      expect(await quarantine.find("a", NOW_MS + HOUR_MS - 1)).toEqual(first);
      expect(await quarantine.find("a", NOW_MS + HOUR_MS)).toBeUndefined();
      const laterMs = NOW_MS + 2 * HOUR_MS;
      const second = await quarantine.strike({ ...harm("a"), monitorId: null, location: "de" }, laterMs);
      expect(second).toEqual({
        ...first,
        monitorId: null,
        location: "de",
        strikes: 2,
        lastAtMs: laterMs,
        untilMs: laterMs + 4 * HOUR_MS,
      });
      expect(await quarantine.all()).toEqual([second]);
    });

    it("of several that tell the same event at once all are told the same", async () => {
      const { quarantine } = currentGround().plane;
      const told = await Promise.all(Array.from({ length: 5 }, () => quarantine.strike(harm("b"), NOW_MS)));
      expect(new Set(told.map(({ id, strikes }) => `${id} ${strikes}`)).size).toBe(1);
      expect(told[0]?.strikes).toBe(1);
    });

    it("lists what is held and what is remembered, and forgets both when it is lifted or after a week", async () => {
      const { quarantine } = currentGround().plane;
      const old = await quarantine.strike(harm("old"), NOW_MS);
      const fresh = await quarantine.strike(harm("fresh"), NOW_MS + 2 * HOUR_MS);
      expect((await quarantine.held(NOW_MS + 2 * HOUR_MS)).map(({ fingerprint }) => fingerprint)).toEqual(["fresh"]);
      expect((await quarantine.all()).map(({ fingerprint }) => fingerprint)).toEqual(["fresh", "old"]);
      expect(await quarantine.lift(fresh.id)).toEqual(fresh);
      expect(await quarantine.lift(fresh.id)).toBeUndefined();
      expect(await quarantine.all()).toEqual([old]);
      expect((await quarantine.strike(harm("fresh"), NOW_MS + 3 * HOUR_MS)).strikes).toBe(1);
      await quarantine.strike(harm("new"), NOW_MS + 8 * 24 * HOUR_MS);
      expect((await quarantine.all()).map(({ fingerprint }) => fingerprint)).toEqual(["new"]);
    });
  });
}
