import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { Sqlite } from "../../../store/sqlite-library.ts";
import { temporaryFolder } from "../../../testkit/temporary-folder.ts";
import { atOnce } from "../importer.ts";
import { convertKuma } from "../kuma.ts";
import { readKumaDatabase, readKumaFolder } from "./database.ts";

const NOW = Date.parse("2026-11-26T00:00:00Z");
/** What Kuma 2 keeps, as far as it is read. */
const SCHEMA = `
  CREATE TABLE "monitor" (id integer primary key, name text, active boolean, interval integer, url text, type text, hostname text, port integer,
    maxretries integer, accepted_statuscodes_json text, push_token text, parent integer, retry_interval integer, resend_interval integer, expiry_notification boolean);
  CREATE TABLE "tag" (id integer primary key, name text, color text);
  CREATE TABLE "monitor_tag" (id integer primary key, monitor_id integer, tag_id integer, value text);
  CREATE TABLE "setting" (id integer primary key, key text, value text);
  CREATE TABLE "user" (id integer primary key, username text);
  CREATE TABLE "heartbeat" (id integer primary key, monitor_id integer, status integer);
  CREATE TABLE "maintenance" (id integer primary key, title text, description text, active boolean, strategy text, start_date text, end_date text,
    start_time text, end_time text, weekdays text, days_of_month text, interval_day integer, cron text, timezone text, duration integer);
  CREATE TABLE "monitor_maintenance" (id integer primary key, monitor_id integer, maintenance_id integer);
  CREATE TABLE "maintenance_status_page" (id integer primary key, status_page_id integer, maintenance_id integer);
  CREATE TABLE "status_page" (id integer primary key, slug text, title text, description text, icon text, theme text, published boolean,
    search_engine_index boolean, password text, footer_text text, custom_css text);
  CREATE TABLE "status_page_cname" (id integer primary key, status_page_id integer, domain text);
  CREATE TABLE "group" (id integer primary key, name text, weight integer, status_page_id integer, active boolean);
  CREATE TABLE "monitor_group" (id integer primary key, monitor_id integer, group_id integer, weight integer, custom_url text);
  CREATE TABLE "incident" (id integer primary key, title text, content text, active boolean);
  INSERT INTO monitor (id, name, active, interval, url, type, hostname, accepted_statuscodes_json, push_token, parent) VALUES
    (1, 'Europe', 1, 60, NULL, 'group', NULL, '["200-299"]', NULL, NULL),
    (2, 'Shop', 1, 60, 'https://shop.test-site.org/', 'http', NULL, '["200-299","301"]', NULL, 1),
    (3, 'Job', 1, 600, NULL, 'push', NULL, '["200-299"]', '${"a1B2".repeat(8)}', NULL);
  INSERT INTO tag VALUES (1, 'Prod', '#fff');
  INSERT INTO monitor_tag VALUES (1, 2, 1, NULL);
  INSERT INTO setting VALUES (1, 'serverTimezone', '"Europe/Berlin"');
  INSERT INTO user VALUES (1, 'ada'), (2, 'bob');
  INSERT INTO maintenance VALUES
    (1, 'Once', 'why', 1, 'single', '2027-01-10 22:00:00', '2027-01-11 02:00', NULL, NULL, '[]', '[]', NULL, NULL, 'SAME_AS_SERVER', NULL),
    (2, 'Over', '', 1, 'single', '2020-01-10 22:00:00', '2020-01-11 02:00:00', NULL, NULL, '[]', '[]', NULL, NULL, 'UTC', NULL),
    (3, 'Weekly', '', 1, 'recurring-weekday', '2026-01-01 00:00:00', NULL, '23:00', '01:30', '[1,0]', '[]', NULL, '0 23 * * 0,1', 'UTC', 9000),
    (4, 'Every second', '', 1, 'recurring-interval', NULL, NULL, '02:00', '03:00', '[]', '[]', 2, '0 2 * * *', 'UTC', 3600),
    (5, 'Monthly', '', 1, 'recurring-day-of-month', NULL, NULL, '02:05', '03:05', '[]', '[1,"lastDay1"]', NULL, NULL, 'UTC', 3600),
    (6, 'Cron', '', 1, 'cron', NULL, NULL, NULL, NULL, '[]', '[]', NULL, '15 4 * * *', 'UTC', 1800),
    (7, 'Now', '', 1, 'manual', NULL, NULL, NULL, NULL, '[]', '[]', NULL, NULL, NULL, NULL),
    (8, 'Off', '', 0, 'manual', NULL, NULL, NULL, NULL, '[]', '[]', NULL, NULL, NULL, NULL);
  INSERT INTO monitor_maintenance (monitor_id, maintenance_id) SELECT 1, id FROM maintenance;
  INSERT INTO maintenance_status_page VALUES (1, 1, 1);
  INSERT INTO status_page VALUES (1, 'main', 'Main', 'hello', '/upload/logo1.png?t=5', 'dark', 1, 0, NULL, 'foot', 'body { color: red }');
  INSERT INTO status_page_cname VALUES (1, 1, 'status.test-site.org');
  INSERT INTO "group" VALUES (1, 'Second', 2, 1, 1), (2, 'First', 1, 1, 1);
  INSERT INTO monitor_group VALUES (1, 2, 1, 1, NULL), (2, 1, 2, 1, NULL), (3, 3, 1, 2, NULL);
  INSERT INTO incident VALUES (1, 'Hello', 'x', 1);
`;

let folder = "";
let path = "";
beforeAll(() => {
  folder = temporaryFolder();
  path = join(folder, "kuma.db");
  mkdirSync(join(folder, "upload"));
  writeFileSync(join(folder, "upload", "logo1.png"), "png");
  const database = new Sqlite(path);
  database.exec(SCHEMA);
  database.close();
});

const quiet = () => {};
const place = () => mkdtempSync(join(folder, "place-"));

test("a data folder comes over with maintenance, pages and pictures", async () => {
  const { document, notes } = atOnce(convertKuma(await readKumaFolder(folder, place(), quiet), { nowMs: NOW }));
  expect(document.monitors).toEqual({
    "kuma-2": {
      type: "http",
      name: "Shop",
      tags: ["europe", "prod"],
      url: "https://shop.test-site.org/",
      accepted_statuscodes: ["200-299", "301"],
      interval: 60,
      timeout: 48,
      maxretries: 1,
      ssl_expiration: 0,
    },
    "kuma-3": { type: "push", name: "Job", period: 600, grace: 60, token: "a1B2".repeat(8) },
  });
  const keys = ["kuma-2"];
  expect(document.maintenance).toEqual({
    "kuma-1": {
      title: "Once",
      text: "why",
      select: { keys },
      schedule: { type: "once", starts_at: "2027-01-10T21:00:00.000Z", ends_at: "2027-01-11T01:00:00.000Z" },
      timezone: "Europe/Berlin",
      announce: true,
    },
    "kuma-3": {
      title: "Weekly",
      select: { keys },
      schedule: { type: "weekly", days: ["mon", "sun"], from: "23:00", minutes: 150 },
      timezone: "UTC",
      starts_on: "2026-01-01",
    },
    "kuma-5": {
      title: "Monthly",
      select: { keys },
      schedule: { type: "cron", cron: "5 2 1,L * *", minutes: 60 },
      timezone: "UTC",
    },
    "kuma-6": {
      title: "Cron",
      select: { keys },
      schedule: { type: "cron", cron: "15 4 * * *", minutes: 30 },
      timezone: "UTC",
    },
    "kuma-7": {
      title: "Now",
      select: { keys },
      schedule: { type: "once", starts_at: "2026-11-26T00:00:00.000Z", ends_at: "2027-11-25T00:00:00.000Z" },
      timezone: "UTC",
    },
  });
  expect(document.status_pages).toEqual({
    main: {
      slug: "main",
      title: "Main",
      text: "hello",
      published: true,
      index: false,
      theme: "dark",
      css: "body { color: red }",
      logo: `data:image/png;base64,${Buffer.from("png").toString("base64")}`,
      domains: ["status.test-site.org"],
      groups: [
        { title: "First", components: [{ select: { keys: ["kuma-2"] }, title: "Europe", merge: "worst" }] },
        { title: "Second", components: [{ select: { keys: ["kuma-2"] } }, { select: { keys: ["kuma-3"] } }] },
      ],
    },
  });
  expect(notes.map(({ path: about, message }) => `${about}: ${message}`)).toEqual(
    expect.arrayContaining([
      "maintenance 4 (Every second): a window every 2 days: only days of the week and of the month can be said",
      "maintenance 2 (Over): it is over and is left out",
      "Uptime Kuma: 2 user accounts: left out",
      "status page main: the text at its foot: left out",
    ]),
  );
});

test("a database in use is read with what is not in its main file yet, and is not touched", async () => {
  const busy = join(folder, "busy.db");
  const database = new Sqlite(busy);
  try {
    database.pragma("journal_mode = WAL");
    database.pragma("wal_autocheckpoint = 0");
    database.exec(SCHEMA);
    const before = readFileSync(busy);
    expect(before.includes("shop.test-site.org")).toBe(false);
    const workplace = place();
    const { rows } = await readKumaDatabase(busy, workplace, quiet);
    expect(rows.monitor).toHaveLength(3);
    expect(readFileSync(busy)).toEqual(before);
    expect(readdirSync(workplace)).toEqual([]);
  } finally {
    database.close();
  }
});

test("what is damaged, foreign or hostile is refused with file and place", async () => {
  const read = (name: string) => readKumaDatabase(join(folder, name), place(), quiet);
  const whole = readFileSync(path);
  writeFileSync(join(folder, "cut.db"), whole);
  truncateSync(join(folder, "cut.db"), 3 * 4_096);
  await expect(read("cut.db")).rejects.toThrow(
    /cut\.db: .*it is damaged, or no database of SQLite \(\w+\); copy it again .* or save what is left: sqlite3/,
  );
  writeFileSync(join(folder, "text.db"), "no database at all, but some text that is long enough".repeat(10));
  await expect(read("text.db")).rejects.toThrow("text.db: it is damaged, or no database of SQLite (SQLITE_NOTADB)");
  await expect(readKumaDatabase(path, join(folder, "none"), quiet)).rejects.toThrow(
    /none: no copy of .* can be made there \(ENOENT\); name an --out in a folder that is there/,
  );
  await expect(read("none.db")).rejects.toThrow("none.db: it cannot be read (ENOENT)");
  const make = (name: string, sql: string) => {
    const database = new Sqlite(join(folder, name));
    database.exec(sql);
    database.close();
  };
  make("other.db", "CREATE TABLE other (id integer)");
  await expect(read("other.db")).rejects.toThrow("other.db: it has no table monitor, as Uptime Kuma's has");
  const endless = "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n";
  make("view.db", `CREATE VIEW monitor AS ${endless}`);
  await expect(read("view.db")).rejects.toThrow("view.db: it has no table monitor");
  make(
    "long.db",
    "CREATE TABLE monitor (id integer, name text, type text); INSERT INTO monitor VALUES (1, printf('%.*c', 1000001, 'x'), 'ping')",
  );
  await expect(read("long.db")).rejects.toThrow(
    "long.db: table monitor: a cell of name is longer than 1000000 characters",
  );
  make("later.db", "CREATE TABLE monitor (id integer, title text, kind text)");
  await expect(read("later.db")).rejects.toThrow(
    "later.db: table monitor has no name and no type: this version of Uptime Kuma is not known here",
  );
  make(
    "newer.db",
    "CREATE TABLE monitor (id integer, name text, type text, \"new \"\"field\" blob); INSERT INTO monitor VALUES (1, 'x', 'ping', x'00ff')",
  );
  await expect(read("newer.db")).resolves.toMatchObject({ rows: { monitor: [{ id: 1, name: "x", type: "ping" }] } });
  writeFileSync(join(folder, "db-config.json"), '{"type": "embedded-mariadb"}');
  await expect(readKumaFolder(folder, place(), quiet)).rejects.toThrow(
    "db-config.json: this Uptime Kuma keeps its data in embedded-mariadb",
  );
  rmSync(join(folder, "db-config.json"));
});
