/** Brings a database to the schema of this code, in one transaction; a database that is newer than the code is refused. */
import { type Kysely, type Migration, Migrator } from "kysely";
import { StoreError } from "./control-plane.ts";
import type { Dialect } from "./database.ts";
import { migrations } from "./migrations/index.ts";

/** kysely's own book of what has run. */
const BOOK = "kysely_migration";

/**
 * @param db must be in a transaction already on SQLite; on PostgreSQL the migrator opens its own, under an advisory lock
 * @param place names the database in messages
 */
export async function migrate(db: Kysely<unknown>, dialect: Dialect, place: string): Promise<void> {
  await refuseNewer(db, place);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => forDialect(dialect) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error === undefined) return;
  if (error instanceof StoreError) throw error;
  const failed = results?.find((result) => result.status === "Error")?.migrationName ?? "the first one";
  const reason = error instanceof Error ? error.message : String(error);
  throw new StoreError(
    `cannot bring ${place} to this version's schema (migration ${failed}: ${reason}): restore a backup or report this`,
    {
      cause: error,
    },
  );
}

async function refuseNewer(db: Kysely<unknown>, place: string): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === BOOK)) return;
  const done = await (db as Kysely<{ kysely_migration: { name: string } }>).selectFrom(BOOK).select("name").execute();
  const unknown = done.find((row) => !Object.hasOwn(migrations, row.name));
  if (unknown === undefined) return;
  throw new StoreError(
    `${place} was written by a newer version of Sonde (it has ${unknown.name}): run that version, or restore a backup made before the upgrade`,
  );
}

function forDialect(dialect: Dialect): Record<string, Migration> {
  return Object.fromEntries(
    Object.entries(migrations).map(([name, up]) => [name, { up: (db: Kysely<unknown>) => up(db, dialect) }]),
  );
}
