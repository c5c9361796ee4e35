/** How much of its limits a workspace has used, by day and by endpoint (docs/api-contract.md#usage). */
import type { Plan } from "../../model/plan.ts";
import { formatIso } from "../../model/time.ts";
import type { WorkspaceRecord } from "../../store/sql/accounts/port.ts";
import type { EndpointUsage } from "../../store/state/state.ts";
import { lastDays, requestWindows } from "../../store/state/windows.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { readQuery } from "../query.ts";
import { type KeyCall, type Route, shape } from "../route.ts";
import { readableKey } from "./keys.ts";
import { keyIdParams, organizationParameter } from "./params.ts";

/** Days of the history, today included. */
const DAYS = 30;
const OWN_ENDPOINT = "GET /usage";

const usageQuery = {
  organization_id: organizationParameter("Which workspace; without it the default one. Of use to account-wide keys."),
} as const;

async function usage(api: Api, call: KeyCall): Promise<ApiResponse> {
  const { organization_id: wanted } = readQuery(usageQuery, call.request.query);
  const workspace = wanted === null ? call.workspace : await reachedWorkspace(api, call, wanted);
  const plan = api.plans[workspace.plan];
  const { nowMs } = call;
  const days = lastDays(DAYS, nowMs);
  const month = formatIso(nowMs).slice(0, 7);
  const [used, counts, onDemand] = await Promise.all([
    api.state.counters.usage(workspace.id, nowMs),
    api.state.counters.endpointUsage(workspace.id, DAYS, nowMs),
    api.controlPlane.jobs.onDemandUsed(workspace.id, month),
  ]);
  const all = workspace.id === call.workspace.id ? [...counts, ...ownRequest(call, days)] : counts;
  return ok({
    organization_id: workspace.id,
    plan: workspace.plan,
    ...windows(plan, used, onDemand, nowMs),
    ...history(all, days),
  });
}

async function reachedWorkspace(api: Api, call: KeyCall, id: number): Promise<WorkspaceRecord> {
  if (!call.isWide) {
    if (id !== call.workspace.id) throw refusal("otherOrganization");
    return call.workspace;
  }
  const memberships = await api.authCache.memberships(call.user.id);
  const found = memberships.find(({ workspace }) => workspace.id === id);
  if (found === undefined) throw refusal("noOrganizationAccess");
  return found.workspace;
}

/** This request is counted too, but its answer is only counted once it is known: it will be a good one. The page's are not counted. */
function ownRequest({ key, session }: KeyCall, days: readonly string[]): readonly EndpointUsage[] {
  if (key === null || session !== null) return [];
  return [{ day: days.at(-1) ?? "", keyId: key.id, endpoint: OWN_ENDPOINT, requests: 1, errors: 0 }];
}

function windows(
  plan: Plan,
  used: { readonly minute: number; readonly day: number; readonly month: number },
  onDemand: number,
  nowMs: number,
) {
  const [minute, day, month] = requestWindows(nowMs);
  return {
    this_minute: viewWindow(used.minute, plan.requestsPerMinute, minute.endsAtMs),
    today: viewWindow(used.day, plan.requestsPerDay, day.endsAtMs),
    this_month: viewWindow(used.month, plan.requestsPerMonth, month.endsAtMs),
    on_demand_tests: viewWindow(onDemand, plan.onDemandTestsPerMonth, month.endsAtMs),
  };
}

function viewWindow(used: number, limit: number | null, endsAtMs: number) {
  const remaining = limit === null ? null : Math.max(0, limit - used);
  return { used, limit, remaining, resets_at: formatIso(endsAtMs) };
}

function history(counts: readonly EndpointUsage[], days: readonly string[]) {
  const daily = new Map(days.map((date) => [date, { date, requests: 0, errors: 0 }]));
  const endpoints = new Map<string, { method: string; path: string; requests: number; errors: number }>();
  for (const { day, endpoint, requests, errors } of counts) {
    add(daily.get(day), requests, errors);
    const [method = "", path = ""] = endpoint.split(" ");
    const entry = endpoints.get(endpoint) ?? { method, path, requests: 0, errors: 0 };
    add(entry, requests, errors);
    endpoints.set(endpoint, entry);
  }
  const busiestFirst = [...endpoints.entries()].sort(
    ([a, one], [b, other]) => other.requests - one.requests || (a < b ? -1 : 1),
  );
  return { daily: [...daily.values()], endpoints: busiestFirst.map(([, entry]) => entry) };
}

function add(to: { requests: number; errors: number } | undefined, requests: number, errors: number): void {
  if (to === undefined) return;
  to.requests += requests;
  to.errors += errors;
}

async function ofKey(api: Api, call: KeyCall): Promise<ApiResponse> {
  const key = await readableKey(api, call);
  const days = lastDays(DAYS, call.nowMs);
  const of =
    key.organizationId === null
      ? (await api.authCache.memberships(key.userId)).map(({ workspace }) => workspace.id)
      : [key.organizationId];
  const counts = await Promise.all(of.map((id) => api.state.counters.endpointUsage(id, DAYS, call.nowMs)));
  const own = counts.flat().filter(({ keyId }) => keyId === key.id);
  const { daily, endpoints } = history(own, days);
  const sum = (last: number) => {
    const total = { requests: 0, errors: 0 };
    for (const { requests, errors } of daily.slice(-last)) add(total, requests, errors);
    return total;
  };
  return ok({ key_id: key.id, today: sum(1), last_7_days: sum(7), last_30_days: sum(DAYS), endpoints });
}

export const usages: readonly Route[] = [
  {
    method: "GET",
    path: "/keys/{id}/usage",
    operationId: "getKeyUsage",
    group: "Keys",
    summary: "Requests that a key made, by day and by endpoint",
    description: "An addition of ours. For those who see the key in the list of keys. Counts may lag by seconds.",
    scope: "key",
    params: keyIdParams,
    responses: { 200: shape("keyUsage") },
    refusals: ["invalidKeyId", "keyNotFound"],
    handle: ofKey,
  },
  {
    method: "GET",
    path: "/usage",
    operationId: "getUsage",
    group: "Account",
    summary: "Requests and on-demand tests used, limits, daily history and the busiest endpoints",
    scope: "key",
    query: usageQuery,
    responses: { 200: shape("usage") },
    refusals: ["otherOrganization", "noOrganizationAccess"],
    handle: usage,
  },
];
