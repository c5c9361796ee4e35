import { describe, expect, it } from "vitest";
import { ConfigQuarantine } from "./config-quarantine.ts";

const config = (key: string, crashes = 0) => ({ key, crashes });

describe("a config's reputation", () => {
  it("is to blame for the third core that dies with it inside", () => {
    const reputation = new ConfigQuarantine();
    const crashes: number[] = [];
    const blamed = [0, 1, 2].map(() => {
      crashes.push(reputation.crashesOf(config("a")));
      return reputation.recordCrash(config("a", crashes.at(-1)));
    });
    expect(crashes).toEqual([0, 1, 2]);
    expect(blamed).toEqual([false, false, true]);
    expect(reputation.crashesOf(config("b"))).toBe(0);
  });

  it("is clean again once a core outlived it", () => {
    const reputation = new ConfigQuarantine();
    reputation.recordCrash(config("a"));
    reputation.forgetCrashes(config("a"));
    expect(reputation.crashesOf(config("a"))).toBe(0);
  });

  it("of what is kept out is remembered with its reason, the oldest forgotten first", () => {
    const reputation = new ConfigQuarantine();
    for (let index = 0; index <= 10_000; index++) reputation.block(config(`${index}`), `reason ${index}`);
    expect(reputation.quarantined).toBe(10_000);
    expect(reputation.refusalOf(config("0"))).toBeUndefined();
    expect(reputation.refusalOf(config("10000"))).toBe("reason 10000");
  });

  it("does not compute a config's key while none is remembered", () => {
    const untouched = {
      crashes: 0,
      get key(): string {
        throw new Error("a hash was made for nothing");
      },
    };
    const reputation = new ConfigQuarantine();
    expect([reputation.refusalOf(untouched), reputation.crashesOf(untouched)]).toEqual([undefined, 0]);
    reputation.forgetCrashes(untouched);
  });
});
