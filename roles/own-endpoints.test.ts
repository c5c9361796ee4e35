import { afterEach, describe, expect, it } from "vitest";
import { OwnBoard } from "../engine/transport/own-board.ts";
import { type OwnEndpointsOptions, type WatchedEndpoints, watchOwnEndpoints } from "./own-endpoints.ts";

describe("names of our stores", () => {
  const running: WatchedEndpoints[] = [];
  afterEach(() => {
    for (const one of running.splice(0)) one.close();
  });

  /** Time that only the test moves; a turn of the watch is asked for by a millisecond's period. */
  async function watch(answer: { now: readonly string[] | Error }, more: Partial<OwnEndpointsOptions> = {}) {
    let nowMs = 0;
    let asked = 0;
    const warnings: string[] = [];
    const own = await watchOwnEndpoints({
      listeners: [],
      storeUrls: ["redis://store.lan"],
      log: { warn: (_fields, message) => warnings.push(message) },
      async lookUp() {
        asked++;
        if (answer.now instanceof Error) throw answer.now;
        return answer.now;
      },
      nowMs: () => nowMs,
      everyMs: 1,
      ...more,
    });
    running.push(own);
    const board = new OwnBoard(own.memory);
    return {
      own,
      warnings,
      entries: () => board.read()?.entries,
      /** Until it has been asked again, and its answer taken. */
      async pass(ms: number) {
        nowMs += ms;
        const before = asked;
        while (asked < before + 1) await new Promise((resolve) => setTimeout(resolve, 1));
        await new Promise((resolve) => setImmediate(resolve));
      },
    };
  }

  it("follow a fail-over, and keep the old address for a while", async () => {
    const answer = { now: ["10.0.0.7"] as readonly string[] | Error };
    const { own, entries, pass } = await watch(answer);
    expect(own.entries).toEqual(["10.0.0.7:6379"]);
    answer.now = ["10.0.0.8", "fd00::8"];
    await pass(60_000);
    expect(entries()).toEqual(["10.0.0.7:6379", "10.0.0.8:6379", "[fd00::8]:6379"]);
    await pass(16 * 60_000);
    expect(entries()).toEqual(["10.0.0.8:6379", "[fd00::8]:6379"]);
  });

  it("keep their last addresses while no resolver resolves them, and that is said", async () => {
    const answer = { now: ["10.0.0.7"] as readonly string[] | Error };
    const { entries, pass, warnings } = await watch(answer);
    answer.now = new Error("SERVFAIL");
    await pass(3_600_000);
    expect(entries()).toEqual(["10.0.0.7:6379"]);
    expect(warnings.at(-1)).toContain("not resolved");
  });

  it("that have no address at the start get one when there is one", async () => {
    const answer: { now: readonly string[] | Error } = { now: new Error("ENOTFOUND") };
    const { own, entries, pass } = await watch(answer);
    expect(own.entries).toEqual([]);
    answer.now = ["10.0.0.9"];
    await pass(5_000);
    expect(entries()).toEqual(["10.0.0.9:6379"]);
  });

  it("that no resolver answers for are asked once at a time", async () => {
    let asked = 0;
    const never = { everyMs: 1, lookUp: () => new Promise<never>(() => void asked++), nowMs: () => 0 };
    const own = watchOwnEndpoints({
      listeners: [{ host: "h.lan", port: 1 }],
      storeUrls: [],
      log: { warn() {} },
      ...never,
    });
    running.push(await own);
    expect(asked).toBe(1);
  });

  it("resolve listeners and stores with the system's resolver by default", async () => {
    const own = await watchOwnEndpoints({
      listeners: [{ host: "0.0.0.0", port: 8_080 }, null],
      storeUrls: ["http://127.0.0.1:8123/x", null],
      log: { warn() {} },
    });
    running.push(own);
    expect(own.entries).toEqual(["0.0.0.0:8080", "127.0.0.1:8123"]);
  });
});
