import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VERDICTS } from "../model/verdict.ts";
import { liveOf, monitorOf, outcomeOf } from "./fixtures.suite.ts";
import { createLedger, type Ledger } from "./ledger.ts";

function ledgerWith(openIncidents: ReadonlyMap<number, "down" | "degraded"> = new Map()): Ledger {
  const ledger = createLedger({ shard: 0, checker: "test", openIncidents });
  ledger.set(monitorOf(), liveOf());
  return ledger;
}

const TAKEN = { monitor: monitorOf(), location: "any", attempt: 1, inboxId: null };

describe("createLedger", () => {
  it("confirms down after maxretries failures, opens one incident, and closes it when the monitor is healthy", () => {
    const ledger = ledgerWith();
    const types = ["ok", "timeout", "timeout", "timeout", "ok"].map((verdict, i) => {
      const item = ledger.judge(
        TAKEN,
        outcomeOf(i, { verdict: verdict as "ok", startedAtMs: i * 1_000, message: "no answer" }),
      );
      return [ledger.live(1)?.status, item.incidents.map((change) => change.type)];
    });
    expect(types).toEqual([
      ["healthy", []],
      ["degraded", []],
      ["down", ["open"]],
      ["down", []],
      ["healthy", ["close"]],
    ]);
  });

  it("writes rows whose seq has no gap and whose ids rise", () => {
    const ledger = ledgerWith();
    const rows = [5_000, 4_000, 4_000].map((startedAtMs, i) =>
      JSON.parse(ledger.judge(TAKEN, outcomeOf(i, { startedAtMs })).line),
    );
    expect(rows.map((row) => row.seq)).toEqual([1, 2, 3]);
    expect([...rows].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(rows);
  });

  it("keeps what it remembers when the monitor's settings change", () => {
    const ledger = ledgerWith();
    ledger.judge(TAKEN, outcomeOf(1));
    ledger.set(monitorOf({ name: "Renamed" }), liveOf());
    expect([ledger.live(1)?.seq, ledger.monitor(1)?.name]).toEqual([1, "Renamed"]);
  });

  it("comes back sooner while it retries", () => {
    const ledger = ledgerWith();
    const slow = { ...TAKEN, monitor: monitorOf({ intervalS: 600 }) };
    expect(ledger.judge(slow, outcomeOf(1)).nextWithinMs).toBe(600_000);
    expect(ledger.judge(slow, outcomeOf(2, { verdict: "refused" })).nextWithinMs).toBe(30_000);
    expect(ledger.judge(slow, outcomeOf(3, { verdict: "refused" })).nextWithinMs).toBe(600_000);
  });

  it("judges its own lines again to the same states, rows and incidents, wherever a death cut them", () => {
    const verdicts = fc.array(fc.constantFrom(...VERDICTS), { minLength: 1, maxLength: 30 });
    const property = fc.property(verdicts, fc.nat(), (given, cut) => {
      const ledger = ledgerWith();
      const at = cut % given.length;
      let kept = ledger.live(1);
      let isOpen: "down" | "degraded" | undefined;
      const level = new Map<number, "down" | "degraded">();
      const items = given.map((verdict, i) => {
        if (i === at) {
          kept = ledger.live(1);
          if (isOpen !== undefined) level.set(1, isOpen);
        }
        const item = ledger.judge(
          TAKEN,
          outcomeOf(i, { verdict, message: verdict === "ok" ? null : verdict, startedAtMs: i * 100 }),
        );
        for (const change of item.incidents) {
          if (change.type === "open") isOpen = change.level;
          else if (change.type === "raise") isOpen = "down";
          else if (change.type === "close") isOpen = undefined;
        }
        return item;
      });
      const replayed = createLedger({ shard: 0, checker: "test", openIncidents: level });
      replayed.set(monitorOf(), kept ?? liveOf());
      const again = items.slice(at).map((item) => replayed.rejudge(item.line));
      expect(replayed.live(1)).toEqual(ledger.live(1));
      const without = (changes: readonly { readonly type: string }[] = []): string[] =>
        changes.map((change) => change.type).filter((type) => type !== "message");
      expect(again.map((item) => without(item?.incidents))).toEqual(
        items.slice(at).map((item) => without(item.incidents)),
      );
    });
    fc.assert(property, { numRuns: 5_000 });
  });
});
