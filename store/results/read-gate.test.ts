import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ReadGate } from "./read-gate.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("ReadGate", () => {
  it("refuses a read that waits for a silent store, and gives its place to no other", async () => {
    const gate = new ReadGate();
    const ends: (() => void)[] = [];
    const silent = () => new Promise<void>((resolve) => ends.push(resolve));
    const reads = [gate.run(silent), gate.run(silent)];
    const waiting = gate.run(async () => "answer");
    const refused = expect(waiting).rejects.toThrow("take too long");
    await vi.advanceTimersByTimeAsync(5_000);
    await refused;
    expect(gate.refused).toBe(1);
    for (const end of ends) end();
    await Promise.all(reads);
    expect(await Promise.all([1, 2, 3].map((read) => gate.run(async () => read)))).toEqual([1, 2, 3]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("refuses at once when many wait", async () => {
    const gate = new ReadGate();
    const waiting = Array.from({ length: 66 }, () => gate.run(() => new Promise(() => {})));
    const refused = expect(Promise.all(waiting)).rejects.toThrow("take too long");
    await expect(gate.run(async () => 1)).rejects.toThrow("wait already");
    await vi.advanceTimersByTimeAsync(5_000);
    await refused;
  });
});
