import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CHECK, checkSuite, PLAIN_SEALING } from "./checks.suite.ts";
import { createAsking, START_MS, TAKE_MS } from "./checks.ts";
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
    const untaken = asking.open("api", 5_000, (id) => withdrawn.push(id));
    vi.advanceTimersByTime(TAKE_MS.api - 1);
    expect(withdrawn).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(await untaken.answer).toEqual({ type: "untaken" });
    expect(withdrawn).toEqual([untaken.id]);
    expect(asking.taken(untaken.id)).toBe(false);

    const lost = asking.open("public", 5_000, () => {});
    expect(asking.taken(lost.id)).toBe(true);
    expect(asking.taken(lost.id)).toBe(false);
    vi.advanceTimersByTime(5_000 + START_MS + 2_000);
    expect(await lost.answer).toEqual({ type: "lost" });

    const answered = asking.open("api", 5_000, () => {});
    asking.taken(answered.id);
    asking.settle(answered.id, { type: "busy" });
    asking.settle(answered.id, { type: "lost" });
    expect(await answered.answer).toEqual({ type: "busy" });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("lasts no longer than POST /test may wait", () => {
    expect(TAKE_MS.api + 60_000 + START_MS + 2_000).toBeLessThanOrEqual(75_000);
    expect(TAKE_MS.public + 20_000 + START_MS + 2_000).toBeLessThanOrEqual(75_000);
  });
});

describe("passing checks in one process", () => {
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
    const other = await openChecks({ file: join(folder, "other.db") }, PLAIN_SEALING);
    const answer = other.ask("api", "any", CHECK);
    await other.close();
    expect(await answer).toEqual({ type: "lost" });
    expect(taken).toEqual([]);
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
