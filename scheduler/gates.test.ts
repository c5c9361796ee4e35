import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entry, Gate } from "./entry.ts";
import { entryOf, monitorOf } from "./fixtures.suite.ts";
import { type Admission, createAdmission, createGate, createGateBook } from "./gates.ts";

function collect(limit: number): { readonly admission: Admission; readonly started: Entry[] } {
  const started: Entry[] = [];
  return { admission: createAdmission(limit, (entry) => started.push(entry)), started };
}

/** The outcome came: the entry is idle, its places are free. */
function end(admission: Admission, entry: Entry): void {
  entry.state = "idle";
  admission.release(entry);
}

describe("createAdmission", () => {
  it("lets run what has room, and keeps the rest waiting in order", () => {
    const gate = createGate(1);
    const { admission, started } = collect(10);
    const entries = [1, 2, 3].map((id) => entryOf(id, [gate]));
    for (const entry of entries) admission.request(entry);
    expect(started.map((entry) => entry.id)).toEqual([1]);
    end(admission, entries[0] as Entry);
    expect(started.map((entry) => entry.id)).toEqual([1, 2]);
    expect(admission.waiting).toBe(1);
  });

  it("takes turns between workspaces when everything is full", () => {
    const { admission, started } = collect(1);
    const of = (id: number, organizationId: number): Entry => entryOf(id, [], monitorOf({ id, organizationId }));
    const entries = [of(1, 1), of(2, 1), of(3, 1), of(4, 2)];
    for (const entry of entries) admission.request(entry);
    for (let i = 0; i < 3; i++) end(admission, started[i] as Entry);
    expect(started.map((entry) => entry.id)).toEqual([1, 2, 4, 3]);
  });

  it("gives places back to the gates they came from, whatever the entry was given meanwhile", () => {
    const before = createGate(1);
    const after = createGate(1);
    const { admission } = collect(10);
    const entry = entryOf(1, [before]);
    admission.request(entry);
    entry.gates = [after];
    end(admission, entry);
    expect([before.running, after.running]).toEqual([0, 0]);
  });

  it("starts nothing while it is held", () => {
    const { admission, started } = collect(10);
    admission.hold(true);
    admission.request(entryOf(1));
    expect(started).toHaveLength(0);
    admission.hold(false);
    expect(started).toHaveLength(1);
  });

  it("never exceeds a cap, and starves no entry, whatever comes and goes", () => {
    const command = fc.record({ what: fc.constantFrom("request", "end", "withdraw"), index: fc.nat({ max: 39 }) });
    const property = fc.property(
      fc.array(command, { maxLength: 200 }),
      fc.integer({ min: 1, max: 8 }),
      (commands, overall) => {
        const gates: Gate[] = [createGate(1), createGate(3), createGate(100)];
        const entries = Array.from({ length: 40 }, (_, id) =>
          entryOf(
            id,
            gates.filter((_gate, g) => (id >> g) % 2 === 0),
            monitorOf({ id, organizationId: id % 3 }),
          ),
        );
        const { admission } = collect(overall);
        for (const { what, index } of commands) {
          const entry = entries[index] as Entry;
          if (what === "request" && entry.state === "idle") admission.request(entry);
          else if (what === "end" && entry.state === "running") end(admission, entry);
          else if (what === "withdraw" && entry.state === "waiting") {
            admission.withdraw(entry);
            entry.state = "idle";
          }
          const running = entries.filter((one) => one.state === "running");
          expect(admission.running).toBe(running.length);
          expect(admission.waiting).toBe(entries.filter((one) => one.state === "waiting").length);
          expect(running.length).toBeLessThanOrEqual(overall);
          for (const gate of gates) {
            expect(gate.running).toBe(running.filter((one) => one.held.includes(gate)).length);
            expect(gate.running).toBeLessThanOrEqual(gate.limit);
          }
        }
        // No entry waits for ever: when runs end, all others start.
        for (let round = 0; round < 200; round++) {
          const next = entries.find((one) => one.state === "running");
          if (next !== undefined) end(admission, next);
        }
        expect(admission.waiting).toBe(0);
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });
});

describe("createGateBook", () => {
  it("gives one gate a name, and forgets gates that nothing uses", () => {
    const book = createGateBook();
    const gate = book.gate("host a", 2);
    expect(book.gate("host a", 2)).toBe(gate);
    book.gate("host b", 2);
    book.sweep(new Set([gate]));
    expect(book.size).toBe(1);
  });
});
