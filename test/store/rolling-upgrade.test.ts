/**
 * A rolling restart: processes of the version before and of this one work on one database at the same time. What the commit before the
 * store was rebuilt wrote (test/fixtures/written-by-d585d16.json) is read here as that commit read it, and the same history written here
 * makes the same rows but for columns that were added since, so that commit reads ours. docs/develop/tests.md says how the two run beside
 * each other by hand.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, expect, it } from "vitest";
import { openControlPlane, type SqlLocation } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { Database, Session } from "../../store/sql/db/database.ts";
import { openPostgres } from "../../store/sql/db/postgres.ts";
import { openSqlite } from "../../store/sql/db/sqlite.ts";
import { TABLES } from "../../store/sql/schema/tables.ts";
import { readEverything, rowsOf, writeEverything } from "../../testkit/store/everything.suite.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startPostgres } from "../servers/postgres.ts";

interface Written {
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, string | number | null>>[]>>;
  readonly reads: unknown;
}
const written = JSON.parse(
  readFileSync(new URL("../fixtures/written-by-d585d16.json", import.meta.url), "utf8"),
) as Readonly<Record<"sqlite" | "postgres", Written>>;

/** What later versions added, as a reader and as a column. The version before does not write it and does not look at it. */
const ADDED: ReadonlySet<string> = new Set([
  ...["timeoutFollowsInterval", "timeout_follows_interval", "failingSinceMs"],
  ...["configAlertPercent", "config_alert_percent"],
  ...["lastRowId", "last_row_id"],
  ...["statusSinceMs", "status_since_ms"],
  // Tables of the page's sign-in.
  ...["sessions", "sign_in_codes", "identities", "sign_in_attempts", "passkeys"],
  "audit",
  "saved_views",
  // Channels and alerts.
  ...["channels", "alert_rules", "alert_rule_versions", "quiet_hours", "alert_groups", "alert_members"],
  ...["notifications", "notification_attempts"],
  // Schedules of maintenance.
  ...["maintenances", "maintenance_id"],
  // Tables of status pages, and what people write of incidents for their readers.
  ...["status_pages", "status_page_domains", "status_page_updates"],
  ...["public_title", "postmortem", "postmortem_public"],
  // Things as code.
  ...["documents", "document_things", "things"],
  // Of configurations of an imported server.
  ...["exitCountry", "exit_country"],
]);

/** The same, as the version before knows it: without what was added, in objects and in columns that hold JSON. */
function withoutAdded(value: unknown): unknown {
  if (typeof value === "string" && value.startsWith("{")) return JSON.stringify(withoutAdded(JSON.parse(value)));
  if (Array.isArray(value)) return value.map(withoutAdded);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !ADDED.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutAdded(inner)]));
}

const folder = temporaryFolder();
const server = await startPostgres();

afterAll(async () => {
  if (!isMissing(server)) await server.stop();
});

async function withPlane<T>(location: SqlLocation, work: (plane: ControlPlane) => Promise<T>): Promise<T> {
  const plane = await openControlPlane(location, { role: "api" });
  try {
    return await work(plane);
  } finally {
    await plane.close();
  }
}

async function withDatabase<T>(location: SqlLocation, work: (database: Database) => Promise<T>): Promise<T> {
  const database =
    "url" in location ? await openPostgres(location.url) : await openSqlite({ file: location.file, durable: false });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Puts the recorded rows in the place of what a new database holds. */
async function putRows({ kysely }: Session, { rows }: Written): Promise<void> {
  for (const [table, all] of Object.entries(rows)) {
    await sql`delete from ${sql.table(table)}`.execute(kysely);
    for (const row of all) {
      const names = sql.join(Object.keys(row).map((name) => sql.ref(name)));
      await sql`insert into ${sql.table(table)} (${names}) values (${sql.join(Object.values(row))})`.execute(kysely);
    }
  }
}

async function readsWhatWasWritten(location: SqlLocation, before: Written): Promise<void> {
  await withDatabase(location, (database) => database.write((session) => putRows(session, before)));
  expect(withoutAdded(await withPlane(location, readEverything))).toEqual(withoutAdded(before.reads));
}

async function writesTheSame(location: SqlLocation, before: Written): Promise<void> {
  const reads = await withPlane(location, async (plane) => {
    await writeEverything(plane);
    return readEverything(plane);
  });
  expect(withoutAdded(reads)).toEqual(withoutAdded(before.reads));
  const rows = await withDatabase(location, ({ read }) => rowsOf(read, Object.keys(TABLES)));
  expect(withoutAdded(rows)).toEqual(withoutAdded(before.rows));
  for (const [table, found] of Object.entries(rows)) {
    if (table !== "heartbeat_inbox" && table !== "outbox" && !ADDED.has(table))
      expect([table, found.length]).not.toEqual([table, 0]);
  }
}

const WAYS = [
  ["reads what the version before wrote", readsWhatWasWritten],
  ["writes what the version before wrote", writesTheSame],
] as const;

it.each(WAYS)("SQLite: %s", async (name, check) => {
  await check({ file: join(folder, `${name}.db`) }, written.sqlite);
});

withServer("PostgreSQL", server, (running) => {
  it.each(WAYS)("PostgreSQL: %s", async (_name, check) => {
    const { url, drop } = await running.createDatabase();
    await check({ url }, written.postgres);
    await drop();
  });
});
