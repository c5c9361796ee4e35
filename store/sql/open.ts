/** Opens the control plane on SQLite or PostgreSQL and brings its schema up to date. */
import { createAccounts } from "./accounts.ts";
import type { ControlPlane } from "./control-plane.ts";
import { readGeneration } from "./generation.ts";
import { createHeartbeats } from "./heartbeats.ts";
import { createHistory } from "./history.ts";
import { createImports } from "./imports.ts";
import { createIncidents } from "./incidents.ts";
import { createJobs } from "./jobs.ts";
import { createKeys } from "./keys.ts";
import { createLeases } from "./leases.ts";
import { createLocations } from "./locations.ts";
import { createMaintenance } from "./maintenance.ts";
import { createMeta } from "./meta.ts";
import type { SchemaMode } from "./migrate.ts";
import { createMonitors } from "./monitors.ts";
import { createOutgoing } from "./outgoing.ts";
import { createPlans } from "./plans.ts";
import { createQuarantines } from "./quarantine.ts";
import { createSealed } from "./sealed.ts";
import { createShards } from "./shards.ts";
import { createSinkStore } from "./sink.ts";
import { openSqlite } from "./sqlite.ts";
import { createSubscriptions } from "./subscriptions.ts";
import { createSyncs } from "./syncs.ts";
import { createWebhooks } from "./webhooks.ts";

/** Where it is: the path of an SQLite file in an existing folder, or `postgres://…`. Plain data: it crosses threads. */
export type SqlPlace = { readonly file: string } | { readonly url: string };

export interface ControlPlaneOptions {
  /**
   * `api`: a commit waits for the disk, because a caller is told that it is done. `sink`: it does not, because results are replayed
   * from the spool. PostgreSQL always waits.
   */
  readonly role: "api" | "sink";
  /** `expect`: refuses a store without this version's schema and changes nothing; a service makes it. */
  readonly schema?: SchemaMode;
}

/** @throws StoreError, one line that says what to do, when the store cannot be used; nothing is half-written then */
export async function openControlPlane(place: SqlPlace, options: ControlPlaneOptions): Promise<ControlPlane> {
  const { role, schema = "make" } = options;
  const database =
    "url" in place
      ? await (await import("./postgres.ts")).openPostgres(place.url, schema)
      : await openSqlite({ file: place.file, durable: role === "api", schema });
  return {
    dialect: database.dialect,
    accounts: createAccounts(database),
    keys: createKeys(database),
    plans: createPlans(database),
    monitors: createMonitors(database),
    incidents: createIncidents(database),
    history: createHistory(database),
    heartbeats: createHeartbeats(database),
    jobs: createJobs(database),
    subscriptions: createSubscriptions(database),
    imports: createImports(database),
    syncs: createSyncs(database),
    sink: createSinkStore(database),
    maintenance: createMaintenance(database),
    webhooks: createWebhooks(database),
    outgoing: createOutgoing(database),
    leases: createLeases(database),
    locations: createLocations(database),
    shards: createShards(database),
    quarantine: createQuarantines(database),
    meta: createMeta(database),
    sealed: createSealed(database),
    generation: () => readGeneration(database.read),
    stamp: () => database.stamp(),
    ping: () => database.ping(),
    close: () => database.close(),
  };
}
