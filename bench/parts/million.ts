/**
 * The scheduler alone with a million monitors: everything that it keeps of them in memory, its due times on the clock, and the way of each check
 * with probers that answer at once and a sink that keeps nothing.
 */
import { setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Admission, ConcurrencyLimits } from "../../engine/limits/concurrency.ts";
import { capsOf } from "../../model/caps.ts";
import { newLiveState } from "../../model/live.ts";
import { MONITOR_DEFAULTS, type Monitor } from "../../model/monitor.ts";
import type { CheckOutcome } from "../../model/result.ts";
import { DueTimes } from "../../scheduler/due/due-times.ts";
import { CheckPipeline } from "../../scheduler/judge/pipeline.ts";
import { MonitorStates } from "../../scheduler/judge/states.ts";
import { readSettings } from "../../scheduler/plan/check-inputs.ts";
import { CheckSpecs } from "../../scheduler/plan/check-specs.ts";
import { Plan } from "../../scheduler/plan/plan.ts";
import type { Run } from "../../scheduler/plan/planned-check.ts";
import { fromMonitor, toMonitor } from "../../store/sql/monitors/rows.ts";
import { conditions } from "./conditions.ts";

const MONITORS = 1_000_000;
const INTERVAL_S = 60;
/** Monitors of one host. */
const A_HOST = 20;
const WORKSPACES = 1_000;
/** As the scheduler's loop does, ms. */
const TICK_MS = 5;
const MEASURED_MS = 20_000;
/** Before it, ms: what was compiled while the plan was made is none of it. */
const WARM_UP_MS = 5_000;

const FIRST: Monitor = {
  ...MONITOR_DEFAULTS,
  id: 1,
  projectId: 1,
  organizationId: 1,
  name: "Website",
  kind: "http",
  settings: {},
  intervalS: INTERVAL_S,
  timeoutS: 10,
  maxRetries: 2,
  host: null,
  maintenance: null,
  createdAtMs: 1_763_700_000_000,
  updatedAtMs: 1_763_700_000_000,
};
const FIRST_ROW = {
  ...fromMonitor(FIRST),
  url_sealed: null,
  maintenance_from_ms: null,
  maintenance_until_ms: null,
};

/** As it comes out of SQL: no two share a string. */
function monitorOf(id: number): Monitor {
  const host = `site-${Math.floor(id / A_HOST)}.example.org`;
  return toMonitor({
    ...FIRST_ROW,
    id,
    project_id: id % WORKSPACES,
    organization_id: id % WORKSPACES,
    name: `Website ${id}`,
    settings: JSON.stringify({ url: `https://${host}/${id}` }),
    host,
    created_at_ms: FIRST.createdAtMs + id,
    updated_at_ms: FIRST.updatedAtMs + id,
  });
}

function outcomeOf(checkId: number, nowMs: number): CheckOutcome {
  return {
    checkId,
    verdict: "ok",
    startedAtMs: Math.round(nowMs),
    latenessMs: 0,
    durationMs: 5,
    latencyMs: 5,
    connectMs: 1,
    peerAnswered: true,
    message: null,
    phases: {},
    explanation: null,
    certificate: null,
    domainExpiresAtMs: null,
  };
}

/** After everything that nothing needs any more is gone. */
function memory(): string {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const mib = (bytes: number): number => Math.round(bytes / 2 ** 20);
  return `${mib(heapUsed + arrayBuffers)} MiB in use, ${mib(rss)} MiB resident`;
}

function load() {
  const caps = capsOf();
  const specs = new CheckSpecs(new ConcurrencyLimits<Run>(), caps, readSettings);
  const plan = new Plan(specs);
  const lease = { shard: 0, epoch: 1 };
  const states = new MonitorStates({ checker: "bench", ownedShards: { leaseOf: () => lease } });
  const admission = new Admission<Run>(caps.overall);
  let due: number[] = [];
  let stored = 0;
  const pipeline = new CheckPipeline({
    plan,
    specs,
    states,
    sink: {
      add: () => {
        stored += 1;
      },
      skip: () => {},
    },
    probers: { define: () => {}, forget: () => {}, run: (runs) => due.push(...runs.map(({ checkId }) => checkId)) },
    admission,
    mayBegin: () => true,
    ownedShards: { isActive: () => true, shardOf: () => 0 },
    openSuspects: () => null,
    nowMs: Date.now,
    onOutcome: () => {},
    delays: { count: () => {} },
    log: { info: () => {} },
  });
  for (let id = 1; id <= MONITORS; id += 1) {
    const monitor = monitorOf(id);
    states.set(monitor, newLiveState(id));
    // Into their phases, as after a restart.
    for (const change of plan.set(monitor, Date.now())) pipeline.changes.apply(change, "returned", null);
  }
  return {
    plan,
    tick(): void {
      pipeline.advance();
      const ids = due;
      due = [];
      const nowMs = Date.now();
      pipeline.take(ids.map((id) => outcomeOf(id, nowMs)));
    },
    stored: () => stored,
  };
}

interface Measured {
  readonly calls: number;
  /** Of a core, percent. */
  readonly busy: number;
}

/** Processor time of this process so far, ms: on a busy machine the clock on the wall says nothing. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Calls on the clock. */
async function measure(call: () => void): Promise<Measured> {
  let busyMs = 0;
  let calls = 0;
  const startedAtMs = performance.now();
  while (performance.now() - startedAtMs < MEASURED_MS) {
    const before = processorMs();
    call();
    busyMs += processorMs() - before;
    calls += 1;
    await delay(TICK_MS);
  }
  return { calls, busy: (100 * busyMs) / (performance.now() - startedAtMs) };
}

async function warmedUp(call: () => void): Promise<void> {
  const endAtMs = performance.now() + WARM_UP_MS;
  while (performance.now() < endAtMs) {
    call();
    await delay(TICK_MS);
  }
}

export async function run(): Promise<void> {
  const before = memory();
  const startedAtMs = performance.now();
  const scheduler = load();
  const loadMs = performance.now() - startedAtMs;
  console.log(`\n${MONITORS} monitors every ${INTERVAL_S} s in one scheduler, nothing else\n  ${conditions()}`);
  console.log(`  planned in ${(loadMs / 1_000).toFixed(1)} s; ${memory()}; ${before} before`);
  const due = new DueTimes(
    Date.now(),
    (id) => scheduler.plan.byId(id),
    () => {},
  );
  const nextDueAtMs = new Float64Array(MONITORS);
  for (const planned of scheduler.plan.all()) {
    nextDueAtMs[planned.id] = planned.nextDueAtMs;
    planned.nextDueAtMs = Number.POSITIVE_INFINITY;
    due.settle(planned, Date.now());
  }
  let turns = 0;
  const advance = (): number =>
    due.advance(Date.now(), () => {
      turns += 1;
      return "taken";
    });
  await warmedUp(advance);
  turns = 0;
  const wheel = await measure(advance);
  console.log(
    `  due times alone: ${Math.round((turns * 1_000) / MEASURED_MS)} turns/s take ${wheel.busy.toFixed(2)} % of a core`,
  );
  for (const planned of scheduler.plan.all()) planned.nextDueAtMs = nextDueAtMs[planned.id] ?? 0;
  await warmedUp(scheduler.tick);
  const storedBefore = scheduler.stored();
  const whole = await measure(scheduler.tick);
  const checks = Math.round(((scheduler.stored() - storedBefore) * 1_000) / MEASURED_MS);
  console.log(
    `  all of a check but the network and the stores: ${checks} checks/s take ${whole.busy.toFixed(1)} % of a core; ${memory()}`,
  );
}
