import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Admission, ConcurrencyLimit, ConcurrencyLimits, type Limited } from "./concurrency.ts";

interface Item extends Limited<Item> {
  readonly id: number;
  limits: readonly ConcurrencyLimit<Item>[];
}

function itemOf(id: number, limits: readonly ConcurrencyLimit<Item>[] = [], workspace = 1): Item {
  return { id, limits, workspace, state: "over" };
}

function collect(limit: number) {
  const admission = new Admission<Item>(limit);
  const started: Item[] = [];
  const ids = (): readonly number[] => {
    started.push(...admission.takeStarted());
    return started.map(({ id }) => id);
  };
  return { admission, started, ids };
}

describe("Admission", () => {
  it("lets run what has room, and keeps the rest waiting in order", () => {
    const limit = new ConcurrencyLimit<Item>(1);
    const { admission, ids } = collect(10);
    const items = [1, 2, 3].map((id) => itemOf(id, [limit]));
    for (const item of items) admission.request(item);
    expect(ids()).toEqual([1]);
    admission.release(items[0] as Item);
    expect(ids()).toEqual([1, 2]);
    expect(admission.waiting).toBe(1);
  });

  it("takes turns between workspaces when everything is full", () => {
    const { admission, ids } = collect(1);
    const of = (id: number, organizationId: number): Item => itemOf(id, [], organizationId);
    const items = [of(1, 1), of(2, 1), of(3, 1), of(4, 2)];
    for (const item of items) admission.request(item);
    for (let i = 0; i < 3; i++) admission.release(items.find(({ id }) => id === ids()[i]) as Item);
    expect(ids()).toEqual([1, 2, 4, 3]);
  });

  it("takes turns between workspaces at a host that one of them has filled", () => {
    const host = new ConcurrencyLimit<Item>(1);
    const { admission, ids } = collect(10);
    const items = [1, 1, 1, 1, 2].map((workspace, id) => itemOf(id, [host], workspace));
    for (const item of items) admission.request(item);
    for (let i = 0; i < 4; i++) admission.release(items[ids()[i] as number] as Item);
    expect(ids()).toEqual([0, 1, 4, 2, 3]);
  });

  it("gives places back to the limits they came from, also one that was added while it ran", () => {
    const [before, added] = [new ConcurrencyLimit<Item>(1), new ConcurrencyLimit<Item>(1)];
    const { admission } = collect(10);
    const item = itemOf(1, [before]);
    admission.request(item);
    item.limits = [before, added];
    added.running += 1;
    admission.release(item);
    expect([before.running, added.running]).toEqual([0, 0]);
  });

  it("starts nothing while it is held", () => {
    const { admission, ids } = collect(10);
    admission.hold(true);
    admission.request(itemOf(1));
    expect(ids()).toHaveLength(0);
    admission.hold(false);
    expect(ids()).toHaveLength(1);
  });

  it("never exceeds a cap, and starves none, whatever comes and goes", () => {
    const command = fc.record({ what: fc.constantFrom("request", "end", "withdraw"), index: fc.nat({ max: 39 }) });
    const property = fc.property(
      fc.array(command, { maxLength: 200 }),
      fc.integer({ min: 1, max: 8 }),
      (commands, overall) => {
        const limits: ConcurrencyLimit<Item>[] = [
          new ConcurrencyLimit<Item>(1),
          new ConcurrencyLimit<Item>(3),
          new ConcurrencyLimit<Item>(100),
        ];
        const items = Array.from({ length: 40 }, (_, id) =>
          itemOf(
            id,
            limits.filter((_limit, g) => (id >> g) % 2 === 0),
            id % 3,
          ),
        );
        const { admission } = collect(overall);
        for (const { what, index } of commands) {
          const item = items[index] as Item;
          if (what === "request" && item.state === "over") admission.request(item);
          else if (what === "end" && item.state === "running") admission.release(item);
          else if (what === "withdraw" && item.state === "waiting") admission.withdraw(item);
          const running = items.filter((one) => one.state === "running");
          expect(admission.running).toBe(running.length);
          expect(admission.waiting).toBe(items.filter((one) => one.state === "waiting").length);
          expect(running.length).toBeLessThanOrEqual(overall);
          for (const limit of limits) {
            expect(limit.running).toBe(running.filter((one) => one.limits.includes(limit)).length);
            expect(limit.running).toBeLessThanOrEqual(limit.limit);
          }
        }
        // No item waits for ever: when runs end, all others start.
        for (let round = 0; round < 200; round++) {
          const next = items.find((one) => one.state === "running");
          if (next !== undefined) admission.release(next);
        }
        expect(admission.waiting).toBe(0);
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });
});

describe("ConcurrencyLimits", () => {
  it("gives one limit a name, and forgets limits that nothing uses", () => {
    const book = new ConcurrencyLimits<Item>();
    const limit = book.of("host a", 2);
    expect(book.of("host a", 2)).toBe(limit);
    book.of("host b", 2);
    book.sweep(new Set([limit]));
    expect(book.size).toBe(1);
  });
});
