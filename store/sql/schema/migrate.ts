/** Brings a database to the schema of this code, in one transaction; a database that is newer than the code is refused. */
import { type Kysely, type Migration, Migrator } from "kysely";
import { StoreError } from "../../errors.ts";
import type { Dialect } from "./dialect.ts";
import { migrations } from "./migrations/index.ts";

/** kysely's own table of migrations that have run. */
const BOOK = "kysely_migration";

/** `make`: brings it up to date. `expect`: refuses it when it is not, and changes nothing. */
export type SchemaMode = "make" | "expect";

/**
 * @param db must be in a transaction already on SQLite; on PostgreSQL the migrator opens its own, under an advisory lock
 * @param database names the database in messages
 */
export async function migrate(
  db: Kysely<unknown>,
  dialect: Dialect,
  database: string,
  mode: SchemaMode,
): Promise<void> {
  const done = await applied(db);
  const unknown = done.find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined) {
    throw new StoreError(
      `${database} was written by a newer version of Sonde (it has ${unknown}): run that version, or restore a backup made before the upgrade`,
    );
  }
  if (mode === "expect") {
    if (Object.keys(migrations).every((name) => done.includes(name))) return;
    throw new StoreError(
      `${database} ${done.length === 0 ? "holds nothing of Sonde" : "was written by an older version of Sonde"}: start this version's service on it once (sonde up)`,
    );
  }
  const migrator = new Migrator({ db, provider: { getMigrations: async () => forDialect(dialect) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  if (error instanceof StoreError) throw error;
  const failed = results?.find((result) => result.status === "Error")?.migrationName ?? "the first one";
  const reason = error instanceof Error ? error.message : String(error);
  throw new StoreError(
    `cannot bring ${database} to this version's schema (migration ${failed}: ${reason}): restore a backup or report this`,
    {
      cause: error,
    },
  );
}

/** Whether every migration of this code has run, and no other. */
export async function isUpToDate(db: Kysely<unknown>): Promise<boolean> {
  const done = await applied(db);
  return done.length === Object.keys(migrations).length && done.every((name) => Object.hasOwn(migrations, name));
}

/** Names of the migrations that have run. */
async function applied(db: Kysely<unknown>): Promise<readonly string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === BOOK)) return [];
  const rows = await (db as Kysely<{ kysely_migration: { name: string } }>).selectFrom(BOOK).select("name").execute();
  return rows.map(({ name }) => name);
}

function forDialect(dialect: Dialect): Record<string, Migration> {
  return Object.fromEntries(
    Object.entries(migrations).map(([name, up]) => [name, { up: (db: Kysely<unknown>) => up(db, dialect) }]),
  );
}
