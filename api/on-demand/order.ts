/** Ordering tests: what becomes a job, what it takes from the month's quota, and the answer of a full quota. */
import { monthOf } from "../../model/time.ts";
import type { NewTestJob } from "../../store/sql/jobs/port.ts";
import type { Api } from "../api.ts";
import { forbidden, refusal } from "../errors.ts";
import { randomText } from "../random-text.ts";
import type { ProjectCall } from "../route.ts";

/** A test that could not start by then ends as a fault of ours; our choice: well beyond the 75 s that a caller waits, and no stale work. */
const TEST_AGE_MS = 600_000;

/** What the caller of a test may not do, in the contract's words (docs/api-contract.md#order-of-checks). */
export const MAY_NOT_TEST = "You do not have permission to run tests in this project";

export function newTestId(): string {
  return `tst_${randomText()}`;
}

export function testJob(
  call: ProjectCall,
  of: Pick<NewTestJob, "kind" | "monitorId" | "testId" | "location"> & { readonly incidentId?: number },
): NewTestJob {
  const atMs = call.nowMs;
  return { incidentId: null, ...of, projectId: call.project.id, atMs, expiresAtMs: atMs + TEST_AGE_MS };
}

/** Queues all of them or none. @returns the jobs' ids. @throws 403 when nothing is left of the month's quota */
export async function orderTests(api: Api, call: ProjectCall, jobs: readonly NewTestJob[]): Promise<readonly number[]> {
  const quota = call.plan.onDemandTestsPerMonth;
  if (quota === 0) throw refusal("noTestsOnPlan");
  const answer = await api.controlPlane.jobs.order({
    organizationId: call.workspace.id,
    month: monthOf(call.nowMs),
    quota,
    actor: call.actor,
    jobs,
  });
  if (answer.type === "refused") {
    throw forbidden(`Monthly on-demand test limit reached (${answer.used}/${quota})`);
  }
  api.state.notices.publish("jobs");
  return answer.jobIds;
}
