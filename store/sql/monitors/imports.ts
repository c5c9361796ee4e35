/** Imported servers: their configs with what each location last found, and the servers that must not come back. */
import { setImmediate } from "node:timers/promises";
import type { Monitor, SealedConfig } from "../../../model/monitor.ts";
import { chunksOf, unnested } from "../db/bulk.ts";
import { type BulkStatement, bulkStatement, type Database, type Session, statement } from "../db/database.ts";
import { decoder, insertColumns, valuesOf } from "../schema/column.ts";
import { CONFIG_RESULTS, IMPORTED_SERVERS, type Row } from "../schema/tables.ts";
import type {
  ConfigResult,
  ImportedConfig,
  ImportedServer,
  Imports,
  NewConfigResult,
  SealedLink,
} from "./imports-port.ts";

/** Servers whose configs are read before others may have the thread: on SQLite some milliseconds of work. */
const SERVERS_AT_ONCE = 50;
/** Reading one monitor is the API's hottest path, and nearly none is imported. */
const ONE = statement("imported_server", "select * from imported_servers where monitor_id = ?");

const RESULT_COLUMNS = insertColumns(CONFIG_RESULTS);
const resultValues = valuesOf<NewConfigResult, typeof CONFIG_RESULTS.columns>(CONFIG_RESULTS, RESULT_COLUMNS);

const RECORD = recordStatement();
const toServer = decoder(IMPORTED_SERVERS);
const decodeResult = decoder(CONFIG_RESULTS);

/** Results of configs that are there, each over the one before of its location. */
function recordStatement(): BulkStatement {
  const names = RESULT_COLUMNS.join(", ");
  const changed = RESULT_COLUMNS.filter((name) => name !== "config_id" && name !== "location");
  const replace = changed.map((name) => `${name} = excluded.${name}`).join(", ");
  const into = `insert into config_results (${names}) select n.* from`;
  const onConflict = `on conflict (config_id, location) do update set ${replace}`;
  const values = RESULT_COLUMNS.map(() => "?").join(", ");
  return bulkStatement(
    "record_config_results",
    `with n (${names}) as (values (${values})) ${into} n join imported_configs c on c.id = n.config_id where true ${onConflict}`,
    `${into} ${unnested(CONFIG_RESULTS, RESULT_COLUMNS)} join imported_configs c on c.id = n.config_id ${onConflict}`,
  );
}

export function createImports({ read }: Database): Imports {
  return {
    async of(monitorIds) {
      const servers = new Map<number, ImportedServer>();
      for (const ids of chunksOf(monitorIds)) await readServers(read, ids, servers);
      return servers;
    },
    async links(configIds) {
      const links = new Map<number, SealedLink>();
      for (const ids of chunksOf(configIds)) {
        const rows = await read.kysely
          .selectFrom("imported_configs")
          .select(["id", "identity", "sealed"])
          .where("id", "in", ids)
          .execute();
        for (const { id, identity, sealed } of rows) links.set(id, { identity, sealed });
      }
      return links;
    },
  };
}

/** In the sink's transaction. What was removed meanwhile is passed over. */
export async function recordConfigs(session: Session, results: readonly NewConfigResult[]): Promise<void> {
  // The latest of each, in one order: a statement may not meet a row twice, and two shards must not deadlock.
  const latest = new Map(results.map((result) => [`${result.configId} ${result.location}`, result]));
  const ordered = [...latest.values()].sort((a, b) => a.configId - b.configId);
  if (ordered.length === 0) return;
  // A spool that a version before this one wrote has no countries.
  await session.bulk(
    RECORD,
    ordered.map((one) => resultValues({ ...one, exitCountry: one.exitCountry ?? "" })),
  );
}

/** What checks of imported servers run, in the list's order; by monitor. */
export async function sealedConfigs(
  { kysely }: Session,
  monitorIds: readonly number[],
): Promise<ReadonlyMap<number, readonly SealedConfig[]>> {
  const configs = new Map<number, SealedConfig[]>();
  for (const [turn, ids] of [...chunksOf(monitorIds, SERVERS_AT_ONCE)].entries()) {
    if (turn > 0) await setImmediate();
    const rows = await kysely
      .selectFrom("imported_configs")
      .select(["id", "monitor_id", "type", "identity", "sealed"])
      .where("monitor_id", "in", ids)
      .orderBy("monitor_id")
      .orderBy("position")
      .execute();
    for (const { id, monitor_id: monitorId, type, identity, sealed } of rows) {
      const known = configs.get(monitorId) ?? [];
      known.push({ id, kind: type, identity, sealed });
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
      ? await session.query<Row<"imported_servers">>(ONE, only)
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
    const { configId: _, location, ...result } = decodeResult(row);
    known[location] = result;
    resultsOf.set(row.config_id, known);
  }
  const configsOf = new Map<number, ImportedConfig[]>(ids.map((id) => [id, []]));
  for (const { monitor_id: monitorId, ...config } of configs) {
    configsOf.get(monitorId)?.push({ ...config, results: resultsOf.get(config.id) ?? {} });
  }
  for (const row of rows) {
    servers.set(row.monitor_id, { ...toServer(row), configs: configsOf.get(row.monitor_id) ?? [] });
  }
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
