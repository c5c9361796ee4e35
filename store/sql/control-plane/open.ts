/** Opens the control plane on SQLite or PostgreSQL and brings its schema up to date. */
import { StoreError } from "../../errors.ts";
import { createAccounts } from "../accounts/accounts.ts";
import { createAudit } from "../accounts/audit.ts";
import { createIdentities } from "../accounts/identities.ts";
import { createKeys } from "../accounts/keys.ts";
import { createMembers } from "../accounts/members.ts";
import { createPasskeys } from "../accounts/passkeys.ts";
import { createSavedViews } from "../accounts/saved-views.ts";
import { createSessions } from "../accounts/sessions.ts";
import { createChannels } from "../alerts/channels.ts";
import { createAlertTurns } from "../alerts/notifications.ts";
import { createAlertSettings } from "../alerts/settings.ts";
import { createLeases } from "../coordination/leases.ts";
import { createLocations } from "../coordination/locations.ts";
import { createMeta } from "../coordination/meta.ts";
import { createQuarantines } from "../coordination/quarantine.ts";
import { createShards } from "../coordination/shards.ts";
import { MOVE_MARK } from "../copy/rows.ts";
import type { Database, StoreRole } from "../db/database.ts";
import { readGeneration } from "../db/generation.ts";
import { openSqlite } from "../db/sqlite.ts";
import { createDocuments } from "../documents/documents.ts";
import { createIncidents } from "../incidents/incidents.ts";
import { createJobs } from "../jobs/jobs.ts";
import { createHeartbeats } from "../monitors/heartbeats.ts";
import { createHistory } from "../monitors/history.ts";
import { createImports } from "../monitors/imports.ts";
import { createLiveReads } from "../monitors/live-reads.ts";
import { createMaintenance } from "../monitors/maintenance.ts";
import { createMonitors } from "../monitors/monitors.ts";
import { createOverview } from "../monitors/overview.ts";
import { createPlans } from "../monitors/plans.ts";
import { createSchedules } from "../monitors/schedules.ts";
import type { SchemaMode } from "../schema/migrate.ts";
import { createSealed } from "../sealed/reseal.ts";
import { createSinkStore } from "../sink/sink.ts";
import { createStatusPages } from "../status-pages/status-pages.ts";
import { createSubscriptions } from "../subscriptions/subscriptions.ts";
import { createSyncs } from "../subscriptions/syncs.ts";
import { createOutgoing } from "../webhooks/outgoing.ts";
import { createWebhooks } from "../webhooks/webhooks.ts";
import type { ControlPlane } from "./port.ts";

/** Where it is: the path of an SQLite file in an existing folder, or `postgres://…`. Plain data: it crosses threads. */
export type SqlLocation = { readonly file: string } | { readonly url: string };

export interface ControlPlaneOptions {
  readonly role: StoreRole;
  /** `expect`: refuses a store without this version's schema and changes nothing; a service makes it. */
  readonly schema?: SchemaMode;
}

/** @throws StoreError, one line that says what to do, when the store cannot be used; nothing is half-written then */
export async function openControlPlane(location: SqlLocation, options: ControlPlaneOptions): Promise<ControlPlane> {
  const { role, schema = "make" } = options;
  const database =
    "url" in location
      ? await (await import("../db/postgres.ts")).openPostgres(location.url, schema, role)
      : await openSqlite({ file: location.file, durable: role === "api", schema });
  await refuseUnfinished(database);
  return {
    dialect: database.dialect,
    accounts: createAccounts(database),
    members: createMembers(database),
    keys: createKeys(database),
    sessions: createSessions(database),
    identities: createIdentities(database),
    passkeys: createPasskeys(database),
    savedViews: createSavedViews(database),
    plans: createPlans(database),
    monitors: createMonitors(database),
    overview: createOverview(database),
    liveReads: createLiveReads(database),
    incidents: createIncidents(database),
    history: createHistory(database),
    heartbeats: createHeartbeats(database),
    jobs: createJobs(database),
    subscriptions: createSubscriptions(database),
    imports: createImports(database),
    documents: createDocuments(database),
    syncs: createSyncs(database),
    sink: createSinkStore(database),
    maintenance: createMaintenance(database),
    schedules: createSchedules(database),
    webhooks: createWebhooks(database),
    outgoing: createOutgoing(database),
    channels: createChannels(database),
    alerts: createAlertSettings(database),
    alertTurns: createAlertTurns(database),
    statusPages: createStatusPages(database),
    leases: createLeases(database),
    locations: createLocations(database),
    shards: createShards(database),
    quarantine: createQuarantines(database),
    meta: createMeta(database),
    sealed: createSealed(database),
    audit: createAudit(database),
    generation: () => readGeneration(database.read),
    stamp: () => database.stamp(),
    ping: () => database.ping(),
    clock: () => database.clock(),
    close: () => database.close(),
  };
}

/** Half of an installation must not be started. */
async function refuseUnfinished(database: Database): Promise<void> {
  if ((await createMeta(database).get(MOVE_MARK)) === undefined) return;
  await database.close();
  throw new StoreError("a move into this database was not finished: run sonde move again, it goes on where it was");
}
