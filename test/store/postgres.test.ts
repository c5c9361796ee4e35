/** The control plane on a real PostgreSQL. */

import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { StoreError } from "../../store/errors.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import { statement } from "../../store/sql/db/database.ts";
import { openPostgres } from "../../store/sql/db/postgres.ts";
import { expectDeclaredColumns } from "../../testkit/store/columns.suite.ts";
import { controlPlaneSuite } from "../../testkit/store/control-plane.suite.ts";
import { dumpSchema } from "../../testkit/store/schema.suite.ts";
import { createMonitors } from "../faults/reckoning.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { type PostgresServer, startPostgres } from "../servers/postgres.ts";

const server = await startPostgres();
/** Of kysely's PostgresAdapter. */
const MIGRATION_LOCK = "3853314791062309107";

afterAll(async () => {
  if (!isMissing(server)) await server.stop();
});

withServer("PostgreSQL", server, (running) => {
  let likeUrl: string | undefined;
  controlPlaneSuite("PostgreSQL", {
    async make() {
      likeUrl ??= await urlOfMigrated(running);
      const database = await running.createDatabase(likeUrl);
      return { location: { url: database.url }, remove: () => database.drop() };
    },
  });
  faultTests(running);
});

/** Copying a database takes a tenth of the time of all migrations. */
async function urlOfMigrated(running: PostgresServer): Promise<string> {
  const { url } = await running.createDatabase();
  await (await openControlPlane({ url }, { role: "api" })).close();
  return url;
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  return (error as StoreError).message;
}

function faultTests(running: PostgresServer): void {
  describe("PostgreSQL in trouble", () => {
    it("opens once when two processes start at the same time", async () => {
      const { url, drop } = await running.createDatabase();
      const planes = await Promise.all([1, 2, 3].map(() => openControlPlane({ url }, { role: "api" })));
      for (const plane of planes) expect(await plane.generation()).toBe(1);
      for (const plane of planes) await plane.close();
      await drop();
    });

    it("waits while another process brings the schema up to date, longer than for any other lock", async () => {
      const { url, drop } = await running.createDatabase();
      const other = new pg.Client(url);
      await other.connect();
      // As kysely's migrator holds it. A beat waits 1.5 s for any other lock.
      await other.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
      const opening = openControlPlane({ url }, { role: "beat" });
      const waits = "select 1 from pg_locks where locktype = 'advisory' and not granted";
      await expect.poll(async () => (await other.query(waits)).rowCount, { timeout: 20_000 }).toBe(1);
      await other.query("select pg_sleep(2)");
      await other.end();
      const plane = await opening;
      expect(await plane.generation()).toBe(1);
      await plane.close();
      await drop();
    });

    it("has the schema that is checked in", async () => {
      const { url, drop } = await running.createDatabase();
      const database = await openPostgres(url);
      await expect(await dumpSchema(database)).toMatchFileSnapshot("../../store/sql/schema/schema.postgres.sql");
      await database.close();
      await drop();
    });

    it("has the columns that are declared", async () => {
      const { url, drop } = await running.createDatabase();
      const database = await openPostgres(url);
      await expectDeclaredColumns(database);
      await database.close();
      await drop();
    });

    it("refuses a database that is newer than the code", async () => {
      const { url, drop } = await running.createDatabase();
      await (await openControlPlane({ url }, { role: "api" })).close();
      const client = new pg.Client(url);
      await client.connect();
      await client.query("insert into kysely_migration values ('9999-future', '2030-01-01T00:00:00.000Z')");
      await client.end();
      expect(await messageOf(openControlPlane({ url }, { role: "api" }))).toMatch(
        /newer version of Sonde.*9999-future/,
      );
      await drop();
    });

    it("makes no schema where none is expected to be made", async () => {
      const { url, drop } = await running.createDatabase();
      const open = () => openControlPlane({ url }, { role: "api", schema: "expect" });
      expect(await messageOf(open())).toMatch(/holds nothing of Sonde/);
      const client = new pg.Client(url);
      await client.connect();
      const tables = await client.query("select 1 from pg_tables where schemaname = 'public'");
      await client.end();
      expect(tables.rowCount).toBe(0);
      await (await openControlPlane({ url }, { role: "api" })).close();
      await (await open()).close();
      await drop();
    });

    it("goes on after its connections were cut", async () => {
      const { url, drop } = await running.createDatabase();
      const plane = await openControlPlane({ url }, { role: "api" });
      await Promise.all(Array.from({ length: 8 }, () => plane.generation()));
      const client = new pg.Client(url);
      await client.connect();
      await client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sonde' and datname = current_database()",
      );
      await client.end();
      await expect.poll(() => plane.generation().catch(() => 0), { timeout: 10_000 }).toBe(1);
      await plane.meta.set("a", "1");
      expect(await plane.meta.get("a")).toBe("1");
      await plane.close();
      await drop();
    });

    it("survives a connection that dies between two statements of a transaction", async () => {
      const { url, drop } = await running.createDatabase();
      const database = await openPostgres(url);
      const killer = new pg.Client(url);
      await killer.connect();
      const work = database.write(async (session) => {
        const [row] = await session.query<{ pid: number }>(statement("own_pid", "select pg_backend_pid() as pid"));
        await killer.query("select pg_terminate_backend($1)", [row?.pid]);
        const others = "select 1 from pg_stat_activity where pid = $1";
        await expect.poll(async () => (await killer.query(others, [row?.pid])).rowCount, { timeout: 10_000 }).toBe(0);
        await session.query(statement("one", "select 1 as one"));
      });
      expect(await messageOf(work)).toMatch(/^PostgreSQL at /);
      await database.ping();
      await killer.end();
      await database.close();
      await drop();
    });

    it("rejects while the server is away, answers a ping in time, and comes back by itself", async () => {
      const { url, drop } = await running.createDatabase();
      const plane = await openControlPlane({ url }, { role: "api" });
      await plane.meta.set("before", "1");
      await running.kill();
      await expect(plane.ping()).rejects.toThrow(StoreError);
      expect(await messageOf(plane.meta.set("during", "1"))).toMatch(/^PostgreSQL at 127\.0\.0\.1:\d+\/sonde_\d+ /);
      await running.restart();
      await expect
        .poll(
          () =>
            plane.ping().then(
              () => true,
              () => false,
            ),
          { timeout: 10_000 },
        )
        .toBe(true);
      expect(await plane.meta.get("before")).toBe("1");
      await plane.close();
      await drop();
    });

    it("says that it takes no write", async () => {
      const { url, drop } = await running.createDatabase();
      await (await openControlPlane({ url }, { role: "api" })).close();
      const client = new pg.Client(url);
      await client.connect();
      await client.query(
        "do $$ begin execute 'alter database ' || current_database() || ' set default_transaction_read_only = on'; end $$",
      );
      const plane = await openControlPlane({ url }, { role: "api" });
      expect(await messageOf(plane.ping())).toContain("is read-only: is this a standby?");
      expect(await messageOf(plane.meta.set("a", "1"))).toContain("is read-only: is this a standby?");
      // Another server has become the primary: connections that are made now find it, those from before do not.
      await client.query(
        "do $$ begin execute 'alter database ' || current_database() || ' reset default_transaction_read_only'; end $$",
      );
      await plane.meta.set("a", "1");
      await plane.close();
      await client.end();
      await drop();
    });

    it("says what is wrong with the address, and never the password", async () => {
      const missing = `postgres://sonde:s3cret@127.0.0.1:${running.port}/nowhere`;
      expect(await messageOf(openControlPlane({ url: missing }, { role: "api" }))).toMatch(/has no such database/);
      const closed = "postgres://sonde:s3cret@127.0.0.1:1/sonde";
      const message = await messageOf(openControlPlane({ url: closed }, { role: "api" }));
      expect(message).toContain("connection refused");
      expect(message).not.toContain("s3cret");
    });

    it("has all monitors that go before it keeps others from changing theirs", async () => {
      const { url, drop } = await running.createDatabase();
      const plane = await openControlPlane({ url }, { role: "api" });
      const first = {
        email: "a@b.test",
        userName: "A",
        workspaceName: "W",
        plan: "business" as const,
        projectName: "P",
      };
      await plane.accounts.createFirst({ ...first, nowMs: 1 });
      const size = { monitors: 2, intervalS: 60, timeoutS: 10 };
      const made = await createMonitors(
        plane,
        { projectId: 1, organizationId: 1 },
        size,
        (n) => `http://site.test/${n}`,
      );
      const ids = [...made.keys()];
      const client = new pg.Client(url);
      await client.connect();
      await client.query("begin");
      await client.query("select id from monitors where id = $1 for no key update", [ids[1]]);
      const removed = plane.monitors.removeMany(1, ids, 2);
      const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await expect.poll(async () => (await client.query(waiting)).rowCount, { timeout: 10_000 }).toBe(1);
      // As every change of a monitor does. A deadlock, if the other has it already: it would be found after a second.
      await client.query("set lock_timeout = 500");
      await client.query("update generation set value = value + 1");
      await client.query("commit");
      expect(await removed).toBe(2);
      await client.end();
      await plane.close();
      await drop();
    });

    it("has the monitors of a document before a subscription's change keeps others from changing theirs", async () => {
      const { url, drop } = await running.createDatabase();
      const plane = await openControlPlane({ url }, { role: "api" });
      const first = { email: "a@b.test", userName: "A", workspaceName: "W", plan: "business" as const };
      await plane.accounts.createFirst({ ...first, projectName: "P", nowMs: 1 });
      const place = { projectId: 1, organizationId: 1 };
      const size = { monitors: 1, intervalS: 60, timeoutS: 10 };
      const [id = 0] = (await createMonitors(plane, place, size, () => "http://site.test/")).keys();
      const list = { name: "p", urlSealed: () => "u", urlHash: "1", syncIntervalS: 300, timeoutS: 30, maxWorkers: 50 };
      await plane.subscriptions.create({ ...place, ...list, configAlertPercent: 50, enabled: true, nowMs: 1 });
      const client = new pg.Client(url);
      await client.connect();
      const { rows } = await client.query("select generation from monitors where id = $1", [id]);
      const nothing = { create: [], change: [], remove: [] };
      const noList = { version: 0, items: null, made: new Map<number, never>(), managed: [], removed: [] };
      await client.query("begin");
      await client.query("select id from monitors where id = $1 for no key update", [id]);
      const applied = plane.documents.apply({
        ...{ ...place, name: "d", hash: "h", nowMs: 2, actor: SYSTEM_ACTOR, slots: null, release: [], seen: new Map() },
        monitors: {
          ...nothing,
          change: [{ id, version: Number(rows[0].generation), change: { name: "n" }, managed: null }],
        },
        subscriptions: { ...nothing, change: [{ id: 1, version: 1, change: { maxWorkers: 7 }, managed: null }] },
        ...{ channels: nothing, quietHours: noList, rules: noList, maintenance: nothing, pages: nothing },
      });
      const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await expect.poll(async () => (await client.query(waiting)).rowCount, { timeout: 10_000 }).toBe(1);
      await client.query("set lock_timeout = 500");
      await client.query("update generation set value = value + 1");
      await client.query("commit");
      await applied;
      await client.end();
      await plane.close();
      await drop();
    });

    it("does not wait for ever for a row that another client holds", async () => {
      const { url, drop } = await running.createDatabase();
      const plane = await openControlPlane({ url }, { role: "api" });
      const client = new pg.Client(url);
      await client.connect();
      await client.query("begin");
      await client.query("insert into meta values ('held', '1')");
      const message = await messageOf(plane.meta.set("held", "2"));
      expect(message).toMatch(/lock timeout|did not finish in time/);
      await client.query("rollback");
      await client.end();
      await plane.meta.set("held", "3");
      expect(await plane.meta.get("held")).toBe("3");
      await plane.close();
      await drop();
    });
  });
}
