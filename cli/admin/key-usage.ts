/** Use of each key of a workspace, as the dashboard shows it (docs/api-contract.md#order-of-checks). */
import type { StateLocation } from "../../store/state/open.ts";
import type { EndpointUsage } from "../../store/state/state.ts";
import type { AdminStores } from "./stores.ts";

const DAYS = 30;
const WEEK = 7;

export interface KeyUse {
  readonly id: number;
  /** null: deleted since. */
  readonly name: string | null;
  readonly requests_today: number;
  readonly requests_7_days: number;
  readonly requests_30_days: number;
  /** In 30 days, busiest first. */
  readonly endpoints: readonly {
    readonly method: string;
    readonly path: string;
    readonly requests: number;
    readonly errors: number;
  }[];
}

/** Keys of the workspace, newest first, then account-wide and deleted ones that were used there. A running service writes every second. */
export async function keyUsage(
  { controlPlane, stateLocation, nowMs }: AdminStores,
  organizationId: number,
): Promise<readonly KeyUse[]> {
  const { lastDays } = await import("../../store/state/windows.ts");
  const counts = await readCounts(stateLocation, organizationId, nowMs);
  const days = lastDays(DAYS, nowMs);
  const keys = await controlPlane.keys.ofWorkspace(organizationId, null);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const others = [...new Set(counts.map(({ keyId }) => keyId))].filter((id) => !names.has(id)).sort((a, b) => a - b);
  for (const id of others) {
    const name = (await controlPlane.keys.find(id))?.name;
    if (name !== undefined) names.set(id, name);
  }
  return [...keys.map(({ id }) => id), ...others].map((id) => {
    const own = counts.filter(({ keyId }) => keyId === id);
    const since = (count: number): number => {
      const first = days.at(-count) ?? "";
      return own.filter(({ day }) => day >= first).reduce((sum, { requests }) => sum + requests, 0);
    };
    return {
      id,
      name: names.get(id) ?? null,
      requests_today: since(1),
      requests_7_days: since(WEEK),
      requests_30_days: since(DAYS),
      endpoints: byEndpoint(own),
    };
  });
}

async function readCounts(
  location: StateLocation,
  organizationId: number,
  nowMs: number,
): Promise<readonly EndpointUsage[]> {
  const { openState } = await import("../../store/state/open.ts");
  const state = await openState(location);
  try {
    return await state.counters.endpointUsage(organizationId, DAYS, nowMs);
  } finally {
    await state.close();
  }
}

function byEndpoint(counts: readonly EndpointUsage[]): KeyUse["endpoints"] {
  const found = new Map<string, { requests: number; errors: number }>();
  for (const { endpoint, requests, errors } of counts) {
    const known = found.get(endpoint) ?? { requests: 0, errors: 0 };
    found.set(endpoint, { requests: known.requests + requests, errors: known.errors + errors });
  }
  return [...found]
    .sort(([a, one], [b, other]) => other.requests - one.requests || (a < b ? -1 : 1))
    .map(([endpoint, sums]) => {
      const [method = "", path = ""] = endpoint.split(" ");
      return { method, path, ...sums };
    });
}
