/** Imported servers: their configs with what each location last found, and the servers that must not come back. */
import type { Insertable } from "kysely";
import type { Monitor } from "../../model/monitor.ts";
import { MOST_CONFIGS } from "../../model/subscription.ts";
import { bulkStatement, type Database, type Session, statement } from "./database.ts";
import { raiseGeneration } from "./generation.ts";
import type { ConfigResult, ImportedConfig, ImportedServer, Imports, NewConfig } from "./ports/imports.ts";
import type { ConfigResultTable, ImportedConfigTable, ImportedServerTable } from "./tables.ts";
import { storable, storableOrNull } from "./text.ts";

/** Ids of one question; each is a parameter. */
const IDS_PER_QUESTION = 500;
/** Rows of one insert; eight values each stay far below SQLite's 32,766 parameters. */
const ROWS_PER_INSERT = 500;

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

export function createImports({ read, write }: Database): Imports {
  return {
    async of(monitorIds) {
      const servers = new Map<number, ImportedServer>();
      for (let start = 0; start < monitorIds.length; start += IDS_PER_QUESTION) {
        await readServers(read, monitorIds.slice(start, start + IDS_PER_QUESTION), servers);
      }
      return servers;
    },
    put: (monitorId, server) => write((session) => put(session, monitorId, server)),
    sealed: (monitorId) =>
      read.kysely
        .selectFrom("imported_configs")
        .select(["id", "type", "sealed"])
        .where("monitor_id", "=", monitorId)
        .orderBy("position")
        .execute(),
    record: (results) =>
      write((session) =>
        session.bulk(
          RECORD,
          results.map((result) => [
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
        ),
      ),
  };
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

async function put(
  session: Session,
  monitorId: number,
  server: Omit<ImportedServer, "configs"> & { readonly configs: readonly NewConfig[] },
): Promise<void> {
  const { kysely } = session;
  const values = {
    server_address: storableOrNull(server.serverAddress),
    server_name: storableOrNull(server.serverName),
    config_count: server.configCount,
  };
  await kysely
    .insertInto("imported_servers")
    .values({ monitor_id: monitorId, ...values })
    .onConflict((conflict) => conflict.column("monitor_id").doUpdateSet(values))
    .execute();
  await putConfigs(session, monitorId, server.configs.slice(0, MOST_CONFIGS));
  await kysely
    .updateTable("monitors")
    .set({ generation: await raiseGeneration(session) })
    .where("id", "=", monitorId)
    .execute();
}

/** Those that are listed still keep their results, wherever they stand now. */
async function putConfigs(session: Session, monitorId: number, configs: readonly NewConfig[]): Promise<void> {
  const { kysely } = session;
  const before = await kysely
    .selectFrom("imported_configs")
    .select(["id", "identity"])
    .where("monitor_id", "=", monitorId)
    .orderBy("position")
    .execute();
  const known = new Map(before.map((row) => [row.identity, row.id]));
  const added: Insertable<ImportedConfigTable>[] = [];
  const kept = new Set<number>();
  for (const [position, config] of configs.entries()) {
    const { identity, type, port, sealed } = config;
    const values = { position, tag: storable(config.tag), type, server: storable(config.server), port, sealed };
    const id = known.get(identity);
    if (id === undefined || kept.has(id)) added.push({ monitor_id: monitorId, identity, ...values });
    else {
      kept.add(id);
      await kysely.updateTable("imported_configs").set(values).where("id", "=", id).execute();
    }
  }
  const gone = before.filter((row) => !kept.has(row.id)).map((row) => row.id);
  if (gone.length > 0) await kysely.deleteFrom("imported_configs").where("id", "in", gone).execute();
  for (let start = 0; start < added.length; start += ROWS_PER_INSERT) {
    await kysely
      .insertInto("imported_configs")
      .values(added.slice(start, start + ROWS_PER_INSERT))
      .execute();
  }
}

/** The monitor has a configuration of its own now, or is gone. */
export async function forgetImport(session: Session, monitorId: number): Promise<void> {
  await session.kysely.deleteFrom("imported_servers").where("monitor_id", "=", monitorId).execute();
}

/** The server of a monitor that is deleted stays out of later syncs (open-points 3.5). */
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
