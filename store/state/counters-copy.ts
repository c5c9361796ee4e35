/** Counters as a move takes them: requests of each workspace in the windows that run, and requests by endpoint and day. */
import { rmSync } from "node:fs";
import { openCounterFile } from "./counter-file.ts";
import { openState, type StateLocation } from "./open.ts";
import type { EndpointUsage } from "./state.ts";
import { requestWindows, USAGE_DAYS_KEPT } from "./windows.ts";
import type { WorkspaceCounters } from "./workspace-counters.ts";

export async function readCounters(
  place: StateLocation,
  organizationIds: readonly number[],
  nowMs: number,
): Promise<readonly WorkspaceCounters[]> {
  const state = await openState(place);
  try {
    const read: WorkspaceCounters[] = [];
    for (const organizationId of organizationIds) {
      const requests = await state.counters.usage(organizationId, nowMs);
      const endpoints = await state.counters.endpointUsage(organizationId, USAGE_DAYS_KEPT, nowMs);
      read.push({ organizationId, requests, endpoints: inOrder(endpoints) });
    }
    return read;
  } finally {
    await state.close();
  }
}

/** In place of what the target has of these workspaces. */
export async function writeCounters(
  place: StateLocation,
  counters: readonly WorkspaceCounters[],
  nowMs: number,
): Promise<void> {
  if ("url" in place) return (await import("./redis-copy.ts")).writeRedisCounters(place, counters, nowMs);
  for (const end of ["", "-wal", "-shm"]) rmSync(`${place.file}${end}`, { force: true });
  const windows = requestWindows(nowMs);
  const file = openCounterFile(place.file);
  try {
    const cells = counters.map(({ organizationId, requests: { minute, day, month } }) => {
      const values = windows.flatMap(({ index }, at) => [index, [minute, day, month][at] ?? 0]);
      return [`requests ${organizationId}`, { values, expiresAtMs: windows[2].endsAtMs }] as const;
    });
    file.write(
      cells,
      counters.flatMap(({ organizationId, endpoints }) => endpoints.map((one) => ({ ...one, organizationId }))),
    );
  } finally {
    file.close();
  }
}

function inOrder(endpoints: readonly EndpointUsage[]): readonly EndpointUsage[] {
  const nameOf = ({ day, keyId, endpoint }: EndpointUsage): string => `${day} ${keyId} ${endpoint}`;
  return [...endpoints].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}
