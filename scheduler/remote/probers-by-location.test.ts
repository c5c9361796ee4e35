import { describe, expect, it } from "vitest";
import type { CheckRun, CheckSpec } from "../../engine/contract/messages.ts";
import type { Probers } from "../../engine/pool/probers.ts";
import { ProbersByLocation } from "./probers-by-location.ts";

class Recorder implements Probers {
  readonly size: number;
  readonly inFlight: number;
  readonly overBudget: number;
  readonly calls: string[] = [];

  constructor(size: number, inFlight: number, overBudget: number) {
    this.size = size;
    this.inFlight = inFlight;
    this.overBudget = overBudget;
  }

  define(specs: readonly CheckSpec[]): void {
    this.calls.push(`define ${specs.map(({ key }) => key)}`);
  }

  forget(specKeys: readonly number[]): void {
    this.calls.push(`forget ${specKeys}`);
  }

  run(runs: readonly CheckRun[]): void {
    this.calls.push(`run ${runs.map(({ checkId }) => checkId)}`);
  }

  async close(): Promise<void> {
    this.calls.push("close");
  }
}

const runAt = (checkId: number, location: string): CheckRun => ({
  ...{ checkId, specKey: 1, dueAtMs: 0, alone: false },
  place: { location, home: 1, elsewhere: false, expiresAtMs: 1, host: null, wasHealthy: false, account: null },
});

describe("ProbersByLocation", () => {
  it("gives each run to the side that has its location, once, and what both need to both", async () => {
    const [own, elsewhere] = [new Recorder(2, 3, 1), new Recorder(5, 7, 0)];
    const both = new ProbersByLocation(own, elsewhere, ["any"]);
    both.define([{ key: 1 } as CheckSpec]);
    const { place: _place, ...unplaced } = runAt(4, "any");
    both.run([runAt(1, "any"), runAt(2, "de"), runAt(3, "nl"), unplaced]);
    both.run([runAt(5, "de")]);
    both.forget([1]);
    await both.close();
    expect(own.calls).toEqual(["define 1", "run 1,4", "forget 1", "close"]);
    expect(elsewhere.calls).toEqual(["define 1", "run 2,3", "run 5", "forget 1", "close"]);
  });

  it("counts the runs of both, and the probers of its own process alone", () => {
    const both = new ProbersByLocation(new Recorder(2, 3, 1), new Recorder(5, 7, 2), ["any"]);
    expect([both.size, both.inFlight, both.overBudget]).toEqual([2, 10, 3]);
  });
});
