/** Plans of workspaces, and what a change of plan does to their monitors: all of it in one transaction. */

import { SYSTEM_ACTOR } from "../../../model/actor.ts";
import { isPassive } from "../../../model/kind.ts";
import type { Monitor } from "../../../model/monitor.ts";
import type { PlanTable } from "../../../model/plan.ts";
import { type Fit, fitToPlan } from "../../../model/plan-fit.ts";
import type { WorkspaceRecord } from "../accounts/port.ts";
import { holdWorkspace } from "../accounts/workspaces.ts";
import type { Database, Session } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { type BulkChange, changeMonitors } from "./bulk.ts";
import type { PlanEffects, Plans } from "./plans-port.ts";
import type { MonitorWithLive } from "./port.ts";
import { LIVE_COLUMNS, MONITOR_COLUMNS, toMonitorWithLive } from "./rows.ts";
import { change } from "./writes.ts";

export function createPlans({ write }: Database): Plans {
  const alter = (
    organizationId: number,
    values: Partial<Pick<WorkspaceRecord, "plan" | "suspended">>,
    plans: PlanTable,
    nowMs: number,
  ): Promise<PlanEffects | undefined> =>
    write(async (session) => {
      const before = await holdWorkspace(session, organizationId);
      if (before === undefined) return undefined;
      const workspace = { ...before, ...values };
      await session.kysely
        .updateTable("workspaces")
        .set({ plan: workspace.plan, suspended: workspace.suspended ? 1 : 0 })
        .where("id", "=", organizationId)
        .execute();
      const effects = await fitMonitors(session, workspace, plans, nowMs);
      await raiseGeneration(session);
      return effects;
    });
  return {
    setPlan: (organizationId, plan, plans, nowMs) => alter(organizationId, { plan }, plans, nowMs),
    setSuspended: (organizationId, suspended, plans, nowMs) => alter(organizationId, { suspended }, plans, nowMs),
  };
}

async function fitMonitors(
  session: Session,
  { id, plan, suspended }: WorkspaceRecord,
  plans: PlanTable,
  nowMs: number,
): Promise<PlanEffects> {
  await raiseSyncIntervals(session, id, plans[plan].shortestIntervalS, nowMs);
  const held = await holdMonitors(session, id);
  const monitors = held.map(({ monitor }) => monitor);
  const fits = new Map(fitToPlan(monitors, plans[plan], suspended).map((fit) => [fit.id, fit]));
  const effects = { raised: 0, paused: 0, resumed: 0 };
  const alike = new Map<string, { readonly wanted: BulkChange; readonly held: MonitorWithLive[] }>();
  for (const now of held) {
    const fit = fits.get(now.monitor.id);
    if (fit === undefined) continue;
    countEffect(effects, now.monitor, fit);
    const wanted = changeOf(fit);
    if (isPassive(now.monitor.kind) && fit.intervalS !== undefined) {
      // A heartbeat's period stands in its settings as well.
      const settings = { ...now.monitor.settings, period: fit.intervalS };
      await change(session, now, { ...wanted, settings }, nowMs, SYSTEM_ACTOR);
      continue;
    }
    const name = JSON.stringify(wanted);
    const group = alike.get(name) ?? { wanted, held: [] };
    group.held.push(now);
    alike.set(name, group);
  }
  for (const group of alike.values()) await changeMonitors(session, group.held, group.wanted, nowMs);
  return effects;
}

function changeOf({ intervalS, planPause }: Fit): BulkChange {
  return {
    ...(intervalS !== undefined && { intervalS }),
    ...(planPause === "add" && { addPauseReason: "plan" as const }),
    ...(planPause === "remove" && { removePauseReasons: ["plan"] as const }),
  };
}

function countEffect(
  effects: { raised: number; paused: number; resumed: number },
  { pauseReasons }: Monitor,
  { intervalS, planPause }: Fit,
): void {
  if (intervalS !== undefined) effects.raised += 1;
  if (planPause === "add" && pauseReasons.length === 0) effects.paused += 1;
  if (planPause === "remove" && pauseReasons.length === 1) effects.resumed += 1;
}

/** Imported monitors follow their subscription, which must obey the plan as they do (docs/api-contract.md#subscriptions). */
async function raiseSyncIntervals(
  session: Session,
  organizationId: number,
  shortestIntervalS: number,
  nowMs: number,
): Promise<void> {
  await session.kysely
    .updateTable("subscriptions")
    .set({ sync_interval_s: shortestIntervalS, updated_at_ms: nowMs })
    .where("organization_id", "=", organizationId)
    .where("sync_interval_s", "<", shortestIntervalS)
    .execute();
}

/** All of the workspace, in the order of ids, so that two writers never wait for each other's rows. */
async function holdMonitors(session: Session, organizationId: number): Promise<readonly MonitorWithLive[]> {
  let query = session.kysely
    .selectFrom("monitors as m")
    .innerJoin("live as l", "l.monitor_id", "m.id")
    .select([...MONITOR_COLUMNS, ...LIVE_COLUMNS])
    .where("m.organization_id", "=", organizationId)
    .where("m.deleted_at_ms", "is", null)
    .orderBy("m.id");
  if (session.dialect === "postgres") query = query.forNoKeyUpdate("m");
  return (await query.execute()).map(toMonitorWithLive);
}
