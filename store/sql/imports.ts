/** Imported servers: their configs with what each location last found, and the servers that must not come back. */
import { setImmediate } from "node:timers/promises";
import type { Kind } from "../../model/kind.ts";
import type { Monitor, SealedConfig } from "../../model/monitor.ts";
import { bulkStatement, type Database, type Session, statement } from "./database.ts";
import type { ConfigResult, ImportedConfig, ImportedServer, Imports, NewConfigResult } from "./ports/imports.ts";
import type { ConfigResultTable, ImportedServerTable } from "./tables.ts";
import { storable } from "./text.ts";

/** Ids of one question; each is a parameter. */
const IDS_PER_QUESTION = 500;
/** Servers whose configs are read before others may have the thread: on SQLite some milliseconds of work. */
const SERVERS_AT_ONCE = 50;
/** Reading one monitor is the API's hottest path, and nearly none is imported. */
const ONE = statement("imported_server", "select * from imported_servers where monitor_id = ?");

const RECORD = bulkStatement(
  "record_config_results",
  `with n (config_id, location, at_ms, success, total_ms, error, error_category, public_ip, engine_used) as (values (?, ?, ?, ?, ?, ?, ?, ?, ?))
   insert into config_results (config_id, location, at_ms, success, total_ms, error, error_category, public_ip, engine_used)
   select n.* from n join imported_configs c on c.id = n.config_id where true
   on conflict (config_id, location) do update set at_ms = excluded.at_ms, success = excluded.success, total_ms = excluded.total_ms,
     error = excluded.error, error_category = excluded.error_category, public_ip = excluded.public_ip, engine_used = excluded.engine_used`,
  `insert into config_results (config_id, location, at_ms, success, total_ms, error, error_category, public_ip, engine_used)
   select n.* from unnest($1::bigint[], $2::text[], $3::bigint[], $4::int[], $5::float8[], $6::text[], $7::text[], $8::text[], $9::text[])
     as n (config_id, location, at_ms, success, total_ms, error, error_category, public_ip, engine_used)
   join imported_configs c on c.id = n.config_id
   on conflict (config_id, location) do update set at_ms = excluded.at_ms, success = excluded.success, total_ms = excluded.total_ms,
     error = excluded.error, error_category = excluded.error_category, public_ip = excluded.public_ip, engine_used = excluded.engine_used`,
);

export function createImports({ read }: Database): Imports {
  return {
    async of(monitorIds) {
      const servers = new Map<number, ImportedServer>();
      for (let start = 0; start < monitorIds.length; start += IDS_PER_QUESTION) {
        await readServers(read, monitorIds.slice(start, start + IDS_PER_QUESTION), servers);
      }
      return servers;
    },
  };
}

/** In the sink's transaction. What was removed meanwhile is passed over. */
export async function recordConfigs(session: Session, results: readonly NewConfigResult[]): Promise<void> {
  // The latest of each, in one order: a statement may not meet a row twice, and two shards must not deadlock.
  const latest = new Map(results.map((result) => [`${result.configId} ${result.location}`, result]));
  const ordered = [...latest.values()].sort((a, b) => a.configId - b.configId);
  if (ordered.length === 0) return;
  await session.bulk(
    RECORD,
    ordered.map((result) => [
      result.configId,
      result.location,
      Math.round(result.atMs),
      result.success ? 1 : 0,
      result.totalMs,
      storable(result.error),
      result.errorCategory,
      storable(result.publicIp),
      result.engineUsed,
    ]),
  );
}

/** What checks of imported servers run, in the list's order; by monitor. */
export async function sealedConfigs(
  { kysely }: Session,
  monitorIds: readonly number[],
): Promise<ReadonlyMap<number, readonly SealedConfig[]>> {
  const configs = new Map<number, SealedConfig[]>();
  for (let start = 0; start < monitorIds.length; start += SERVERS_AT_ONCE) {
    if (start > 0) await setImmediate();
    const rows = await kysely
      .selectFrom("imported_configs")
      .select(["id", "monitor_id", "type", "identity", "sealed"])
      .where("monitor_id", "in", monitorIds.slice(start, start + SERVERS_AT_ONCE))
      .orderBy("monitor_id")
      .orderBy("position")
      .execute();
    for (const { id, monitor_id: monitorId, type, identity, sealed } of rows) {
      const known = configs.get(monitorId) ?? [];
      known.push({ id, kind: type as Kind, identity, sealed });
      configs.set(monitorId, known);
    }
  }
  return configs;
}

async function readServers(
  session: Session,
  monitorIds: readonly number[],
  servers: Map<number, ImportedServer>,
): Promise<void> {
  const { kysely } = session;
  const [only] = monitorIds;
  const rows =
    monitorIds.length === 1 && only !== undefined
      ? await session.query<ImportedServerTable>(ONE, only)
      : await kysely.selectFrom("imported_servers").selectAll().where("monitor_id", "in", monitorIds).execute();
  if (rows.length === 0) return;
  const ids = rows.map((row) => row.monitor_id);
  const configs = await kysely
    .selectFrom("imported_configs")
    .select(["id", "monitor_id", "tag", "type", "server", "port"])
    .where("monitor_id", "in", ids)
    .orderBy("monitor_id")
    .orderBy("position")
    .execute();
  const results = await kysely
    .selectFrom("config_results as r")
    .innerJoin("imported_configs as c", "c.id", "r.config_id")
    .selectAll("r")
    .where("c.monitor_id", "in", ids)
    .orderBy("r.location")
    .execute();
  const resultsOf = new Map<number, Record<string, ConfigResult>>();
  for (const row of results) {
    const known = resultsOf.get(row.config_id) ?? {};
    known[row.location] = toResult(row);
    resultsOf.set(row.config_id, known);
  }
  const configsOf = new Map<number, ImportedConfig[]>(ids.map((id) => [id, []]));
  for (const { monitor_id: monitorId, ...config } of configs) {
    configsOf.get(monitorId)?.push({ ...config, results: resultsOf.get(config.id) ?? {} });
  }
  for (const row of rows) {
    servers.set(row.monitor_id, {
      serverAddress: row.server_address,
      serverName: row.server_name,
      configCount: row.config_count,
      configs: configsOf.get(row.monitor_id) ?? [],
    });
  }
}

function toResult(row: ConfigResultTable): ConfigResult {
  return {
    atMs: row.at_ms,
    success: row.success === 1,
    totalMs: row.total_ms,
    error: row.error,
    errorCategory: row.error_category,
    publicIp: row.public_ip,
    engineUsed: row.engine_used,
  };
}

/** The monitor has a configuration of its own now, or is gone. */
export async function forgetImport(session: Session, monitorId: number): Promise<void> {
  await session.kysely.deleteFrom("imported_servers").where("monitor_id", "=", monitorId).execute();
}

/** The server of a monitor that is deleted stays out of later syncs (docs/api-contract.md#monitors). */
export async function excludeImported(session: Session, { id, subscriptionId }: Monitor): Promise<void> {
  const { kysely } = session;
  if (subscriptionId !== null) {
    const row = await kysely
      .selectFrom("imported_servers")
      .select("server_address")
      .where("monitor_id", "=", id)
      .executeTakeFirst();
    if (row?.server_address != null) {
      await kysely
        .insertInto("excluded_servers")
        .values({ subscription_id: subscriptionId, server_address: row.server_address })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  }
  await forgetImport(session, id);
}
