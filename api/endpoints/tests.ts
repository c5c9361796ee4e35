/** On-demand tests: one, many, and the retest of an incident's monitor (docs/api-contract.md#tests, #lengths). */
import { z } from "zod";
import { formatId, parseId } from "../../model/ids.ts";
import { familyOf, isPassive, type TunnelProtocol } from "../../model/kind.ts";
import { ANY_LOCATION, isActive, type Monitor } from "../../model/monitor.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject, readOptionalObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { MAY_NOT_TEST, newTestId, orderTests, testJob } from "../on-demand/order.ts";
import { hasChecker, locate, readRegion, regionFields, requireRegionOnPlan } from "../on-demand/region.ts";
import { pausedRefusal, testNow } from "../on-demand/test-now.ts";
import { randomText } from "../random-text.ts";
import { type ProjectCall, pathId, type Refusal, type Route, shape } from "../route.ts";
import { incidentIdParams, serverIdParams } from "./params.ts";

/** Ids of one batch (docs/api-contract.md#tests). */
const MOST_IDS = 500;

async function test(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  const sent = fieldOf(body, "server_id");
  const monitorId = typeof sent === "string" ? parseId("server", sent) : undefined;
  if (monitorId === undefined) throw refusal("serverIdInvalid");
  const monitor = await find(api, call, monitorId);
  if (monitor === undefined) throw refusal("serverNotFound");
  const wanted = readRegion(body);
  if (familyOf(monitor.kind) !== "tunnel") throw refusal("tunnelsOnly");
  requireRegionOnPlan(wanted, call.plan);
  if (!isActive(monitor)) throw refusal("tunnelPaused");
  return testNow(api, call, monitor, await locate(api, wanted));
}

/** Any kind that is checked; a test of a tunnel is POST /test too. */
async function checkNow(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const monitor = await find(api, call, pathId(call, "server", "invalidServerId"));
  if (monitor === undefined) throw refusal("serverNotFound");
  const wanted = readRegion(readOptionalObject(call.request));
  if (isPassive(monitor.kind)) throw refusal("heartbeatUntestable");
  requireRegionOnPlan(wanted, call.plan);
  if (!isActive(monitor)) throw pausedRefusal(monitor);
  return testNow(api, call, monitor, await locate(api, wanted));
}

async function batch(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  const ids = readIds(body);
  const monitors = await findAll(api, call, ids);
  const wanted = readRegion(body);
  requireRegionOnPlan(wanted, call.plan);
  const skipped = monitors.flatMap((monitor) => {
    const reason = familyOf(monitor.kind) !== "tunnel" ? "not_a_tunnel" : isActive(monitor) ? null : "paused";
    return reason === null ? [] : [{ server_id: formatId("server", monitor.id), reason }];
  });
  const tested = monitors.filter((monitor) => familyOf(monitor.kind) === "tunnel" && isActive(monitor));
  const location = await locate(api, wanted);
  const isThere = tested.length > 0 && (await hasChecker(api, location));
  const jobs = tested.map(({ id: monitorId }) =>
    testJob(call, { kind: "test", monitorId, testId: newTestId(), location }),
  );
  const jobIds = isThere ? await orderTests(api, call, jobs) : [];
  return ok({
    batch_id: `bat_${randomText()}`,
    results: groupsOf(tested, jobIds),
    skipped,
    total: ids.length,
    successful: jobIds.length,
    failed: tested.length - jobIds.length,
  });
}

/** Each once. @throws 400 */
function readIds(body: JsonObject): readonly number[] {
  const sent = fieldOf(body, "server_ids");
  if (!Array.isArray(sent) || sent.length === 0) throw refusal("serverIdsInvalid");
  const ids = new Set<number>();
  for (const text of sent) {
    const id = typeof text === "string" ? parseId("server", text) : undefined;
    if (id === undefined) throw refusal("serverIdsInvalid");
    ids.add(id);
  }
  if (ids.size > MOST_IDS) throw refusal("serverIdsTooMany");
  return [...ids];
}

/** In the order of the ids. @throws 403 naming those that are not in the project */
async function findAll(api: Api, call: ProjectCall, ids: readonly number[]): Promise<readonly Monitor[]> {
  const rows = await api.controlPlane.monitors.findAll(call.project.id, ids);
  const found = new Map(rows.map(({ monitor }) => [monitor.id, monitor]));
  const invalid = ids.filter((id) => !found.has(id)).map((id) => formatId("server", id));
  if (invalid.length > 0) throw refusal("serversNotAccessible", { details: { invalid } });
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** @param jobIds in the order of the tested; empty when nothing was queued */
function groupsOf(tested: readonly Monitor[], jobIds: readonly number[]) {
  const groups = new Map<TunnelProtocol, { count: number; firstJobId: number | undefined }>();
  for (const [index, { kind }] of tested.entries()) {
    const protocol = kind as TunnelProtocol;
    const group = groups.get(protocol) ?? { count: 0, firstJobId: jobIds[index] };
    groups.set(protocol, { ...group, count: group.count + 1 });
  }
  return [...groups].map(([protocol, { count, firstJobId }]) =>
    firstJobId === undefined
      ? { protocol, batch_id: null, count, reason: "No checker is available" }
      : { protocol, batch_id: `job_${firstJobId}`, count },
  );
}

async function retest(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const incidentId = pathId(call, "incident", "invalidIncidentId");
  const incident = await api.controlPlane.incidents.find(call.project.id, incidentId);
  if (incident === undefined) throw refusal("incidentNotFound");
  const monitor = await find(api, call, incident.monitorId);
  if (monitor === undefined) throw refusal("monitorNotFound");
  if (isPassive(monitor.kind)) throw refusal("heartbeatUntestable");
  if (!isActive(monitor)) throw pausedRefusal(monitor);
  const testId = newTestId();
  const { id: monitorId } = monitor;
  await orderTests(api, call, [
    testJob(call, { kind: "retest", monitorId, testId, location: ANY_LOCATION, incidentId }),
  ]);
  return ok({ test_id: testId, incident_id: formatId("incident", incidentId), status: "pending" });
}

async function find(api: Api, call: ProjectCall, id: number): Promise<Monitor | undefined> {
  return (await api.controlPlane.monitors.find(call.project.id, id))?.monitor;
}

const QUOTA_REFUSALS: readonly Refusal[] = ["noTestsOnPlan", [403, "Monthly on-demand test limit reached (500/500)"]];
const REGION_REFUSALS: readonly Refusal[] = ["regionInvalid", "regionOnPlan", "noCheckerInRegion"];
const serverId = z
  .string()
  .regex(/^(srv_)?[0-9]+$/)
  .meta({ examples: ["srv_12"] });

export const tests: readonly Route[] = [
  {
    method: "POST",
    path: "/test",
    operationId: "testMonitor",
    audit: null,
    group: "Tests",
    summary: "Test a tunnel now",
    description:
      "Waits up to 75 seconds, then answers 202; the result appears in the monitor's results and status. Uses one on-demand test.",
    scope: "project",
    editorsOnly: MAY_NOT_TEST,
    body: { schema: z.object({ server_id: serverId, ...regionFields }).meta({ id: "TestMonitor" }), required: true },
    responses: { 200: shape("test"), 202: shape("pendingTest") },
    refusals: [
      "serverIdInvalid",
      "tunnelsOnly",
      "serverNotFound",
      "tunnelPaused",
      ...REGION_REFUSALS,
      ...QUOTA_REFUSALS,
    ],
    handle: test,
  },
  {
    method: "POST",
    path: "/test/batch",
    operationId: "testMonitors",
    audit: null,
    group: "Tests",
    summary: "Test many tunnels now",
    description:
      "Queues a test per monitor and returns at once; each uses one on-demand test. Results are read from the monitors.",
    scope: "project",
    editorsOnly: MAY_NOT_TEST,
    body: {
      schema: z
        .object({ server_ids: z.array(serverId).min(1).max(MOST_IDS), ...regionFields })
        .meta({ id: "TestMonitors" }),
      required: true,
    },
    responses: { 200: shape("batch") },
    refusals: ["serverIdsInvalid", "serverIdsTooMany", "serversNotAccessible", ...REGION_REFUSALS, ...QUOTA_REFUSALS],
    handle: batch,
  },
  {
    method: "POST",
    path: "/servers/{id}/check",
    operationId: "checkMonitor",
    audit: null,
    group: "Tests",
    summary: "Check a monitor of any kind but heartbeats now",
    description:
      "An addition of ours. Waits up to 75 seconds, then answers 202; the result appears in the monitor's results and status. Uses one on-demand test.",
    scope: "project",
    editorsOnly: MAY_NOT_TEST,
    params: serverIdParams,
    body: { schema: z.object(regionFields).meta({ id: "CheckMonitor" }), required: false },
    responses: { 200: shape("test"), 202: shape("pendingTest") },
    refusals: [
      "serverNotFound",
      "heartbeatUntestable",
      "tunnelPaused",
      "monitorPaused",
      ...REGION_REFUSALS,
      ...QUOTA_REFUSALS,
    ],
    handle: checkNow,
  },
  {
    method: "POST",
    path: "/incidents/{id}/retest",
    operationId: "retestIncident",
    audit: null,
    group: "Incidents",
    summary: "Test an incident's monitor now",
    description:
      "Queues a test from `any` and returns at once; the incident closes once the monitor has recovered. Uses one on-demand test.",
    scope: "project",
    editorsOnly: MAY_NOT_TEST,
    params: incidentIdParams,
    responses: { 200: shape("retest") },
    refusals: ["heartbeatUntestable", "monitorNotFound", "tunnelPaused", "monitorPaused", ...QUOTA_REFUSALS],
    handle: retest,
  },
];
