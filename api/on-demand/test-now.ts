/** One test that its caller waits for, and its answer. */
import { formatId } from "../../model/ids.ts";
import { familyOf } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import { formatIso, formatUtc } from "../../model/time.ts";
import type { TestResult } from "../../store/sql/jobs/port.ts";
import type { Api } from "../api.ts";
import { type ApiError, refusal } from "../errors.ts";
import { type ApiResponse, json, ok } from "../http.ts";
import type { ProjectCall } from "../route.ts";
import { newTestId, orderTests, testJob } from "./order.ts";
import { waitForTest } from "./waiting.ts";

/**
 * @param location that runs it
 * @returns 202 when it takes longer than a caller waits
 * @throws 403 when nothing is left of the month's quota, 404 and 409 when the monitor was deleted or paused meanwhile
 */
export async function testNow(api: Api, call: ProjectCall, monitor: Monitor, location: string): Promise<ApiResponse> {
  const testId = newTestId();
  const [jobId] = await orderTests(api, call, [
    testJob(call, { kind: "test", monitorId: monitor.id, testId, location }),
  ]);
  const end = await waitForTest(
    { jobs: api.controlPlane.jobs, notices: api.state.notices, closing: api.closing },
    jobId ?? 0,
  );
  const ids = { test_id: testId, server_id: formatId("server", monitor.id) };
  if (end === null) return json(202, { ...ids, status: "pending", tested_at: formatIso(call.nowMs) });
  if (end === undefined || end.reason === "gone") throw refusal("serverNotFound");
  if (end.reason === "paused") throw pausedRefusal(monitor);
  return ok({ ...ids, ...viewEnd(end) });
}

export function pausedRefusal({ kind }: Pick<Monitor, "kind">): ApiError {
  return refusal(familyOf(kind) === "tunnel" ? "tunnelPaused" : "monitorPaused");
}

function viewEnd(end: TestResult) {
  // Inside a maintenance window the row says `unknown`, a word that a test does not have.
  const seen = end.message === null ? "healthy" : "degraded";
  return {
    status: end.status === "unknown" ? seen : end.status,
    latency_ms: end.latencyMs,
    connect_ms: end.connectMs,
    error_message: end.message,
    tested_at: formatUtc(end.testedAtMs),
  };
}
