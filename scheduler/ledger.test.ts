import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VERDICTS } from "../model/verdict.ts";
import { liveOf, monitorOf, outcomeOf } from "./fixtures.suite.ts";
import { createLedger, type Ledger } from "./ledger.ts";

type Memory = Parameters<Ledger["remember"]>;

function emptyLedger(openIncidents: Memory[0] = new Map(), told: Memory[1] = new Map()): Ledger {
  const ledger = createLedger({ checker: "test", fenceOf: () => ({ shard: 0, epoch: 1 }) });
  ledger.remember(openIncidents, told);
  return ledger;
}

function ledgerWith(openIncidents: ReadonlyMap<number, "down" | "degraded"> = new Map()): Ledger {
  const ledger = emptyLedger(openIncidents);
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

  it("judges its own lines again to the same states, rows, incidents and ends of tests, wherever a death cut them", () => {
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
          // Every third is a test that a user asked for.
          { ...TAKEN, jobId: i % 3 === 0 ? i + 1 : undefined },
          outcomeOf(i, { verdict, message: verdict === "ok" ? null : verdict, startedAtMs: i * 100 }),
        );
        for (const change of item.incidents) {
          if (change.type === "open") isOpen = change.level;
          else if (change.type === "raise") isOpen = "down";
          else if (change.type === "close") isOpen = undefined;
        }
        return item;
      });
      const replayed = emptyLedger(level);
      replayed.set(monitorOf(), kept ?? liveOf());
      const again = items.slice(at).map((item) => replayed.rejudge(item.line));
      expect(replayed.live(1)).toEqual(ledger.live(1));
      const without = (changes: readonly { readonly type: string }[] = []): string[] =>
        changes.map((change) => change.type).filter((type) => type !== "message");
      expect(again.map((item) => item?.jobEnd)).toEqual(items.slice(at).map((item) => item.jobEnd));
      expect(again.map((item) => without(item?.incidents))).toEqual(
        items.slice(at).map((item) => without(item.incidents)),
      );
    });
    fc.assert(property, { numRuns: 5_000 });
  });

  it("leaves status, streak and incidents alone inside a maintenance window, and writes unknown rows", () => {
    const monitor = monitorOf({ maintenance: { fromMs: 1_000, untilMs: 3_000 } });
    for (const before of ["ok", "refused"] as const) {
      const ledger = ledgerWith();
      for (const atMs of [0, 500])
        ledger.judge({ ...TAKEN, monitor }, outcomeOf(1, { verdict: before, startedAtMs: atMs }));
      const { status, locations } = ledger.live(1) ?? {};
      const rowStatuses: unknown[] = [];
      for (const [startedAtMs, verdict] of [
        [1_000, "refused"],
        [2_000, "ok"],
        [2_999, "timeout"],
      ] as const) {
        const item = ledger.judge({ ...TAKEN, monitor }, outcomeOf(2, { verdict, startedAtMs, message: verdict }));
        expect(item.incidents).toEqual([]);
        rowStatuses.push(JSON.parse(item.line).status);
        expect(ledger.live(1)?.status).toBe(status);
        expect(ledger.live(1)?.locations.any).toMatchObject({
          confirmed: locations?.any?.confirmed,
          notPassed: locations?.any?.notPassed,
        });
        // A replay after the window has ended, or was never known, judges as it was judged.
        const replayed = ledgerWith();
        expect(replayed.rejudge(item.line)?.incidents).toEqual([]);
        expect(replayed.live(1)?.lastRowStatus).toBe("unknown");
      }
      expect(rowStatuses).toEqual(["unknown", "unknown", "unknown"]);
      const after = ledger.judge({ ...TAKEN, monitor }, outcomeOf(3, { verdict: "ok", startedAtMs: 3_000 }));
      expect(JSON.parse(after.line).status).toBe("healthy");
      expect(after.incidents.map(({ type }) => type)).toEqual(before === "ok" ? [] : ["close"]);
    }
  });

  it("alerts of a certificate and a domain that run out, once, also over a death, and not during maintenance", () => {
    const day = 86_400_000;
    const monitor = monitorOf({ sslExpirationDays: 14, domainExpirationDays: 30 });
    const certificate = { valid: true, expiresAtMs: 10 * day };
    const seen = outcomeOf(1, { startedAtMs: 0, certificate, domainExpiresAtMs: 20 * day });
    const quiet = monitorOf({ ...monitor, maintenance: { fromMs: -1, untilMs: 1 } });
    const ledger = ledgerWith();
    ledger.set(monitor, liveOf());
    expect(ledger.judge({ ...TAKEN, monitor: quiet }, seen).alerts).toEqual([]);
    const item = ledger.judge({ ...TAKEN, monitor }, seen);
    expect(item.alerts?.map((alert) => alert.type === "expiring" && alert.subject)).toEqual(["certificate", "domain"]);
    expect(ledger.judge({ ...TAKEN, monitor }, seen).alerts).toEqual([]);
    const replayed = emptyLedger();
    replayed.set(monitor, liveOf());
    expect(replayed.rejudge(item.line)?.alerts).toEqual(item.alerts);
    const toldExpiries = new Map([
      [1, [{ subject: "certificate", expiresAtMs: 10 * day, thresholdDays: 14 } as const]],
    ]);
    const restarted = emptyLedger(new Map(), toldExpiries);
    restarted.set(monitor, liveOf());
    expect(restarted.judge({ ...TAKEN, monitor }, seen).alerts).toMatchObject([{ subject: "domain" }]);
  });

  it("tells of a partial outage that a checker's return brought, with the next check", () => {
    const monitor = monitorOf({ locations: ["de", "nl"], notifyOnPartial: true, maxRetries: 1 });
    const ledger = ledgerWith();
    ledger.set(monitor, liveOf());
    const check = (location: string, verdict: "ok" | "refused") =>
      ledger.judge({ ...TAKEN, monitor, location }, outcomeOf(1, { verdict, message: verdict })).alerts;
    check("nl", "refused");
    ledger.setAvailability(monitor, (location) => location === "de");
    expect(check("de", "ok")).toEqual([]);
    expect(ledger.live(1)?.status).toBe("healthy");
    ledger.setAvailability(monitor, () => true);
    expect(ledger.live(1)?.status).toBe("partial");
    expect(check("de", "ok")).toMatchObject([{ type: "partial", previousStatus: "healthy", locationsDown: ["nl"] }]);
    expect(check("de", "ok")).toEqual([]);
  });
});
