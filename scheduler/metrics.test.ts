import { expect, it } from "vitest";
import type { CheckOutcome } from "../model/result.ts";
import { createMetrics, type SchedulerCounts, type SchedulerGauges } from "./metrics.ts";

const NONE: SchedulerGauges & SchedulerCounts = {
  ...{
    monitors: 1,
    running: 0,
    waiting: 0,
    silentMonitors: 0,
    backlogRows: 0,
    lateRows: 0,
    spoolBytes: 0,
    spoolRows: 0,
    spoolOldestS: 0,
  },
  ...{ unfitProbers: 0, openIncidents: 0, shards: 1, allShards: 1, quarantined: 0, overBudget: 0, lostRows: 0 },
  ...{ droppedRows: 0, skippedTurns: 0, secondLooks: 0, shardsTaken: 1, shardsGivenBack: 0, shardsLost: 0 },
  ...{ refusedRows: 0, setAsideRows: 0 },
};
const SEEN = { verdict: "ok", latenessMs: 3 } as CheckOutcome;

it("tells every change, and has the same text while there is none", async () => {
  const metrics = createMetrics();
  const refusals = { counts: new Map<string, number>(), troubled: () => [] as string[] };
  const first = await metrics.text(NONE, refusals);
  expect(await metrics.text({ ...NONE }, refusals)).toBe(first);
  metrics.count("http", SEEN);
  expect(await metrics.text(NONE, refusals)).toContain('sonde_checks_total{kind="http",verdict="ok"} 1');
  metrics.sealedFault(new Error("closed"), { error() {} });
  expect(await metrics.text(NONE, refusals)).toContain("sonde_sealed_faults_total 1");
  expect(await metrics.text({ ...NONE, running: 4 }, refusals)).toContain("sonde_checks_running 4");
  refusals.counts.set("nl", 2);
  expect(await metrics.text({ ...NONE, running: 4 }, refusals)).toContain(
    'sonde_checkers_refused_total{location="nl"} 2',
  );
});
