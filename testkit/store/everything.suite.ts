/**
 * One history that touches every table: what is written of it, and what is read of it. It was written by the last commit before the store
 * was rebuilt (d585d16), on both databases, into test/fixtures/written-by-d585d16.json. Ids, times and sealed texts are given; what the
 * store makes at random is masked.
 */

import { sql } from "kysely";
import type { Actor } from "../../model/actor.ts";
import { MONITOR_DEFAULTS } from "../../model/monitor.ts";
import { PLANS } from "../../model/plan.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { Session } from "../../store/sql/db/database.ts";
import type { SinkBatch } from "../../store/sql/sink/port.ts";

const AT_MS = Date.UTC(2026, 10, 21, 6, 10);
const HOUR_MS = 3_600_000;
const ACTOR: Actor = { type: "user", id: 7, name: "Ada \u{1F600}", via: "api", keyId: 31 };
const SEALED = (what: string): string => `2.0011aabb.${what}`;

interface Ids {
  readonly organizationId: number;
  readonly projectId: number;
  readonly userId: number;
}

/** What the name of a table's random column is shown as. */
const MASKED: Readonly<Record<string, string>> = { event_id: "(random)" };

export async function writeEverything(plane: ControlPlane): Promise<void> {
  const ids = await plane.accounts.createFirst({
    email: "Owner@test-site.org",
    userName: "Owner",
    workspaceName: "Acme \u0000 \ud800 Ä",
    plan: "business",
    projectName: "Production",
    nowMs: AT_MS,
  });
  await plane.accounts.addMember(ids.organizationId, { email: "B@test-site.org", name: null }, "viewer", AT_MS + 1);
  await plane.accounts.createProject(ids.organizationId, "Second", AT_MS + 2);
  const key = { name: "ci", kind: "workspace" as const, ...ids, expiresAtMs: AT_MS + HOUR_MS, nowMs: AT_MS };
  const { id: keyId } = await plane.keys.create({ ...key, secretHash: (id) => `hash of ${id}` });
  await plane.keys.touch(new Map([[keyId, AT_MS + 5]]));
  await plane.meta.set("sealing_check", SEALED("check"));
  await plane.locations.add("de", SEALED("de"), AT_MS);
  await plane.locations.addKey("de", SEALED("de next"));
  const harm = { fingerprint: "f1", kind: "openvpn", reason: "ended by signal", monitorId: 1, location: "any" };
  await plane.quarantine.strike(harm, AT_MS);
  await writeMonitors(plane, ids);
  await writeSubscription(plane, ids);
  await writeWebhook(plane, ids);
  await writeResults(plane, ids);
  await writeDeliveries(plane);
}

async function writeMonitors(plane: ControlPlane, { organizationId, projectId }: Ids): Promise<void> {
  const website = {
    ...MONITOR_DEFAULTS,
    organizationId,
    projectId,
    name: "Shop",
    kind: "http" as const,
    settings: { url: "https://shop.test-site.org/", accepted_statuscodes: ["200-299"] },
    intervalS: 60,
    timeoutS: 30,
    maxRetries: 2,
    tags: ["prod", "Ä"],
    pauseReasons: [],
    pausedAtMs: null,
    locations: ["any", "de"],
    disabledLocations: ["de"],
    notifyOnPartial: true,
    host: "shop.test-site.org",
    sslExpirationDays: 14,
    domainExpirationDays: null,
    graceS: null,
    subscriptionId: null,
    nowMs: AT_MS,
    heartbeatToken: null,
  };
  await plane.monitors.create({ ...website, urlSealed: (id) => SEALED(`url ${id}`) }, ACTOR);
  const tunnel = { name: "VPN", kind: "wireguard" as const, settings: { server: "v.test-site.org" } };
  await plane.monitors.create(
    { ...website, ...tunnel, host: "v.test-site.org", sealed: (id) => SEALED(`${id}`) },
    ACTOR,
  );
  const push = { name: "job", kind: "push" as const, settings: { period: 60, grace: 30 }, host: null, graceS: 30 };
  const heartbeatToken = { sealed: (id: number) => SEALED(`token ${id}`), hash: "token hash" };
  const beat = await plane.monitors.create({ ...website, ...push, sslExpirationDays: null, heartbeatToken }, ACTOR);
  await plane.heartbeats.record(beat.id, AT_MS + 7, { up: true, message: "ok \ud800", pingMs: 3.5 });
  await plane.monitors.update(projectId, 1, AT_MS + 9, ACTOR, () => ({ name: "Shop 2", intervalS: 120, graceS: null }));
  await plane.monitors.update(projectId, 2, AT_MS + 10, ACTOR, () => ({ addPauseReason: "user" }));
  await plane.maintenance.create([1], { fromMs: AT_MS + 11, untilMs: AT_MS + HOUR_MS }, AT_MS + 11);
  await plane.monitors.create({ ...website, name: "gone" }, ACTOR);
  await plane.monitors.remove(projectId, 4, AT_MS + 12, ACTOR);
}

async function writeSubscription(plane: ControlPlane, ids: Ids): Promise<void> {
  const { id } = await plane.subscriptions.create({
    ...ids,
    name: "Provider",
    urlSealed: (row) => SEALED(`subscription ${row}`),
    urlHash: "url hash",
    syncIntervalS: 300,
    timeoutS: 20,
    maxWorkers: 50,
    configAlertPercent: 50,
    enabled: true,
    nowMs: AT_MS,
  });
  await plane.subscriptions.hashKey(() => SEALED("hash key"));
  const epoch = (await plane.leases.take("syncs", "a process", undefined)) ?? 0;
  const config = (identity: string) => ({
    identity,
    tag: `tag ${identity}`,
    type: "vless" as const,
    port: 443,
    sealed: SEALED(identity),
  });
  const server = (address: string, ...names: string[]) => ({ address, name: address, configs: names.map(config) });
  const facts = { badCount: 0, firstBad: null, unsupported: {} };
  const sync = async (servers: ReturnType<typeof server>[], atMs: number): Promise<void> => {
    const [job] = await plane.jobs.openSyncs(9);
    if (job === undefined) throw new Error("no sync is open");
    const outcome = { kind: "list" as const, servers, ...facts };
    await plane.syncs.end(epoch, { job, urlSealed: SEALED(`subscription ${id}`), outcome, plans: PLANS, atMs });
  };
  await sync([server("a.test-site.org", "x", "y"), server("b.test-site.org", "z")], AT_MS + 100);
  await plane.subscriptions.requestSync(ids.projectId, id, AT_MS + 150);
  await sync([server("a.test-site.org", "y", "w")], AT_MS + 200);
  const imported = await plane.monitors.list(ids.projectId, {
    family: "tunnel",
    activeOnly: false,
    status: null,
    protocol: null,
    nameContains: "b.test",
    limit: 9,
    offset: 0,
  });
  for (const { monitor } of imported.rows) await plane.monitors.remove(ids.projectId, monitor.id, AT_MS + 250, ACTOR);
}

async function writeWebhook(plane: ControlPlane, { projectId }: Ids): Promise<void> {
  const webhook = await plane.webhooks.create({
    projectId,
    url: "https://hooks.test-site.org/…",
    urlSealed: (id) => SEALED(`hook ${id}`),
    events: ["incident.opened", "webhook.test", "incident.recovered"],
    secretSealed: (id) => SEALED(`secret ${id}`),
    nowMs: AT_MS,
  });
  if (webhook === undefined) throw new Error("no webhook was made");
  await plane.webhooks.rotate(webhook.id, SEALED("secret again"), AT_MS + HOUR_MS);
  await plane.webhooks.test(webhook.id, AT_MS + 300);
}

async function writeResults(plane: ControlPlane, { organizationId, projectId }: Ids): Promise<void> {
  const epoch = (await plane.shards.take(0, "scheduler 1", 0)) ?? 0;
  const report = {
    monitors: 3,
    running: 0,
    waiting: 0,
    silentMonitors: 0,
    skippedTurns: 0,
    spoolRows: 0,
    trouble: null,
  };
  await plane.shards.beat("scheduler 1", "one", report);
  const leases = [{ shard: 0, epoch }];
  const base = { spool: "spool 1", leases, drainedInboxIds: [] };
  const why = { message: "connection refused \u0000", category: "server_not_connected" as const, locations: ["any"] };
  const at = (monitorId: number, atMs: number) => ({ monitorId, atMs: AT_MS + atMs + 0.75 });
  await plane.sink.apply({
    ...base,
    appliedSeq: 3,
    live: [liveState(1, "down"), liveState(3, "healthy")],
    incidents: [
      { type: "open", ...at(1, 400), startedAtMs: AT_MS + 400.75, level: "degraded", ...why },
      { type: "raise", ...at(1, 410), ...why },
      { type: "location", ...at(1, 420), location: "any", status: "down", message: "no" },
      { type: "open", ...at(3, 400), startedAtMs: AT_MS + 400.75, level: "down", ...why },
    ],
    alerts: [
      { type: "partial", ...at(1, 430), previousStatus: "healthy", locationsDown: ["de"] },
      {
        type: "expiring",
        ...at(1, 440),
        subject: "certificate",
        status: "down",
        expiresAtMs: AT_MS + HOUR_MS,
        thresholdDays: 7,
      },
    ],
    drainedInboxIds: [1],
    skips: [{ shard: 0, turns: 4 }],
  } satisfies SinkBatch);
  await plane.incidents.acknowledge(projectId, 1, AT_MS + 500, ACTOR, "seen");
  const job = { kind: "retest" as const, projectId, monitorId: 1, testId: "tst_1", location: "any", incidentId: 1 };
  const jobs = [{ ...job, atMs: AT_MS + 510, expiresAtMs: AT_MS + HOUR_MS }];
  const order = await plane.jobs.order({ organizationId, month: "2026-11", quota: 100, actor: ACTOR, jobs });
  const result = {
    reason: "ran" as const,
    status: "down" as const,
    latencyMs: null,
    connectMs: 1.5,
    message: "no",
    testedAtMs: AT_MS + 520,
  };
  const config = {
    success: true,
    totalMs: 12.25,
    error: "",
    errorCategory: "",
    publicIp: "192.0.2.1",
    engineUsed: "xray",
    exitCountry: "DE",
  };
  await plane.sink.apply({
    ...base,
    appliedSeq: 5,
    live: [liveState(1, "healthy")],
    incidents: [{ type: "close", ...at(1, 600) }],
    endedTests:
      order.type === "queued" ? order.jobIds.map((jobId) => ({ jobId, end: result, atMs: AT_MS + 530.5 })) : [],
    configResults: [{ configId: 2, location: "any", atMs: AT_MS + 540.5, ...config }],
  } satisfies SinkBatch);
}

function liveState(monitorId: number, status: "down" | "healthy") {
  const location = {
    notPassed: 1,
    failingSinceMs: AT_MS,
    lastCheckAtMs: AT_MS,
    pingMs: 2.5,
    errorCategory: null,
  } as const;
  return {
    monitorId,
    status,
    statusSinceMs: AT_MS + 1,
    lastCheckedAtMs: AT_MS + 399.6,
    latencyMs: 12.5,
    connectMs: null,
    region: "any",
    latenessMs: 0.25,
    seq: 4,
    lastRowStatus: status,
    lastRowId: "1795241400000010000",
    certificate: monitorId === 1 ? { valid: true, expiresAtMs: AT_MS + HOUR_MS + 0.5 } : null,
    locations: { any: { status: "up", confirmed: "up", ...location } },
    errorMessage: status === "down" ? "connection refused \ud800" : null,
  } as const;
}

async function writeDeliveries(plane: ControlPlane): Promise<void> {
  const epoch = (await plane.leases.take("sender", "a process", undefined)) ?? 0;
  await plane.outgoing.fanOut(epoch, { limit: 100, nowMs: AT_MS + 700 });
  const select = { nowMs: AT_MS + 800, failing: false, perWebhook: 2, webhooks: 9, except: [] };
  const due = await plane.outgoing.due(select);
  const attempt = { atMs: AT_MS + 800, statusCode: 503, error: "busy", durationMs: 20.5, random: 0.5 };
  const sent = due.map(({ id, webhookId }, index) => ({
    ...attempt,
    deliveryId: id,
    webhookId,
    ...(index === 0 && { statusCode: 200, error: null }),
  }));
  await plane.outgoing.record(epoch, sent);
}

/** What readers get, as JSON. */
export async function readEverything(plane: ControlPlane): Promise<unknown> {
  const filter = { family: "all", activeOnly: false, status: null, protocol: null, nameContains: null } as const;
  const monitors = await plane.monitors.list(1, { ...filter, limit: 99, offset: 0 });
  const ids = monitors.rows.map(({ monitor }) => monitor.id);
  return sorted({
    workspace: await plane.accounts.workspace(1),
    projects: await plane.accounts.everyProjectOf(1),
    members: await plane.accounts.membersOf(1),
    key: await plane.keys.access(1),
    monitors,
    plan: await plane.monitors.changedSince(Number.POSITIVE_INFINITY),
    changes: await plane.monitors.changedSince(3),
    imports: [...(await plane.imports.of(ids))],
    history: await Promise.all(ids.map((id) => plane.history.list(id, 99, 0))),
    token: await plane.heartbeats.sealedToken(3),
    lastCalls: [...(await plane.heartbeats.lastCalls())],
    inbox: await plane.heartbeats.inbox(99),
    incidents: await plane.incidents.list(1, { monitorId: null, limit: 99 }),
    events: [await plane.incidents.events(1, 99, 0), await plane.incidents.events(2, 99, 0)],
    openIncidents: [...(await plane.sink.openIncidents())],
    told: [...(await plane.sink.sentExpiries())],
    appliedSeq: await plane.sink.appliedSeq("spool 1"),
    tests: await plane.jobs.openTests(99),
    syncs: await plane.jobs.openSyncs(99),
    used: await plane.jobs.onDemandUsed(1, "2026-11"),
    subscriptions: await plane.subscriptions.list(1, 99, 0),
    excluded: await plane.subscriptions.excluded(1),
    webhooks: await plane.webhooks.list(1),
    deliveries: masked(await plane.webhooks.deliveries(1, 99)),
    lease: await plane.leases.read("syncs"),
    locations: await plane.locations.all(),
    shards: await plane.shards.view(),
    quarantine: await plane.quarantine.all(),
    check: await plane.meta.get("sealing_check"),
    keyIds: [...(await plane.sealed.keyIds())],
    generation: await plane.generation(),
  });
}

/** Ids that the store makes at random. */
function masked<Row extends { readonly eventId: string }>(rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => ({ ...row, eventId: MASKED.event_id ?? "" }));
}

/** The rows of every table, in an order that says nothing. */
export async function rowsOf(
  { kysely }: Session,
  tables: readonly string[],
): Promise<Readonly<Record<string, unknown[]>>> {
  const all: Record<string, unknown[]> = {};
  for (const table of tables) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(kysely);
    const lines = rows.map((row) => {
      const shown = Object.entries(row).map(([name, value]) => [name, MASKED[name] ?? value]);
      return JSON.stringify(sorted(Object.fromEntries(shown)));
    });
    all[table] = lines.sort().map((line) => JSON.parse(line));
  }
  return all;
}

/** Members in the order of their names, as plain JSON. */
function sorted(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
        : inner,
    ),
  );
}
