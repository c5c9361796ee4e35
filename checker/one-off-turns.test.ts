import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CHECK, measured } from "../store/state/checks.suite.ts";
import { type CheckReply, type OneOffCheck, startWithinMs } from "../store/state/checks.ts";
import { withTurns } from "./one-off-turns.ts";

describe("withTurns", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function scene() {
    const running: { readonly check: OneOffCheck; end(reply: CheckReply): void; fail(): void }[] = [];
    const run = withTurns(
      (check) => new Promise((end, reject) => running.push({ check, end, fail: () => reject(new Error("no")) })),
      (delayMs, act) => {
        const timer = setTimeout(act, delayMs);
        return () => clearTimeout(timer);
      },
    );
    return { running, run: (identity: string | null) => run({ ...CHECK, identity }, "api") };
  }
  const settle = () => vi.advanceTimersByTimeAsync(0);

  it("runs one account's checks one after the other, others beside them", async () => {
    const { running, run } = scene();
    const [first, second] = [run("ada"), run("ada")];
    void run("bob");
    void run(null);
    void run(null);
    await settle();
    expect(running.map(({ check }) => check.identity).sort()).toEqual(["ada", "bob", null, null]);
    const one = running.find(({ check }) => check.identity === "ada");
    one?.end(measured(1));
    expect(await first).toEqual(measured(1));
    await settle();
    const two = running.findLast(({ check }) => check.identity === "ada");
    expect(two).not.toBe(one);
    two?.end(measured(2));
    expect(await second).toEqual(measured(2));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("goes on after one that failed", async () => {
    const { running, run } = scene();
    const first = run("ada").catch(() => "failed");
    const second = run("ada");
    await settle();
    running[0]?.fail();
    expect(await first).toBe("failed");
    await settle();
    running[1]?.end(measured(2));
    expect(await second).toEqual(measured(2));
  });

  it("says busy to one whose turn does not come in time, and never runs it", async () => {
    const { running, run } = scene();
    void run("ada");
    const late = run("ada");
    await vi.advanceTimersByTimeAsync(startWithinMs("api", CHECK.timeoutMs));
    expect(await late).toEqual({ type: "busy" });
    running[0]?.end(measured(1));
    await settle();
    expect(running).toHaveLength(1);
  });
});
