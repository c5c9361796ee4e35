import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mustEqual } from "../../testkit/must.ts";
import { StartQueue } from "./start-queue.ts";

describe("StartQueue", () => {
  test("an alone run is never beside another, every run goes once, equals keep their order", {
    timeout: 120_000,
  }, () => {
    const run = fc.record({ alone: fc.boolean(), lastsTurns: fc.integer({ min: 1, max: 4 }), arrivesAt: fc.nat(10) });
    fc.assert(
      fc.property(fc.array(run, { maxLength: 30 }), fc.integer({ min: 1, max: 400 }), (runs, turnMs) => {
        const turns = new StartQueue<number>();
        const started: number[] = [];
        let running: { id: number; until: number }[] = [];
        for (let turn = 0; turn < 400; turn++) {
          runs.forEach(({ alone, arrivesAt }, id) => {
            if (arrivesAt === turn) turns.add(id, alone);
          });
          running = running.filter(({ until }) => until > turn);
          for (let id = turns.take(running.length, turn * turnMs); id !== undefined; ) {
            started.push(id);
            running.push({ id, until: turn + (runs[id]?.lastsTurns ?? 0) });
            if (running.some((each) => runs[each.id]?.alone)) expect(running).toHaveLength(1);
            id = turns.take(running.length, turn * turnMs);
          }
        }
        mustEqual(
          started.toSorted((a, b) => a - b),
          runs.map((_, id) => id),
        );
        for (const kind of [true, false]) {
          const sameKind = started.filter((id) => runs[id]?.alone === kind).map((id) => runs[id]?.arrivesAt ?? 0);
          mustEqual(
            sameKind,
            sameKind.toSorted((a, b) => a - b),
          );
        }
        mustEqual(turns.waiting, 0);
      }),
      { numRuns: 5_000 },
    );
  });

  test("a second of alone runs, then what has gathered", () => {
    const turns = new StartQueue<string>();
    for (const name of ["a", "b", "c"]) turns.add(name, true);
    turns.add("x", false);
    turns.add("y", false);
    expect(turns.take(0, 0)).toBe("a");
    expect(turns.take(1, 0)).toBeUndefined();
    expect(turns.take(0, 999)).toBe("b");
    expect(turns.take(0, 1_500)).toBe("x");
    turns.add("z", false);
    expect(turns.take(1, 1_500)).toBe("y");
    // z came after the gate was opened: the alone run goes first, as soon as x and y are done.
    expect(turns.take(2, 1_500)).toBeUndefined();
    expect(turns.take(0, 1_600)).toBe("c");
    expect(turns.take(0, 1_700)).toBe("z");
  });

  test("a crowd of heavy runs delays its like alone", () => {
    const turns = new StartQueue<string>();
    for (let each = 0; each < 1_000; each++) turns.add("tunnel", false, true);
    expect(turns.take(0, 0)).toBe("tunnel");
    for (const name of ["a", "b", "c"]) turns.add(name, false);
    const next = Array.from({ length: 7 }, (_, index) => turns.take(index + 1, 0));
    expect(next).toEqual(["a", "tunnel", "b", "tunnel", "c", "tunnel", "tunnel"]);
    expect(turns.waiting).toBe(995);
    expect(turns.takeAll()).toHaveLength(995);
  });

  test("takeAll empties both queues", () => {
    const turns = new StartQueue<number>();
    turns.add(1, false);
    turns.add(2, true);
    expect(turns.takeAll().toSorted()).toEqual([1, 2]);
    expect(turns.waiting).toBe(0);
    expect(turns.take(0, 0)).toBeUndefined();
  });
});
