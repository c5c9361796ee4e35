/**
 * `bench -- move`: a backup, a restore, and a move to PostgreSQL, Redis and ClickHouse and back, of many monitors and results: how long each
 * takes, and that one which is killed again and again ends as one that was not.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { MONITOR_DEFAULTS } from "../../model/monitor.ts";
import { CONTROL, factsOf } from "../../store/backup/snapshot.ts";
import { ClickHouseResults } from "../../store/results/clickhouse.ts";
import { EmbeddedClickHouse } from "../../store/results/embedded/child.ts";
import { openCheckedSealing } from "../../store/sealing/sealing.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import { statement } from "../../store/sql/db/database.ts";
import { openSqlite } from "../../store/sql/db/sqlite.ts";
import { startPostgres } from "../../test/servers/postgres.ts";
import { startRedis } from "../../test/servers/redis.ts";
import { conditions } from "../parts/conditions.ts";
import { rowOf } from "../parts/results.ts";

export interface MoveBenchOptions {
  readonly monitors: number;
  readonly rows: number;
  /** Deaths of each command. */
  readonly kills: number;
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly seconds: number;
}

interface MoveFacts {
  readonly tables: Readonly<Record<string, { readonly rows: number; readonly sha256: string }>>;
  readonly results: Readonly<Record<string, { readonly rows: number; readonly sum: string }>>;
  readonly missed: object;
}

const SONDE = fileURLToPath(new URL("../../cli/sonde.js", import.meta.url));
const log = pino({ level: "warn" });
/** Rows of one insert. */
const BATCH = 20_000;
const DAY_MS = 86_400_000;
const ACTOR = { type: "system", id: null, name: null, via: "system", keyId: null } as const;

export async function runMove({ monitors, rows, kills }: MoveBenchOptions): Promise<void> {
  console.log(
    `move: ${monitors} monitors, ${rows} results, ${kills} deaths\n  ${conditions()}; the servers share the cores`,
  );
  const root = mkdtempSync(join(tmpdir(), "sonde-bench-"));
  const dataDir = join(root, "data");
  const stores = await startStores();
  try {
    await fill(dataDir, monitors, rows);
    const keyFile = join(root, "sealing.key");
    cpSync(join(dataDir, "sealing.key"), keyFile);
    await backUpAndRestore(root, dataDir, keyFile, kills);
    const first = { ...(await stores.fresh()), SONDE_SEALING_KEY_FILE: keyFile };
    const whole = movedOf(await sonde(first, dataDir, "move", "--to", "servers", "--json"), "move to the servers");
    console.log(`  missed: ${JSON.stringify(whole.missed)}`);
    const back = movedOf(await sonde(first, join(root, "back"), "move", "--to", "folder", "--json"), "move back");
    compare(whole, back);
    const second = { ...(await stores.fresh()), SONDE_SEALING_KEY_FILE: keyFile };
    compare(whole, await killed(second, dataDir, "servers", kills));
    compare(whole, await killed(second, join(root, "back-again"), "folder", kills));
  } finally {
    await stores.stop();
    rmSync(root, { recursive: true, force: true });
  }
}

async function fill(dataDir: string, monitors: number, rows: number): Promise<void> {
  mkdirSync(dataDir, { mode: 0o700 });
  const file = join(dataDir, "control.sqlite");
  const plane = await openControlPlane({ file }, { role: "api" });
  const nowMs = Date.now();
  const first = {
    email: "a@b.test",
    userName: "A",
    workspaceName: "W",
    plan: "business" as const,
    projectName: "P",
    nowMs,
  };
  const { organizationId, projectId } = await plane.accounts.createFirst(first);
  await openCheckedSealing(plane.meta, { keyFile: join(dataDir, "sealing.key"), createIfMissing: true });
  const website = {
    ...MONITOR_DEFAULTS,
    ...{ organizationId, projectId, kind: "http" as const, intervalS: 60, timeoutS: 30, maxRetries: 2, nowMs },
    ...{ tags: [], pauseReasons: [], pausedAtMs: null, locations: [], disabledLocations: [], notifyOnPartial: false },
    ...{
      sslExpirationDays: null,
      domainExpirationDays: null,
      graceS: null,
      subscriptionId: null,
      heartbeatToken: null,
    },
  };
  for (let at = 0; at < monitors; at++) {
    const settings = { url: `https://${at}.test-site.org/`, accepted_statuscodes: ["200-299"] };
    await plane.monitors.create({ ...website, name: `Website ${at}`, settings, host: `${at}.test-site.org` }, ACTOR);
  }
  await plane.close();
  const database = await openSqlite({ file, durable: false });
  const checked = statement("checked", "update live set status = 'healthy', last_checked_at_ms = cast(? as bigint)");
  await database.write((session) => session.query(checked, Date.now()));
  await database.close();
  const embedded = await EmbeddedClickHouse.start({ dir: join(dataDir, "clickhouse"), log });
  await embedded.ready;
  const results = new ClickHouseResults({ url: embedded.url, log });
  for (let from = 0; from < rows; from += BATCH) {
    const lines = Array.from({ length: Math.min(BATCH, rows - from) }, (_, at) =>
      JSON.stringify(rowOf(from + at, nowMs - Math.floor(((rows - from - at) / rows) * DAY_MS * 0.8))),
    );
    await results.insert({ token: `fill ${from}`, lines: Buffer.from(`${lines.join("\n")}\n`), rows: lines.length });
  }
  await results.close();
  await embedded.close();
}

async function backUpAndRestore(root: string, dataDir: string, keyFile: string, kills: number): Promise<void> {
  const archive = join(root, "backup.tar.gz");
  const saved = await sonde({}, dataDir, "backup", "--out", archive);
  report("backup", saved);
  console.log(`  ${(statSync(archive).size / 1e6).toFixed(1)} MB`);
  const restored = await sonde({}, join(root, "restored"), "restore", archive, "--key", keyFile);
  report("restore", restored);
  const expected = JSON.stringify(factsOf(join(root, "restored", CONTROL)));
  let empty = 0;
  for (let death = 0; death < kills; death++) {
    const folder = join(root, "killed");
    await sondeKilled({}, folder, Math.random() * restored.seconds * 1_000, "restore", archive, "--key", keyFile);
    // Nothing of it is where a service would look, or it counts and is all there.
    const left = existsSync(folder) ? readdirSync(folder) : [];
    if (left.includes(CONTROL) && !left.includes(".restored") && !left.includes("clickhouse"))
      throw new Error(`half of a restore counts: ${left.join(", ")}`);
    const again = await sonde({}, folder, "restore", archive, "--key", keyFile);
    const wasWhole = /not empty/.test(again.out);
    if (again.code !== 0 && !wasWhole) throw new Error(`after a death: ${again.out}`);
    empty += wasWhole ? 0 : 1;
    const names = readdirSync(folder);
    if (!["clickhouse", "control.sqlite", "sealing.key"].every((name) => names.includes(name)))
      throw new Error(`half of a restore: ${names.join(", ")}`);
    if (JSON.stringify(factsOf(join(folder, CONTROL))) !== expected) throw new Error("a restore is not what was saved");
    rmSync(folder, { recursive: true });
  }
  if (kills > 0)
    console.log(
      `  ${kills} restores were killed: ${empty} left the folder empty, the others whole; all were whole after the next`,
    );
}

/** Killed so often at times that go through all of it, then run to its end. */
async function killed(env: Env, dataDir: string, to: string, kills: number): Promise<MoveFacts> {
  let [deaths, longestMs] = [0, 400];
  for (; deaths < kills; deaths++) {
    const { code } = await sondeKilled(env, dataDir, Math.random() * longestMs, "move", "--to", to);
    longestMs = Math.min(longestMs * 1.3, 8_000);
    if (code === 0) throw new Error("it ended before all its deaths: give it more rows");
  }
  return movedOf(await sonde(env, dataDir, "move", "--to", to, "--json"), `move to ${to}, after ${deaths} deaths`);
}

function movedOf(ran: Ran, name: string): MoveFacts {
  report(name, ran);
  const facts = JSON.parse(ran.out.slice(ran.out.indexOf("{\n"))) as MoveFacts;
  const rows = Object.values(facts.tables).reduce((sum, table) => sum + table.rows, 0);
  const results = Object.entries(facts.results).map(([table, sum]) => `${table} ${sum.rows}`);
  console.log(
    `  ${facts.tables.monitors?.rows} monitors, ${rows} rows of SQL, ${results.join(", ")}, alike on both sides`,
  );
  return facts;
}

function report(name: string, { code, out, seconds }: Ran): void {
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${out}`);
  console.log(`${name}: ${seconds.toFixed(1)} s`);
}

function compare(one: MoveFacts, other: MoveFacts): void {
  const isSame =
    JSON.stringify([one.tables, one.results.results]) === JSON.stringify([other.tables, other.results.results]);
  if (!isSame) throw new Error("what was carried differs");
}

type Env = Readonly<Record<string, string>>;

function start(env: Env, dataDir: string, args: readonly string[]) {
  const settings = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: dataDir,
    SONDE_DATA_DIR: dataDir,
    SONDE_LOG: "error",
    ...env,
  };
  const child = spawn(process.execPath, [SONDE, ...args], { env: settings, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
  return { child, ended: once(child, "close"), out: () => out };
}

async function sonde(env: Env, dataDir: string, ...args: readonly string[]): Promise<Ran> {
  const startedAt = performance.now();
  const { child, ended, out } = start(env, dataDir, args);
  await ended;
  return { code: child.exitCode, out: out(), seconds: (performance.now() - startedAt) / 1_000 };
}

async function sondeKilled(env: Env, dataDir: string, afterMs: number, ...args: readonly string[]) {
  const { child, ended } = start(env, dataDir, args);
  await Promise.race([ended, delay(afterMs)]);
  child.kill("SIGKILL");
  await ended;
  return { code: child.exitCode };
}

async function startStores() {
  const postgres = await startPostgres();
  const redis = await startRedis();
  if ("missing" in postgres || "missing" in redis)
    throw new Error("this needs PostgreSQL and Redis (Debian: postgresql, redis-server)");
  const running: { readonly clickhouse: EmbeddedClickHouse; readonly dir: string }[] = [];
  return {
    async fresh() {
      const dir = mkdtempSync(join(tmpdir(), "sonde-bench-clickhouse-"));
      const clickhouse = await EmbeddedClickHouse.start({ dir, log });
      running.push({ clickhouse, dir });
      await clickhouse.ready;
      const { url } = await postgres.createDatabase();
      return { SONDE_DATABASE_URL: url, SONDE_REDIS_URL: redis.url, SONDE_CLICKHOUSE_URL: clickhouse.url };
    },
    async stop() {
      for (const { clickhouse, dir } of running) {
        await clickhouse.close();
        if (existsSync(dir)) rmSync(dir, { recursive: true, force: true });
      }
      await redis.stop();
      await postgres.stop();
    },
  };
}
