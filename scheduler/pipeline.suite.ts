/** A pipeline with the real plan, limits, holds and states; probers and sink in memory. For the tests of this folder. */
import type { CheckRun, CheckSpec } from "../engine/contract/messages.ts";
import { Admission, ConcurrencyLimits } from "../engine/limits/concurrency.ts";
import { newLocationState } from "../model/judge.ts";
import type { Monitor } from "../model/monitor.ts";
import type { CheckOutcome } from "../model/result.ts";
import { liveOf, monitorOf, outcomeOf } from "./fixtures.suite.ts";
import type { CheckContext } from "./judge/check-context.ts";
import type { OpenSuspects } from "./judge/hold.ts";
import { CheckPipeline } from "./judge/pipeline.ts";
import { MonitorStates } from "./judge/states.ts";
import { type ReadInput, readSettings } from "./plan/check-inputs.ts";
import { CheckSpecs } from "./plan/check-specs.ts";
import { Plan } from "./plan/plan.ts";
import type { PlannedCheck, Run } from "./plan/planned-check.ts";
import type { JudgedOutcome } from "./sink/judged-outcome.ts";

export interface PipelineSceneOptions {
  readonly monitors?: readonly Monitor[];
  /** The monitors' locations are confirmed up. */
  readonly areHealthy?: boolean;
  readonly overallLimit?: number;
  readonly perHost?: number;
  readonly perWorkspace?: number;
  readonly read?: ReadInput;
  readonly openSuspects?: OpenSuspects;
  readonly nowMs?: () => number;
  readonly mayBegin?: () => boolean;
  readonly isActive?: () => boolean;
}

export function pipelineScene(options: PipelineSceneOptions = {}) {
  const { monitors = [monitorOf()], overallLimit = 1_000, perHost = 1_000, perWorkspace = 1_000 } = options;
  const { areHealthy = false, read = readSettings, openSuspects = () => null } = options;
  let clockMs = 5_000;
  const nowMs = options.nowMs ?? (() => clockMs);
  const runs: CheckRun[] = [];
  const specs = new Map<number, CheckSpec>();
  const forgotten: number[] = [];
  const judged: { readonly context: CheckContext; readonly outcome: CheckOutcome; readonly item: JudgedOutcome }[] = [];
  const skipped: PlannedCheck[] = [];
  const delays: number[] = [];
  const logged: (readonly [message: string, fields: object])[] = [];
  const admission = new Admission<Run>(overallLimit);
  const checkSpecs = new CheckSpecs(new ConcurrencyLimits<Run>(), { perHost, perWorkspace }, read);
  const plan = new Plan(checkSpecs);
  const states = new MonitorStates({ checker: "here", ownedShards: { leaseOf: () => ({ shard: 0, epoch: 1 }) } });
  let latest: { readonly context: CheckContext; readonly outcome: CheckOutcome } | undefined;
  const pipeline = new CheckPipeline({
    plan,
    specs: checkSpecs,
    states,
    sink: {
      add(item) {
        if (latest !== undefined) judged.push({ ...latest, item });
      },
      skip: () => {},
    },
    probers: {
      define(defined) {
        for (const spec of defined) specs.set(spec.key, spec);
      },
      forget(keys) {
        forgotten.push(...keys);
        for (const key of keys) specs.delete(key);
      },
      run: (batch) => runs.push(...batch),
    },
    admission,
    mayBegin: options.mayBegin ?? (() => true),
    ownedShards: { isActive: options.isActive ?? (() => true), shardOf: () => 0 },
    openSuspects,
    nowMs,
    onOutcome: (context, outcome) => {
      latest = { context, outcome };
    },
    delays: { count: (latenessMs) => void delays.push(latenessMs) },
    log: { info: (fields, message) => void logged.push([message, fields]) },
  });
  const set = (monitor: Monitor): readonly PlannedCheck[] => {
    states.set(monitor, liveOf({ monitorId: monitor.id, locations: areHealthy ? healthyAt(monitor) : {} }));
    for (const change of plan.set(monitor, nowMs())) pipeline.changes.apply(change, "changed", null);
    return plan.plannedOf(monitor.id);
  };
  for (const monitor of monitors) set(monitor);
  const last = (): number => runs.at(-1)?.checkId ?? 0;
  return {
    ...{ pipeline, plan, specs: checkSpecs, defined: specs, states, admission, runs, forgotten, judged, skipped },
    logged,
    delays,
    set,
    remove(monitorId: number): void {
      for (const change of plan.remove(monitorId)) pipeline.changes.apply(change, "changed", null);
    },
    /** Time goes on, and what is due is taken. */
    advance(byMs: number): void {
      clockMs += byMs;
      pipeline.advance();
    },
    /** The newest run's check. */
    last,
    /** Outcome of the newest run. */
    answer: (over: Partial<CheckOutcome> = {}): void => pipeline.take([outcomeOf(last(), over)]),
    verdicts: () => judged.map(({ context, outcome }) => [outcome.verdict, context.attempt]),
  };
}

function healthyAt({ locations }: Monitor) {
  return Object.fromEntries(locations.map((one) => [one, { ...newLocationState(), confirmed: "up" as const }]));
}
