import { describe, expect, it } from "vitest";
import { createRefusals } from "./refusals.ts";
import { createShares } from "./shares.ts";

function scene() {
  const at = { nowMs: 0 };
  const said: string[] = [];
  const refusals = createRefusals({
    monotonicNowMs: () => at.nowMs,
    say: (location, count, reason) => void said.push(`${location} ${count} ${reason}`),
  });
  return { at, said, refusals };
}

describe("refusals", () => {
  it("are counted by location, and said once a minute", () => {
    const { at, said, refusals } = scene();
    for (let i = 0; i < 1_000; i += 1) refusals.add("de", 1, "bad");
    refusals.add("nl", 2, "worse");
    expect(said).toEqual(["de 1 bad", "nl 2 worse"]);
    at.nowMs = 60_000;
    refusals.add("de", 1, "bad");
    expect(said.at(-1)).toBe("de 1000 bad");
    expect([...refusals.counts]).toEqual([
      ["de", 1_001],
      ["nl", 2],
    ]);
  });

  it("call a location troubled when they go on, and no longer when they end", () => {
    const { at, refusals } = scene();
    refusals.add("nl", 2, "one version is older");
    refusals.add("de", 10, "bad");
    expect(refusals.troubled()).toEqual(["de"]);
    at.nowMs = 300_001;
    expect(refusals.troubled()).toEqual([]);
    refusals.add("de", 1, "bad");
    expect(refusals.troubled()).toEqual([]);
  });
});

describe("shares", () => {
  it("let a burst through, then so much a second, each name for itself", () => {
    const shares = createShares({ perSecond: 10, burst: 20 });
    expect([shares.take("de", 15, 0), shares.take("de", 15, 0), shares.take("de", 1, 0)]).toEqual([true, true, false]);
    expect(shares.take("nl", 15, 0)).toBe(true);
    expect(shares.take("de", 1, 500)).toBe(false);
    expect(shares.take("de", 1, 1_500)).toBe(true);
  });

  it("one taking far above it is not paid for ever", () => {
    const shares = createShares({ perSecond: 10, burst: 20 });
    expect(shares.take("de", 1e9, 0)).toBe(true);
    expect(shares.take("de", 1, 2_500)).toBe(true);
  });
});
