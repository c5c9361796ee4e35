/** The ground that tests of the control plane stand on: an empty database with its first owner, workspace and project. */
import { afterEach, beforeEach, describe } from "vitest";
import type { Actor } from "../../model/actor.ts";
import type { IncidentChange } from "../../model/incident.ts";
import { PLANS } from "../../model/plan.ts";
import type { LiveState, LocationState } from "../../model/status.ts";
import type { ListedServer } from "../../model/sync.ts";
import { openControlPlane, type SqlLocation } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { MonitorFilter, NewMonitor } from "../../store/sql/monitors/port.ts";
import type { SinkBatch } from "../../store/sql/sink/port.ts";
import type { SubscriptionRecord } from "../../store/sql/subscriptions/port.ts";
import { SYNC_LEASE } from "../../store/sql/subscriptions/syncs-port.ts";
import { NOW_MS, newMonitor } from "./new-monitor.suite.ts";

/** Makes an empty database and takes it away again. */
export interface DatabaseMaker {
  make(): Promise<{ readonly location: SqlLocation; remove(): Promise<void> }>;
}

export const ADA: Actor = { type: "user", id: 7, name: "Ada", via: "api", keyId: 31 };
export const EVERYTHING: MonitorFilter = {
  family: "all",
  activeOnly: false,
  status: null,
  protocol: null,
  nameContains: null,
  limit: 1_000,
  offset: 0,
};

export interface Ground {
  readonly plane: ControlPlane;
  readonly projectId: number;
  readonly organizationId: number;
  readonly userId: number;
}

/** A second connection, as another thread or process has it. */
export type Another = (role?: "api" | "sink") => Promise<ControlPlane>;
/** Cases of one idea. */
export type GroundTests = (currentGround: () => Ground, another: Another) => void;

/** Each test gets an empty database of its own. */
export function onGround(name: string, databases: DatabaseMaker, ideas: readonly GroundTests[]): void {
  describe(name, () => {
    let made: Awaited<ReturnType<DatabaseMaker["make"]>>;
    let ground: Ground;

    beforeEach(async () => {
      made = await databases.make();
      const plane = await openControlPlane(made.location, { role: "api" });
      const first = await plane.accounts.createFirst({
        email: "Owner@test-site.org",
        userName: "Owner",
        workspaceName: "Acme",
        plan: "business",
        projectName: "Production",
        nowMs: NOW_MS,
      });
      ground = { plane, ...first };
    });
    afterEach(async () => {
      await ground.plane.close();
      await made.remove();
    });

    const given = (): Ground => ground;
    const another: Another = (role = "sink") => openControlPlane(made.location, { role });
    for (const tests of ideas) tests(given, another);
  });
}

export { NOW_MS, newMonitor };

export function newHeartbeat(ground: Ground, over: Partial<NewMonitor> = {}): NewMonitor {
  const token = { sealed: `sealed-${over.name ?? "job"}`, hash: `hash-${over.name ?? "job"}` };
  const push = { name: "job", kind: "push" as const, settings: {}, host: null, sslExpirationDays: null, graceS: 60 };
  return newMonitor(ground, { ...push, heartbeatToken: token, ...over });
}

export async function make(ground: Ground, over: Partial<NewMonitor> = {}): Promise<number> {
  return (await ground.plane.monitors.create(newMonitor(ground, over), ADA)).id;
}

/** What a sync that lists these servers makes of a subscription, whose sync is asked for if none is open. */
export async function importServers(
  plane: ControlPlane,
  { id, projectId }: Pick<SubscriptionRecord, "id" | "projectId">,
  servers: readonly ListedServer[],
  atMs = NOW_MS,
): Promise<void> {
  await plane.subscriptions.requestSync(projectId, id, atMs);
  const job = (await plane.jobs.openSyncs(1_000)).find(({ subscriptionId }) => subscriptionId === id);
  const subscription = await plane.subscriptions.recall(id);
  const epoch = await plane.leases.take(SYNC_LEASE, "a test", await plane.leases.read(SYNC_LEASE));
  if (job === undefined || subscription === undefined || epoch === undefined) throw new Error("no sync can be ended");
  const facts = { badCount: 0, firstBad: null, unsupported: {} };
  const { urlSealed } = subscription;
  await plane.syncs.end(epoch, { job, urlSealed, outcome: { kind: "list", servers, ...facts }, plans: PLANS, atMs });
}

export function listedServer(address: string, name: string | null, tags: readonly string[]): ListedServer {
  const configs = tags.map((tag) => ({
    identity: tag,
    tag,
    type: "vless" as const,
    port: 443,
    sealed: `sealed ${tag}`,
  }));
  return { address, name, configs };
}

export const PASSED: LocationState = {
  status: "up",
  confirmed: "up",
  notPassed: 0,
  failingSinceMs: null,
  lastCheckAtMs: NOW_MS,
  pingMs: 12.5,
  errorCategory: null,
};

export function liveOf(monitorId: number, over: Partial<LiveState> = {}): LiveState {
  return {
    monitorId,
    status: "healthy",
    statusSinceMs: NOW_MS,
    lastCheckedAtMs: NOW_MS,
    latencyMs: 12.5,
    connectMs: null,
    region: "any",
    latenessMs: 0.25,
    seq: 1,
    lastRowStatus: "healthy",
    lastRowId: "1795241400000010000",
    certificate: { valid: true, expiresAtMs: NOW_MS + 86_400_000 },
    locations: { any: PASSED },
    errorMessage: null,
    ...over,
  };
}

export function batch(appliedSeq: number, over: Partial<SinkBatch> = {}): SinkBatch {
  return { spool: "spool", appliedSeq, live: [], incidents: [], drainedInboxIds: [], ...over };
}

export const WHY = { message: "connection refused", category: "server_not_connected" as const, locations: ["any"] };

export function opening(monitorId: number, atMs = NOW_MS, level: "down" | "degraded" = "down"): IncidentChange {
  return { type: "open", monitorId, atMs, startedAtMs: atMs, level, ...WHY };
}
