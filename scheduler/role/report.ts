/** Makes the scheduler's reports about itself: for the other processes through SQL, and for the main thread. */
import type { ProberFitness } from "../../engine/contract/messages.ts";
import type { Probers } from "../../engine/pool/probers.ts";
import type { Pump } from "../../store/results/pump.ts";
import type { SetAside } from "../../store/set-aside.ts";
import type { SchedulerReport, Warning } from "../../store/sql/coordination/shards-port.ts";
import type { Refusals } from "../../store/state/refusals.ts";
import { SYSTEM_CLOCKS } from "../clock.ts";
import type { SchedulerMetrics } from "../metrics.ts";
import type { SchedulerQuarantine } from "../run/quarantine.ts";
import type { ShardKeeper } from "../shards/keeper.ts";
import type { OwnedShards } from "../shards/owned-shards.ts";
import type { SharedTime } from "../shared-time.ts";
import type { Loop } from "./loop.ts";
import type { SchedulerStatus } from "./status.ts";
import type { Stores } from "./stores.ts";

/** The parts that the reports are made from. */
export interface ReportedParts {
  readonly stores: Stores;
  readonly loop: Loop;
  readonly pump: Pump;
  readonly refusals: Refusals;
  readonly time: Pick<SharedTime, "isAnyOff">;
}

export interface StatusParts extends ReportedParts {
  readonly ownedShards: OwnedShards;
  readonly keeper: ShardKeeper;
  readonly metrics: SchedulerMetrics;
  readonly fitness: ReadonlyMap<number, ProberFitness>;
  readonly quarantine: SchedulerQuarantine;
  readonly probers: Pick<Probers, "size" | "overBudget" | "close">;
}

/** The report for the other processes. */
export function reportOf({ stores, loop, pump, refusals, time }: ReportedParts): SchedulerReport {
  const { monitors, running, waiting, silentMonitors, skippedTurns, trouble } = loop.state();
  return {
    monitors,
    running,
    waiting,
    silentMonitors,
    skippedTurns,
    spoolRows: stores.spool.rows,
    trouble: trouble ?? pump.state.lastError,
    readsBoundRows: true,
    makesRequests: true,
    warnings: [
      ...warningsOf(trouble, refusals, stores.setAside),
      ...(time.isAnyOff ? (["clock_off"] as const) : []),
      ...(pump.state.lastError !== null ? (["results_waiting"] as const) : []),
    ],
  };
}

/** The report for the main thread. */
export async function statusOf(parts: StatusParts): Promise<SchedulerStatus> {
  const { loop, ownedShards, keeper, metrics, refusals, fitness, quarantine, probers } = parts;
  const { controlPlane, spool, setAside } = parts.stores;
  const openIncidents = await controlPlane.incidents.countOpen().catch(() => 0);
  const shards = ownedShards.leases().map(({ shard }) => shard);
  const { taken: shardsTaken, givenBack: shardsGivenBack, lost: shardsLost } = keeper.moves;
  const { sizeBytes: spoolBytes, rows: spoolRows, droppedRows } = spool;
  const gauges = {
    ...loop.state(),
    ...{ shards: shards.length, allShards: ownedShards.count, shardsTaken, shardsGivenBack, shardsLost },
    ...{ spoolBytes, spoolRows, spoolOldestS: secondsSince(spool.oldestAtMs), droppedRows, openIncidents },
    unfitProbers: [...fitness.values()].filter((one) => !one.fit).length,
    quarantined: quarantine.size,
    overBudget: probers.overBudget,
    setAsideRows: setAside.rows,
  };
  const metricsText = await metrics.text(gauges, refusals);
  return { ...reportOf(parts), shards, healthyProbers: probers.size, spoolBytes, metrics: metricsText };
}

/** @param atMs Unix ms; null: never. @returns whole seconds */
function secondsSince(atMs: number | null): number {
  return atMs === null ? 0 : Math.max(0, Math.floor((SYSTEM_CLOCKS.wallNowMs() - atMs) / 1_000));
}

/** How long a row that was set aside is reported, ms: a day, so that an operator who looks once a day sees it. */
const SET_ASIDE_REPORTED_MS = 24 * 3_600_000;

function warningsOf(trouble: string | null, refusals: Refusals, setAside: SetAside): readonly Warning[] {
  const atMs = setAside.lastAtMs;
  return [
    ...(refusals.troubled().length > 0 ? (["location_troubled"] as const) : []),
    ...(atMs !== null && SYSTEM_CLOCKS.wallNowMs() - atMs < SET_ASIDE_REPORTED_MS ? (["rows_set_aside"] as const) : []),
    ...(trouble === null ? [] : (["results_unwritten"] as const)),
  ];
}
