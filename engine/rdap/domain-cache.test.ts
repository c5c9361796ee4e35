import { describe, expect, it } from "vitest";
import { createDomainCache, type LookUp } from "./domain-cache.ts";

const DAY_MS = 86_400_000;

/** A registry whose answers the test gives when it likes. */
function rig() {
  const asked: string[] = [];
  const open = new Map<string, (found: LookUp | Error) => void>();
  let nowMs = 1_000;
  const cache = createDomainCache({
    wallNowMs: () => nowMs,
    lookUp: (domain) => {
      asked.push(domain);
      return new Promise((resolve, reject) => {
        open.set(domain, (found) => (found instanceof Error ? reject(found) : resolve(found)));
      });
    },
  });
  return {
    cache,
    asked,
    pass: (ms: number) => {
      nowMs += ms;
    },
    async answer(domain: string, found: LookUp | Error) {
      open.get(domain)?.(found);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const found = (expiresAtMs: number | null): LookUp => ({ expiresAtMs, askAgainAfterMs: DAY_MS });

describe("domain cache", () => {
  it("knows nothing at first, asks once, then knows for a day", async () => {
    const { cache, asked, answer, pass } = rig();
    expect(cache.expiresAtMs("a.test")).toBeNull();
    expect(cache.expiresAtMs("a.test")).toBeNull();
    await answer("a.test", found(77));
    expect(cache.expiresAtMs("a.test")).toBe(77);
    pass(DAY_MS - 1);
    expect(cache.expiresAtMs("a.test")).toBe(77);
    expect(asked).toEqual(["a.test"]);
  });

  it("gives the value of yesterday while it asks again", async () => {
    const { cache, asked, answer, pass } = rig();
    cache.expiresAtMs("a.test");
    await answer("a.test", found(77));
    pass(DAY_MS);
    expect(cache.expiresAtMs("a.test")).toBe(77);
    expect(cache.expiresAtMs("a.test")).toBe(77);
    await answer("a.test", found(88));
    expect(cache.expiresAtMs("a.test")).toBe(88);
    expect(asked).toEqual(["a.test", "a.test"]);
  });

  it("keeps what it knew when the registry cannot be asked, and asks again soon", async () => {
    const { cache, asked, answer, pass } = rig();
    cache.expiresAtMs("a.test");
    await answer("a.test", found(77));
    pass(DAY_MS);
    cache.expiresAtMs("a.test");
    await answer("a.test", new Error("no route"));
    expect(cache.expiresAtMs("a.test")).toBe(77);
    expect(asked).toHaveLength(2);
    pass(15 * 60_000);
    expect(cache.expiresAtMs("a.test")).toBe(77);
    expect(asked).toHaveLength(3);
  });

  it("remembers that a registry does not say", async () => {
    const { cache, asked, answer } = rig();
    cache.expiresAtMs("a.test");
    await answer("a.test", found(null));
    expect(cache.expiresAtMs("a.test")).toBeNull();
    expect(asked).toHaveLength(1);
  });

  it("asks two at a time, in order", async () => {
    const { cache, asked, answer } = rig();
    for (const domain of ["a.test", "b.test", "c.test", "d.test"]) cache.expiresAtMs(domain);
    expect(asked).toEqual(["a.test", "b.test"]);
    const idle = cache.idle();
    await answer("b.test", found(1));
    expect(asked).toEqual(["a.test", "b.test", "c.test"]);
    for (const domain of ["a.test", "c.test", "d.test"]) await answer(domain, found(1));
    await idle;
  });

  it("stays bounded", async () => {
    const { cache, asked } = rig();
    for (let index = 0; index < 30_000; index++) cache.expiresAtMs(`d${index}.test`);
    expect(asked).toHaveLength(2);
    // 2 being asked and 10,000 waiting: the rest is asked for when a check comes again.
    expect(cache.expiresAtMs("d29999.test")).toBeNull();
  });
});
