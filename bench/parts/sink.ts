/** The sink without its waits: outcomes judged, written to the spool with one sync, applied to SQLite in one transaction. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { Bench } from "tinybench";
import { MONITOR_DEFAULTS, type Monitor } from "../../model/monitor.ts";
import type { CheckOutcome } from "../../model/result.ts";
import { MonitorStates } from "../../scheduler/judge/states.ts";
import type { JudgedOutcome } from "../../scheduler/sink/judged-outcome.ts";
import { changesOf } from "../../scheduler/sink/writer.ts";
import { Spool } from "../../store/results/spool.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import { printTasks } from "./conditions.ts";

const ROWS = 1_500;

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-bench-sink-"));
  const controlPlane = await openControlPlane({ file: join(folder, "control.sqlite") }, { role: "sink" });
  const spool = await Spool.open({ dir: join(folder, "spool"), log: pino({ level: "silent" }) });
  const epoch = (await controlPlane.shards.take(0, spool.name, 0)) ?? 0;
  const states = new MonitorStates({ checker: "bench", ownedShards: { leaseOf: () => ({ shard: 0, epoch }) } });
  const first = await controlPlane.accounts.createFirst({
    email: "bench@sonde.test",
    userName: "Bench",
    workspaceName: "Bench",
    plan: "business",
    projectName: "Bench",
    nowMs: 0,
  });
  const monitors: Monitor[] = [];
  for (let n = 0; n < ROWS; n++) monitors.push(await createMonitor(controlPlane, first.projectId, n));
  let checkId = 0;
  const judgeAll = (): JudgedOutcome[] =>
    monitors.map((monitor) =>
      states.judge({ monitor, location: "any", attempt: 1, inboxId: null }, outcomeOf(++checkId)),
    );

  const bench = new Bench({ time: 2_000, warmupTime: 300 });
  bench.add("judge and write the row", () => {
    judgeAll();
  });
  bench.add("and append to the spool, one sync", async () => {
    await spool.append(judgeAll().map((item) => item.line));
  });
  bench.add("and apply to SQLite, one transaction", async () => {
    const items = judgeAll();
    const appliedSeq = await spool.append(items.map((item) => item.line));
    await controlPlane.sink.apply({ spool: spool.name, appliedSeq, ...changesOf(items) });
  });
  await bench.run();
  printTasks("sink", bench, ROWS, "result");
  await spool.close();
  await controlPlane.close();
  rmSync(folder, { recursive: true, force: true });
}

function createMonitor(
  controlPlane: Awaited<ReturnType<typeof openControlPlane>>,
  projectId: number,
  n: number,
): Promise<Monitor> {
  const actor = { type: "system", id: null, name: null, via: "system", keyId: null } as const;
  return controlPlane.monitors.create(
    {
      ...MONITOR_DEFAULTS,
      projectId,
      organizationId: 1,
      name: `bench ${n}`,
      kind: "http",
      settings: { url: `http://127.0.0.1:1/${n}` },
      intervalS: 1,
      timeoutS: 10,
      maxRetries: 2,
      host: "127.0.0.1",
      heartbeatToken: null,
      nowMs: 0,
    },
    actor,
  );
}

function outcomeOf(checkId: number): CheckOutcome {
  const passed = checkId % 100 !== 0;
  return {
    checkId,
    verdict: passed ? "ok" : "rejected",
    startedAtMs: Date.now(),
    latenessMs: 1,
    durationMs: 2,
    latencyMs: passed ? 2 : null,
    connectMs: null,
    peerAnswered: true,
    message: passed ? null : "Answered with status 500, accepted is 200-299",
    phases: { resolve: 0.01, connect: 0.3, request: 0.5 },
    explanation: null,
    certificate: null,
    domainExpiresAtMs: null,
  };
}
