/** A thousand monitors of one service, and what became of them: for faults that are ours and must not be held against targets. */
import { setTimeout as pause } from "node:timers/promises";
import type { IncidentsBody, TestClient } from "../client.ts";
import { createMonitor } from "../product.ts";
import { eventually } from "../service.ts";

export const INTERVAL_S = 5;
/** The contract's shortest, s. */
export const TIMEOUT_S = 10;
/** Requests under way at once while monitors are created. */
const SIDE_BY_SIDE = 16;
const LOOK_EVERY_MS = 1_000;

/** One failure confirms: there is no retry that would hide a mistake. */
export async function createMany(api: TestClient, urls: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  const common = { type: "http", interval: INTERVAL_S, timeout: TIMEOUT_S, maxretries: 1 };
  for (let from = 0; from < urls.length; from += SIDE_BY_SIDE) {
    const some = urls.slice(from, from + SIDE_BY_SIDE);
    ids.push(
      ...(await Promise.all(some.map((url, i) => createMonitor(api, { ...common, name: `Site ${from + i}`, url })))),
    );
  }
  return ids;
}

interface Row {
  readonly id: string;
  readonly server_id: string;
  readonly status: string;
  readonly explain: { readonly verdict: string };
}

export interface Watch {
  /** Verdicts of the rows seen so far, by monitor. */
  verdicts(ids: readonly string[]): Readonly<Record<string, number>>;
  /** Rows of these monitors with this status, seen so far. */
  count(ids: readonly string[], status: string): number;
  stop(): Promise<void>;
}

/** Reads the newest thousand results every second: five seconds of them, so that few are missed. */
export function watchResults(api: TestClient): Watch {
  const rows = new Map<string, Row>();
  let isStopped = false;
  async function look(): Promise<void> {
    while (!isStopped) {
      const { status, body } = await api.get<{ results: Row[] }>("/results?period=15m&limit=1000&explain=1");
      if (status === 200) for (const row of body.results) rows.set(row.id, row);
      await pause(LOOK_EVERY_MS);
    }
  }
  const looking = look();
  looking.catch(() => {});
  const of = (ids: readonly string[]) => {
    const wanted = new Set(ids);
    return [...rows.values()].filter((row) => wanted.has(row.server_id));
  };
  return {
    verdicts(ids) {
      const counts: Record<string, number> = {};
      for (const { explain } of of(ids)) counts[explain.verdict] = (counts[explain.verdict] ?? 0) + 1;
      return counts;
    },
    count: (ids, status) => of(ids).filter((row) => row.status === status).length,
    async stop() {
      isStopped = true;
      await looking;
    },
  };
}

/** Verdicts of every stored row of a few monitors: those of a check that took long stand too far back for a watch. */
export async function verdictsOf(api: TestClient, ids: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const id of ids) {
    const { body } = await api.get<{ results: Row[] }>(`/results/server/${id}?period=1h&limit=1000&explain=1`);
    for (const { explain } of body.results) counts[explain.verdict] = (counts[explain.verdict] ?? 0) + 1;
  }
  return counts;
}

/** Monitors that have failed in any stored result. */
export async function everDown(api: TestClient): Promise<ReadonlySet<string>> {
  const { body } = await api.get<{ failures: Row[] }>("/results/failures?period=1h&limit=1000");
  return new Set(body.failures.map(({ server_id }) => server_id));
}

/** Monitors that have ever had an incident. */
export async function everInIncident(api: TestClient): Promise<ReadonlySet<string>> {
  const { body } = await api.get<IncidentsBody>("/incidents?limit=1000");
  return new Set(body.incidents.map(({ server_id }) => server_id));
}

/** Monitors that have the status now. */
async function withStatus(api: TestClient, status: string): Promise<ReadonlySet<string>> {
  const path = `/servers?family=uptime&limit=1000&status=${status}`;
  const { servers } = (await api.get<{ servers: { id: string }[] }>(path)).body;
  return new Set(servers.map(({ id }) => id));
}

/** Waits until exactly these monitors are down and every other one is healthy. */
export async function untilDown(api: TestClient, ids: readonly string[], all: number, withinMs: number): Promise<void> {
  await eventually(async () => {
    const down = await withStatus(api, "down");
    const { total } = (await api.get<{ total: number }>("/servers?family=uptime&limit=1&status=healthy")).body;
    return down.size === ids.length && ids.every((id) => down.has(id)) && total === all - ids.length ? true : undefined;
  }, withinMs);
}
