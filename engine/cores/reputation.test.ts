import { describe, expect, it } from "vitest";
import { Reputation } from "./reputation.ts";

const config = (key: string, deaths = 0) => ({ key, deaths });

describe("a config's reputation", () => {
  it("is to blame for the third core that dies with it inside", () => {
    const reputation = new Reputation();
    const deaths: number[] = [];
    const blamed = [0, 1, 2].map(() => {
      deaths.push(reputation.deathsOf(config("a")));
      return reputation.died(config("a", deaths.at(-1)));
    });
    expect(deaths).toEqual([0, 1, 2]);
    expect(blamed).toEqual([false, false, true]);
    expect(reputation.deathsOf(config("b"))).toBe(0);
  });

  it("is clean again once a core outlived it", () => {
    const reputation = new Reputation();
    reputation.died(config("a"));
    reputation.survived(config("a"));
    expect(reputation.deathsOf(config("a"))).toBe(0);
  });

  it("of what is kept out is remembered with its reason, the oldest forgotten first", () => {
    const reputation = new Reputation();
    for (let index = 0; index <= 10_000; index++) reputation.keepOut(config(`${index}`), `reason ${index}`);
    expect(reputation.quarantined).toBe(10_000);
    expect(reputation.refusalOf(config("0"))).toBeUndefined();
    expect(reputation.refusalOf(config("10000"))).toBe("reason 10000");
  });

  it("does not compute a config's key while none is remembered", () => {
    const untouched = {
      deaths: 0,
      get key(): string {
        throw new Error("a hash was made for nothing");
      },
    };
    const reputation = new Reputation();
    expect([reputation.refusalOf(untouched), reputation.deathsOf(untouched)]).toEqual([undefined, 0]);
    reputation.survived(untouched);
  });
});
