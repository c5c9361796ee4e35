import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CHECK, checkSuite, PLAIN_SEALING } from "./checks.suite.ts";
import { createAsking, LONGEST_MS, startWithinMs, TAKE_MS } from "./checks.ts";
import { openCheckServer, openChecks } from "./open.ts";

checkSuite("this process", {
  async make() {
    const folder = mkdtempSync(join(tmpdir(), "sonde-checks-"));
    const remove = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
    return { place: { file: join(folder, "state.db") }, remove };
  },
});

describe("waiting for an answer", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("ends untaken, lost or answered, once", async () => {
    const asking = createAsking();
    const withdrawn: string[] = [];
    const untaken = asking.open("api", (id) => withdrawn.push(id));
    vi.advanceTimersByTime(TAKE_MS.api - 1);
    expect(withdrawn).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(await untaken.answer).toEqual({ type: "untaken" });
    expect(withdrawn).toEqual([untaken.id]);
    expect(asking.taken(untaken.id)).toBe(false);

    const lost = asking.open("public", () => {});
    expect(asking.taken(lost.id)).toBe(true);
    expect(asking.taken(lost.id)).toBe(false);
    vi.advanceTimersByTime(LONGEST_MS - TAKE_MS.public);
    expect(await lost.answer).toEqual({ type: "lost" });

    const answered = asking.open("api", () => {});
    asking.taken(answered.id);
    asking.settle(answered.id, { type: "busy" });
    asking.settle(answered.id, { type: "lost" });
    expect(await answered.answer).toEqual({ type: "busy" });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("lasts no longer than POST /test may wait", () => {
    expect(LONGEST_MS).toBeLessThan(75_000);
    // Whatever the time-out, there is time to wait for another check of the same account.
    expect(startWithinMs("api", 60_000)).toBeGreaterThan(5_000);
    expect(startWithinMs("api", 30_000)).toBeGreaterThan(30_000);
    expect(startWithinMs("public", 20_000)).toBeGreaterThan(30_000);
  });
});

describe("one-off checks in one process", () => {
  it("of two services do not meet", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sonde-checks-"));
    const taken: string[] = [];
    const server = await openCheckServer({ file: join(folder, "one.db") }, PLAIN_SEALING, {
      location: "any",
      room: { api: 1, public: 1 },
      async take() {
        taken.push("one");
        return { type: "busy" };
      },
    });
    const other = await openChecks({ file: join(folder, "other.db") }, () => PLAIN_SEALING);
    const answer = other.ask("api", "any", CHECK);
    await other.close();
    expect(await answer).toEqual({ type: "lost" });
    expect(taken).toEqual([]);
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
