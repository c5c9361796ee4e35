import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CheckOutcome, ConfigOutcome } from "../../model/result.ts";
import { VERDICTS } from "../../model/verdict.ts";
import { assertProperty } from "../../testkit/property.ts";
import { liveOf, monitorOf, outcomeOf } from "../fixtures.suite.ts";
import { MonitorStates } from "./states.ts";

type Memory = Parameters<MonitorStates["remember"]>;

function emptyStates(openIncidents: Memory[0] = new Map(), sentAlerts: Memory[1] = new Map()): MonitorStates {
  const states = new MonitorStates({ checker: "test", ownedShards: { leaseOf: () => ({ shard: 0, epoch: 1 }) } });
  states.remember(openIncidents, sentAlerts);
  return states;
}

function statesWith(openIncidents: ReadonlyMap<number, "down" | "degraded"> = new Map()): MonitorStates {
  const states = emptyStates(openIncidents);
  states.set(monitorOf(), liveOf());
  return states;
}

const configOf = (configId: number, verdict: "ok" | "timeout"): ConfigOutcome => ({
  ...{ configId, verdict, totalMs: 1, peerAnswered: false, message: verdict === "ok" ? null : "no answer" },
  ...{ publicIp: null, engineUsed: null },
});
const CONTEXT = { monitor: monitorOf(), location: "any", attempt: 1, inboxId: null };

describe("MonitorStates", () => {
  it("confirms down after maxretries failures, opens one incident, and closes it when the monitor is healthy", () => {
    const states = statesWith();
    const types = ["ok", "timeout", "timeout", "timeout", "ok"].map((verdict, i) => {
      const item = states.judge(
        CONTEXT,
        outcomeOf(i, { verdict: verdict as "ok", startedAtMs: i * 1_000, message: "no answer" }),
      );
      return [states.live(1)?.status, item.incidents.map((change) => change.type)];
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
    const states = statesWith();
    const rows = [5_000, 4_000, 4_000].map((startedAtMs, i) =>
      JSON.parse(states.judge(CONTEXT, outcomeOf(i, { startedAtMs })).line),
    );
    expect(rows.map((row) => row.seq)).toEqual([1, 2, 3]);
    expect([...rows].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(rows);
  });

  it("keeps what it remembers when the monitor's settings change", () => {
    const states = statesWith();
    states.judge(CONTEXT, outcomeOf(1));
    states.set(monitorOf({ name: "Renamed" }), liveOf());
    expect([states.live(1)?.seq, states.monitor(1)?.name]).toEqual([1, "Renamed"]);
  });

  it("comes back sooner while it retries", () => {
    const states = statesWith();
    const slow = { ...CONTEXT, monitor: monitorOf({ intervalS: 600 }) };
    expect(states.judge(slow, outcomeOf(1)).nextWithinMs).toBe(600_000);
    expect(states.judge(slow, outcomeOf(2, { verdict: "refused" })).nextWithinMs).toBe(30_000);
    expect(states.judge(slow, outcomeOf(3, { verdict: "refused" })).nextWithinMs).toBe(600_000);
  });

  it("judges its own lines again to the same states, rows, incidents and ends of tests, wherever a death cut them", () => {
    const verdicts = fc.array(fc.constantFrom(...VERDICTS), { minLength: 1, maxLength: 30 });
    const property = fc.property(verdicts, fc.nat(), (sequence, cut) => {
      const states = statesWith();
      const at = cut % sequence.length;
      let kept = states.live(1);
      let isOpen: "down" | "degraded" | undefined;
      const level = new Map<number, "down" | "degraded">();
      const items = sequence.map((verdict, i) => {
        if (i === at) {
          kept = states.live(1);
          if (isOpen !== undefined) level.set(1, isOpen);
        }
        const item = states.judge(
          // Every third is a test that a user asked for.
          { ...CONTEXT, jobId: i % 3 === 0 ? i + 1 : undefined },
          outcomeOf(i, { verdict, message: verdict === "ok" ? null : verdict, startedAtMs: i * 100 }),
        );
        for (const change of item.incidents) {
          if (change.type === "open") isOpen = change.level;
          else if (change.type === "raise") isOpen = "down";
          else if (change.type === "close") isOpen = undefined;
        }
        return item;
      });
      const replayed = emptyStates(level);
      replayed.set(monitorOf(), kept ?? liveOf());
      const again = items.slice(at).map((item) => replayed.rejudge(item.line));
      expect(replayed.live(1)).toEqual(states.live(1));
      const without = (changes: readonly { readonly type: string }[] = []): string[] =>
        changes.map((change) => change.type).filter((type) => type !== "message");
      expect(again.map((item) => item?.endedTest)).toEqual(items.slice(at).map((item) => item.endedTest));
      expect(again.map((item) => without(item?.incidents))).toEqual(
        items.slice(at).map((item) => without(item.incidents)),
      );
    });
    assertProperty(property, { numRuns: 5_000 });
  });

  it("leaves status, streak and incidents alone inside a maintenance window, and writes unknown rows", () => {
    const monitor = monitorOf({ maintenance: { fromMs: 1_000, untilMs: 3_000 } });
    for (const before of ["ok", "refused"] as const) {
      const states = statesWith();
      for (const atMs of [0, 500])
        states.judge({ ...CONTEXT, monitor }, outcomeOf(1, { verdict: before, startedAtMs: atMs }));
      const { status, locations } = states.live(1) ?? {};
      const rowStatuses: unknown[] = [];
      for (const [startedAtMs, verdict] of [
        [1_000, "refused"],
        [2_000, "ok"],
        [2_999, "timeout"],
      ] as const) {
        const item = states.judge({ ...CONTEXT, monitor }, outcomeOf(2, { verdict, startedAtMs, message: verdict }));
        expect(item.incidents).toEqual([]);
        rowStatuses.push(JSON.parse(item.line).status);
        expect(states.live(1)?.status).toBe(status);
        expect(states.live(1)?.locations.any).toMatchObject({
          confirmed: locations?.any?.confirmed,
          notPassed: locations?.any?.notPassed,
        });
        // A replay after the window has ended, or was never known, judges as it was judged.
        const replayed = statesWith();
        expect(replayed.rejudge(item.line)?.incidents).toEqual([]);
        expect(replayed.live(1)?.lastRowStatus).toBe("unknown");
      }
      expect(rowStatuses).toEqual(["unknown", "unknown", "unknown"]);
      const after = states.judge({ ...CONTEXT, monitor }, outcomeOf(3, { verdict: "ok", startedAtMs: 3_000 }));
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
    const states = statesWith();
    states.set(monitor, liveOf());
    expect(states.judge({ ...CONTEXT, monitor: quiet }, seen).alerts).toEqual([]);
    const item = states.judge({ ...CONTEXT, monitor }, seen);
    expect(item.alerts?.map((alert) => alert.type === "expiring" && alert.subject)).toEqual(["certificate", "domain"]);
    expect(states.judge({ ...CONTEXT, monitor }, seen).alerts).toEqual([]);
    const replayed = emptyStates();
    replayed.set(monitor, liveOf());
    expect(replayed.rejudge(item.line)?.alerts).toEqual(item.alerts);
    const toldExpiries = new Map([
      [1, [{ subject: "certificate", expiresAtMs: 10 * day, thresholdDays: 14 } as const]],
    ]);
    const restarted = emptyStates(new Map(), toldExpiries);
    restarted.set(monitor, liveOf());
    expect(restarted.judge({ ...CONTEXT, monitor }, seen).alerts).toMatchObject([{ subject: "domain" }]);
  });

  it("tells once that too few configs of a server work, and once that enough do again, also over a death", () => {
    const monitor = monitorOf({ kind: "vless", maxRetries: 2, subscriptionId: 1, configAlertPercent: 50 });
    const states = statesWith();
    states.set(monitor, liveOf());
    const seen = (working: number, over: Partial<CheckOutcome> = {}) => {
      const configs = Array.from({ length: 11 }, (_, at) => configOf(at + 1, at < working ? "ok" : "timeout"));
      return outcomeOf(1, { verdict: working > 0 ? "ok" : "timeout", configs, ...over });
    };
    const check = (working: number, of = states, over: Partial<CheckOutcome> = {}) =>
      of.judge({ ...CONTEXT, monitor }, seen(working, over));
    expect(check(11).alerts).toEqual([]);
    expect(states.live(1)?.locations.any).not.toHaveProperty("lowShareChecks");
    const first = check(2);
    expect(first.alerts).toEqual([]);
    // Nothing works, or nothing is known: the incident tells the one, a row the other.
    expect([check(0).alerts, check(3, states, { verdict: "unfit" }).alerts]).toEqual([[], []]);
    const replayed = emptyStates();
    replayed.set(monitor, liveOf({ locations: states.live(1)?.locations ?? {} }));
    const alert = { type: "configs", change: "failing", share: { working: 2, total: 11 }, location: "any" };
    const item = check(2);
    expect(item.alerts).toMatchObject([alert]);
    expect(replayed.rejudge(item.line)?.alerts).toEqual(item.alerts);
    expect(check(2).alerts).toEqual([]);
    expect(check(6, replayed).alerts).toMatchObject([{ type: "configs", change: "recovered" }]);
    expect(check(6, replayed).alerts).toEqual([]);
  });

  it("tells of a partial outage that a checker's return brought, with the next check", () => {
    const monitor = monitorOf({ locations: ["de", "nl"], notifyOnPartial: true, maxRetries: 1 });
    const states = statesWith();
    states.set(monitor, liveOf());
    const check = (location: string, verdict: "ok" | "refused") =>
      states.judge({ ...CONTEXT, monitor, location }, outcomeOf(1, { verdict, message: verdict })).alerts;
    check("nl", "refused");
    states.setAvailability(monitor, (location) => location === "de", 5_000);
    expect(check("de", "ok")).toEqual([]);
    expect(states.live(1)?.status).toBe("healthy");
    states.setAvailability(monitor, () => true, 6_000);
    expect(states.live(1)?.status).toBe("partial");
    expect(check("de", "ok")).toMatchObject([{ type: "partial", previousStatus: "healthy", locationsDown: ["nl"] }]);
    expect(check("de", "ok")).toEqual([]);
  });
});
