/** Plans of workspaces, and what a change of plan does to their monitors: all of it in one transaction. */

import { isActive } from "../../model/monitor.ts";
import type { PlanTable } from "../../model/plan.ts";
import { type Fit, fitToPlan } from "../../model/plan-fit.ts";
import { holdWorkspace } from "./accounts.ts";
import { type MonitorChange, type MonitorWithLive, SYSTEM_ACTOR } from "./control-plane.ts";
import type { Database, Session } from "./database.ts";
import { raiseGeneration } from "./generation.ts";
import { LIVE_COLUMNS, MONITOR_COLUMNS, toMonitorWithLive } from "./monitor-rows.ts";
import { change } from "./monitor-writes.ts";
import type { WorkspaceRecord } from "./ports/accounts.ts";
import type { PlanEffects, Plans } from "./ports/plans.ts";

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
  const held = await holdMonitors(session, id);
  const byId = new Map(held.map((row) => [row.monitor.id, row]));
  const fits = fitToPlan(
    held.map(({ monitor }) => monitor),
    plans[plan],
    suspended,
  );
  const effects = { raised: 0, paused: 0, resumed: 0 };
  for (const fit of fits) {
    const now = byId.get(fit.id);
    if (now === undefined) continue;
    const { monitor } = await change(session, now, changeOf(now, fit), nowMs, SYSTEM_ACTOR);
    if (fit.intervalS !== undefined) effects.raised += 1;
    if (isActive(now.monitor) && !isActive(monitor)) effects.paused += 1;
    if (!isActive(now.monitor) && isActive(monitor)) effects.resumed += 1;
  }
  return effects;
}

function changeOf({ monitor }: MonitorWithLive, { intervalS, planPause }: Fit): MonitorChange {
  return {
    ...(intervalS !== undefined && { intervalS }),
    // A heartbeat's period stands in its settings as well.
    ...(intervalS !== undefined && monitor.kind === "push" && { settings: { ...monitor.settings, period: intervalS } }),
    ...(planPause === "add" && { addPauseReason: "plan" as const }),
    ...(planPause === "remove" && { removePauseReasons: ["plan"] as const }),
  };
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
