/** The service for its operator: who schedules, who checks, what waits. Metrics say the same in numbers over time (operator.ts). */
import { formatIso } from "../../model/time.ts";
import type { Api, CheckerMachine } from "../api.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { reachedWorkspaces } from "../reach.ts";
import { type KeyCall, type Route, shape } from "../route.ts";
import { warningsOf } from "./health.ts";

async function show(api: Api, call: KeyCall): Promise<ApiResponse> {
  await refuseOthers(api, call);
  const { shards, schedulers } = await api.controlPlane.shards.view();
  const [database, queue, regions, waiting] = await Promise.all([
    troubleOf(api.health.database()),
    troubleOf(api.health.queue()),
    api.regions(),
    api.controlPlane.outgoing.pending(),
  ]);
  return ok({
    at: formatIso(call.nowMs),
    version: api.version,
    started_at: formatIso(api.startedAtMs),
    http_server: api.httpServer,
    database: api.controlPlane.dialect,
    database_trouble: database,
    queue_trouble: queue,
    condition: api.storeCondition(),
    warnings_of_service: warningsOf(api),
    schedulers: schedulers.map(({ id, name, report }) => ({
      name,
      shards: shards.filter(({ holder }) => holder === id).length,
      monitors: report.monitors,
      running: report.running,
      waiting: report.waiting,
      silent_monitors: report.silentMonitors,
      skipped_turns: report.skippedTurns,
      spool_rows: report.spoolRows,
      trouble: report.trouble,
    })),
    free_shards: shards.filter(({ holder }) => holder === null).length,
    skipped_turns: shards.reduce((sum, { skipped }) => sum + skipped, 0),
    checkers: regions.map(({ code, healthyCheckers, machines = [] }) => ({
      code,
      healthy_checkers: healthyCheckers,
      machines: machines.map(viewMachine),
    })),
    waiting_deliveries: waiting,
  });
}

function viewMachine({ isHealthy, isFit, clockOffsetMs, seenAtMs, ...same }: CheckerMachine) {
  return {
    name: same.name,
    version: same.version,
    healthy: isHealthy,
    fit: isFit,
    reasons: same.reasons,
    clock_offset_ms: Math.round(clockOffsetMs),
    running: same.running,
    room: same.room,
    seen_at: formatIso(seenAtMs),
  };
}

/** The first workspace is the operator's: the first start makes it. @throws 403 */
async function refuseOthers(api: Api, call: KeyCall): Promise<void> {
  const [first] = await api.controlPlane.accounts.workspaces();
  const reached = await reachedWorkspaces(api, call);
  const isOperator = reached.some(({ workspace, role }) => workspace.id === first?.id && role === "owner");
  if (!isOperator) throw refusal("serviceForbidden");
}

/** Its text is in the log, and may name hosts and users: here it is only said that there is trouble. */
async function troubleOf(answer: Promise<void>): Promise<string | null> {
  return answer.then(
    () => null,
    () => "It does not answer. The log says why.",
  );
}

export const services: readonly Route[] = [
  {
    method: "GET",
    path: "/service",
    operationId: "getService",
    group: "Operator",
    summary: "The service: schedulers, checkers by location, stores, what waits",
    description: "An addition of ours. For Owners of the first workspace, which is the operator's.",
    scope: "key",
    responses: { 200: shape("service") },
    refusals: ["serviceForbidden"],
    handle: show,
  },
];
