import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KeyAccess } from "../store/sql/accounts/keys-port.ts";
import type { ControlPlane } from "../store/sql/control-plane/port.ts";
import { createAuthCache, shareReads } from "./auth-cache.ts";

describe("shared reads", () => {
  it("never answers from a read that began before the question", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom("ask", "change", "tick"), { maxLength: 40 }), async (steps) => {
        let value = 0;
        let reads = 0;
        let running = 0;
        let most = 0;
        const read = shareReads(async () => {
          reads += 1;
          running += 1;
          most = Math.max(most, running);
          const seen = value;
          await new Promise((settle) => setImmediate(settle));
          running -= 1;
          return seen;
        });
        const asked: Promise<void>[] = [];
        for (const step of steps) {
          if (step === "change") value += 1;
          else if (step === "tick") await new Promise((settle) => setImmediate(settle));
          else {
            const atLeast = value;
            asked.push(read().then((seen) => expect(seen).toBeGreaterThanOrEqual(atLeast)));
          }
        }
        await Promise.all(asked);
        expect(most).toBeLessThanOrEqual(1);
        expect(reads).toBeLessThanOrEqual(asked.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it("goes on after a failed read", async () => {
    let fails = true;
    const read = shareReads(async () => {
      if (fails) throw new Error("away");
      return 7;
    });
    const first = read();
    const second = read();
    await expect(first).rejects.toThrow("away");
    fails = false;
    await expect(Promise.allSettled([second])).resolves.toHaveLength(1);
    await expect(read()).resolves.toBe(7);
  });
});

describe("the cache of what keys may do", () => {
  it("asks the store once a generation, and keeps nothing that a change overtook", async () => {
    let generation = 1;
    let asked = 0;
    let onAsk = (): void => {};
    const store = {
      dialect: "sqlite",
      generation: async () => generation,
      stamp: () => null,
      keys: {
        access: async (id: number) => {
          asked += 1;
          const answer = { key: { id, name: `at ${generation}` } } as unknown as KeyAccess;
          onAsk();
          await new Promise((settle) => setImmediate(settle));
          return answer;
        },
      },
    } as unknown as ControlPlane;
    const cache = createAuthCache(store);
    await cache.refresh();
    await cache.key(1);
    await cache.key(1);
    expect(asked).toBe(1);
    generation = 2;
    await cache.refresh();
    // While the second question is out, the third generation begins.
    onAsk = () => {
      generation = 3;
      onAsk = () => {};
    };
    const late = cache.key(1);
    await cache.refresh();
    expect((await late)?.key.name).toBe("at 2");
    await cache.refresh();
    expect((await cache.key(1))?.key.name).toBe("at 3");
  });

  it("asks for the generation only when something was committed", async () => {
    let [generation, stamp, asked] = [1, 1, 0];
    const store = {
      dialect: "sqlite",
      stamp: () => stamp,
      generation: async () => {
        asked += 1;
        return generation;
      },
      keys: { access: async (id: number) => ({ key: { id, name: `at ${generation}` } }) },
    } as unknown as ControlPlane;
    const cache = createAuthCache(store);
    for (let request = 0; request < 3; request++) await cache.refresh();
    expect([asked, cache.stamp()]).toEqual([1, 1]);
    expect((await cache.key(1))?.key.name).toBe("at 1");
    // A commit of something else: asked again, nothing forgotten.
    stamp = 2;
    await cache.refresh();
    expect(asked).toBe(2);
    [generation, stamp] = [2, 3];
    // Two at once: neither is answered from before the change.
    await Promise.all([cache.refresh(), cache.refresh()]);
    expect((await cache.key(1))?.key.name).toBe("at 2");
    expect(cache.stamp()).toBe(3);
  });
});
