import { afterEach, describe, expect, it, vi } from "vitest";
import type { CheckerReport } from "../../store/state/checkers.ts";
import { RunOutbox } from "./run-outbox.ts";

const GAP_MS = 20;

function checkerOf(id: string): CheckerReport {
  const state = { room: 1, inFlight: 0, isFit: true, reasons: [], isLeaving: false };
  return { ...state, location: "any", id, name: id, version: "1", atMs: 0, clockOffsetMs: 0 };
}

function scene() {
  vi.useFakeTimers({ now: 1_000 });
  const posted: { readonly to: string; readonly items: readonly number[]; readonly atMs: number }[] = [];
  const outbox = new RunOutbox<number>({
    gapMs: GAP_MS,
    monotonicNowMs: Date.now,
    after(delayMs, act) {
      const timer = setTimeout(act, delayMs);
      return () => clearTimeout(timer);
    },
    sizeBytes: (item) => item,
    post: ({ id }, items) => posted.push({ to: id, items, atMs: Date.now() - 1_000 }),
  });
  return { outbox, posted };
}

afterEach(() => {
  vi.useRealTimers();
});

describe("RunOutbox", () => {
  it("sends the first at once, and what follows within the gap in one message at its end", () => {
    const { outbox, posted } = scene();
    const [a, b] = [checkerOf("a"), checkerOf("b")];
    outbox.add(a, [1]);
    outbox.add(b, [2]);
    vi.advanceTimersByTime(5);
    outbox.add(a, [3, 4]);
    vi.advanceTimersByTime(10);
    outbox.add(a, [5]);
    expect(posted).toHaveLength(2);
    vi.advanceTimersByTime(100);
    outbox.add(a, [6]);
    expect(posted).toEqual([
      { to: "a", items: [1], atMs: 0 },
      { to: "b", items: [2], atMs: 0 },
      { to: "a", items: [3, 4, 5], atMs: GAP_MS },
      { to: "a", items: [6], atMs: 115 },
    ]);
  });

  it("sends nothing that is larger than a message may be, and everything once", () => {
    const { outbox, posted } = scene();
    const a = checkerOf("a");
    const small = new Array<number>(300).fill(1);
    outbox.add(a, small);
    outbox.add(a, [200_000, 200_000, 1, 300_000, 1]);
    vi.advanceTimersByTime(GAP_MS);
    expect(posted.map(({ items }) => items.length)).toEqual([128, 128, 45, 2, 1, 1]);
    expect(posted.flatMap(({ items }) => items)).toEqual([...small, 200_000, 200_000, 1, 300_000, 1]);
  });

  it("sends nothing more once it is closed", () => {
    const { outbox, posted } = scene();
    outbox.add(checkerOf("a"), [1]);
    outbox.add(checkerOf("a"), [2]);
    outbox.close();
    vi.advanceTimersByTime(100);
    expect(posted).toHaveLength(1);
  });
});
