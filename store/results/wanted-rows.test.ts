import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ResultStore } from "./result-store.ts";
import { askingFirst, insertWhenWanted, WantedRows } from "./wanted-rows.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Topic = "rows-wanted" | "rows-inserted";

function noticesHere() {
  const listeners = new Set<{ readonly topic: Topic; readonly listener: () => void }>();
  const published: Topic[] = [];
  return {
    published,
    publish(topic: Topic): void {
      published.push(topic);
      for (const one of listeners) if (one.topic === topic) one.listener();
    },
    subscribe(topic: Topic, listener: () => void): () => void {
      const one = { topic, listener };
      listeners.add(one);
      return () => void listeners.delete(one);
    },
  };
}

describe("rows that a read needs", () => {
  it("are asked for before the first read, and said to be read every ten seconds after it", async () => {
    const notices = noticesHere();
    let nowMs = 0;
    let inserted = 0;
    const wanted = new WantedRows(notices, () => nowMs);
    let insert = (): void => {};
    insertWhenWanted(notices, {
      want: () =>
        new Promise((resolve) => {
          insert = () => {
            inserted += 1;
            resolve();
          };
        }),
    });
    const reads: string[] = [];
    const ask = async (name: string): Promise<void> => {
      await wanted.ask();
      reads.push(name);
    };
    const both = [ask("first"), ask("second")];
    await vi.advanceTimersByTimeAsync(100);
    expect(reads).toEqual([]);
    insert();
    await Promise.all(both);
    expect([reads, inserted]).toEqual([["first", "second"], 1]);
    nowMs = 9_999;
    await ask("third");
    expect(notices.published).toEqual(["rows-wanted", "rows-inserted"]);
    nowMs = 10_000;
    await ask("fourth");
    expect(notices.published).toEqual(["rows-wanted", "rows-inserted", "rows-wanted"]);
    nowMs = 60_000;
    const late = ask("fifth");
    await vi.advanceTimersByTimeAsync(100);
    expect(reads).toHaveLength(4);
    insert();
    await late;
  });

  it("are not waited for longer than half a second", async () => {
    const wanted = new WantedRows(noticesHere(), () => 0);
    let isDone = false;
    const asked = wanted.ask().then(() => {
      isDone = true;
    });
    await vi.advanceTimersByTimeAsync(499);
    expect(isDone).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await asked;
  });

  it("come before every read of the store, and not before what writes", async () => {
    const calls: string[] = [];
    const store = new Proxy({} as ResultStore, {
      get: (_, name) => async () => void calls.push(String(name)),
    });
    const asking = askingFirst(store, { ask: async () => void calls.push("ask") });
    await asking.newestOf(1, [1], 0);
    await asking.insert({ token: "t", lines: Buffer.from(""), rows: 0 });
    await asking.ping();
    expect(calls).toEqual(["ask", "newestOf", "insert", "ping"]);
  });
});
