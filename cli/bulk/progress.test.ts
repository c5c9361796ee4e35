import { EventEmitter } from "node:events";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Verdict } from "../../model/verdict.ts";
import type { CheckView } from "../check/outcome.ts";
import { count, openScreen, progressLines } from "./progress.ts";
import { type BulkResult, byLatency, Tally } from "./tally.ts";

function result(at: number, verdict: Verdict, latencyMs: number | null = null): BulkResult {
  const status = verdict === "ok" ? "healthy" : verdict === "unfit" ? "unknown" : "down";
  const view = {
    status,
    verdict,
    error_category: verdict === "ok" ? null : "timeout",
    error_message: "why",
    latency_ms: latencyMs,
    latency_crowded: false,
  };
  const item = { at, id: String(at), kind: "vless" as const, place: "a:1", name: null, settings: {} };
  return { item, view: view as CheckView };
}

const AT_WORK = { running: 7, secondLooks: 0, isCut: false, isStopping: false };

describe("progress", () => {
  it("tells how far it is, how fast, and how long it takes", () => {
    const tally = new Tally(2_000);
    for (let at = 1; at <= 1_234; at++) tally.add(result(at, at % 4 === 0 ? "timeout" : "ok"));
    expect(progressLines(tally, AT_WORK, 8.5, 200)).toEqual([
      "████████████░░░░░░░░ 61.7 %  1,234 of 2,000 · 9/s · 1 min 31 s left · 7 in flight",
      "vless 926/1,234",
      "healthy 926 · timeout 308",
    ]);
    const cut = progressLines(tally, { ...AT_WORK, secondLooks: 3, isCut: true }, null, 200)[0];
    expect(cut).toMatch(/2,000 · 7 in flight · 3 looked at again · our own network is cut, waiting$/);
  });

  it("fits into any width", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 300 }),
        fc.nat(5_000),
        fc.double({ min: 0, noNaN: true }),
        (columns, total, rate) => {
          for (const line of progressLines(new Tally(total), AT_WORK, rate, columns))
            expect(line.length).toBeLessThan(columns);
        },
      ),
    );
  });

  it.each([
    [0, "0"],
    [999, "999"],
    [1_000, "1,000"],
    [1_234_567, "1,234,567"],
  ])("%d is %s", (number, text) => expect(count(number)).toBe(text));
});

describe("the tally", () => {
  it("counts faults of ours apart, and keeps the reason of the first", () => {
    const tally = new Tally(3);
    tally.add(result(1, "ok"), true);
    tally.add(result(2, "unfit"));
    expect(tally).toMatchObject({ checked: 2, healthy: 1, resumed: 1, unmeasured: 1, unmeasuredReason: "why" });
  });

  it("knows its rate of the last ten seconds", () => {
    const tally = new Tally(100);
    expect(tally.rate(0)).toBeNull();
    for (let second = 1; second <= 20; second++) {
      tally.add(result(second, "ok"));
      if (second > 10) tally.add(result(100 + second, "ok"));
      expect(tally.rate(second * 1_000)).toBeCloseTo(second <= 10 ? 1 : second >= 20 ? 2 : 1 + (second - 10) / 10, 0);
    }
  });

  it("sorts by latency, what has none last", () => {
    const sorted = byLatency([
      result(1, "ok", null),
      result(2, "ok", 9),
      result(3, "timeout", 1),
      result(4, "ok", 2),
      result(5, "ok", null),
    ]);
    expect(sorted.map(({ item }) => item.at)).toEqual([4, 2, 1, 5]);
  });
});

describe("the screen", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  function terminal(columns: number) {
    let written = "";
    const stream = Object.assign(new EventEmitter(), {
      columns,
      write: (text: string) => {
        written += text;
        return true;
      },
    });
    const taken = (): string => {
      const text = written;
      written = "";
      return text;
    };
    return { stream: stream as unknown as NodeJS.WriteStream, taken };
  }

  it("goes back over all rows that its lines take, also where the terminal has become narrower", () => {
    const { stream, taken } = terminal(40);
    let lines: readonly string[] = ["x".repeat(39), "y".repeat(30)];
    const screen = openScreen(stream, () => lines);
    expect(taken()).toBe(`\r${lines[0]}\u001b[K\n${lines[1]}\u001b[K\u001b[J`);
    vi.advanceTimersByTime(1_000);
    expect(taken()).toBe("");
    stream.columns = 20;
    lines = ["short"];
    stream.emit("resize");
    // 39 columns are two rows of 20 now, 30 are two.
    expect(taken()).toBe("\r\u001b[3Ashort\u001b[K\u001b[J");
    screen.close();
    expect(taken()).toBe("\r\u001b[J");
    vi.advanceTimersByTime(1_000);
    stream.emit("resize");
    expect(taken()).toBe("");
  });
});
