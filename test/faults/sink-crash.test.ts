/**
 * Death between every two steps of the sink, again and again: everything acknowledged is there once, and statuses and incidents are those
 * that the rows say.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { newMonitor } from "../../testkit/store/new-monitor.suite.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { bundled } from "../bundled.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startPostgres } from "../servers/postgres.ts";
import { cleanUp } from "../service.ts";
import { startTestClickHouse, type TestClickHouse } from "../store/embedded.ts";
import { expectTruth, groupBy, type TrueRow, trueRows } from "./truth.ts";

const PROGRAM = await bundled(fileURLToPath(new URL("../fixtures/crashing-sink.mjs", import.meta.url)));
const STEPS = ["append", "apply", "acknowledge", "settle", "insert", "release"] as const;
const SIDES = ["before", "after"] as const;
/** Each step on each side, early and late in a run. */
const NTH = [1, 3];
const MONITORS = 40;
const HEARTBEATS = 3;
const MAX_RETRIES = 2;

interface Ground {
  readonly location: { readonly file: string } | { readonly url: string };
  readonly spoolDir: string;
  readonly clickhouseUrl: string;
  readonly projectId: number;
  readonly heartbeatIds: readonly number[];
}

interface Said {
  /** Check ids that were in the spool, on disk. */
  readonly appended: Set<string>;
  /** `monitor time` of calls that were answered. */
  readonly beats: Set<string>;
  /** Latest name of each monitor whose change was answered. */
  readonly names: Map<number, number>;
  readonly created: Set<number>;
  replayed: number;
}

const postgres = await startPostgres();
let clickhouse: TestClickHouse;
beforeAll(async () => {
  expect(existsSync(new URL("../../dist/scheduler/role/loop.js", import.meta.url)), "run `npm run build` first").toBe(
    true,
  );
  clickhouse = await startTestClickHouse();
});
afterAll(async () => {
  await clickhouse?.remove();
  if (!isMissing(postgres)) await postgres.stop();
  await cleanUp();
});

/** @param url of an empty database; in a file by default */
async function prepare(url?: string): Promise<Ground> {
  const folder = temporaryFolder();
  const location = url === undefined ? { file: join(folder, "control.sqlite") } : { url };
  const plane = await openControlPlane(location, { role: "api" });
  const who = { email: "a@test-site.org", userName: "a", workspaceName: "w", projectName: "p" };
  const { organizationId, projectId } = await plane.accounts.createFirst({ ...who, plan: "business", nowMs: 1 });
  const common = newMonitor({ organizationId, projectId }, { intervalS: 1, timeoutS: 10, maxRetries: MAX_RETRIES });
  // Some are held back when they fail, as what has a host is.
  for (let i = 0; i < MONITORS; i += 1) {
    await plane.monitors.create({ ...common, host: i % 4 === 0 ? "127.0.0.1" : null }, SYSTEM_ACTOR);
  }
  const heartbeatIds: number[] = [];
  for (let i = 0; i < HEARTBEATS; i += 1) {
    const heartbeatToken = { sealed: "s", hash: `hash ${i}` };
    const heartbeat = { ...common, kind: "push", intervalS: 3_600, graceS: 60, maxRetries: 1, heartbeatToken } as const;
    heartbeatIds.push((await plane.monitors.create(heartbeat, SYSTEM_ACTOR)).id);
  }
  await plane.close();
  return { location, spoolDir: join(folder, "spool"), clickhouseUrl: clickhouse.url, projectId, heartbeatIds };
}

interface Kill {
  readonly step: (typeof STEPS)[number] | "discard";
  readonly side: (typeof SIDES)[number];
  readonly nth: number;
}

/** One life of the program. @returns how it ended */
function live(ground: Ground, kill: Kill | null, seed: number, said: Said, poison = 0): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify({ ...ground, kill, seed, poison })], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      for (const line of output.split("\n")) note(said, line.split(" "));
      // What is set aside is said aloud.
      const unexpected = errors.split("\n").filter((line) => line !== "" && !line.includes("set aside"));
      resolve(unexpected.length === 0 ? (signal ?? `code ${code}`) : errors);
    });
  });
}

function note(said: Said, [what, ...words]: readonly string[]): void {
  const [first = "", second = ""] = words;
  if (what === "appended") for (const id of words) said.appended.add(id);
  if (what === "beat") said.beats.add(`${first} ${second}`);
  if (what === "named") said.names.set(Number(first), Number(second));
  if (what === "created") said.created.add(Number(first));
  if (what === "replayed") said.replayed += Number(first);
}

async function expectAgreement(ground: Ground, said: Said, rows: readonly TrueRow[]): Promise<void> {
  const plane = await openControlPlane(ground.location, { role: "api" });
  try {
    await expectAcknowledged(plane, said, rows);
    await expectTruth(plane, ground.projectId, rows);
  } finally {
    await plane.close();
  }
}

async function expectAcknowledged(plane: ControlPlane, said: Said, rows: readonly TrueRow[]): Promise<void> {
  const perCheck = groupBy(rows, (row) => row.check_id);
  expect([...perCheck].filter(([, same]) => same.length > 1)).toEqual([]);
  expect([...said.appended].filter((id) => !perCheck.has(id))).toEqual([]);
  const perCall = groupBy(rows, (row) => `${row.monitor_id} ${row.tested_at_ms}`);
  expect([...said.beats].filter((call) => perCall.get(call)?.length !== 1)).toEqual([]);
  expect(await plane.heartbeats.inbox(10)).toEqual([]);
  for (const [id, count] of said.names) {
    // The last change may have been written and not answered.
    expect(Number((await plane.monitors.recall(id))?.monitor.name)).toBeGreaterThanOrEqual(count);
  }
  for (const id of said.created) expect(await plane.monitors.recall(id)).toBeDefined();
}

it("keeps everything acknowledged, once, through a death at every step", { timeout: 300_000 }, async () => {
  const ground = await prepare();
  const said: Said = { appended: new Set(), beats: new Set(), names: new Map(), created: new Set(), replayed: 0 };
  const kills = NTH.flatMap((nth) => STEPS.flatMap((step) => SIDES.map((side) => ({ step, side, nth }))));
  let seed = 1;
  for (const kill of kills) {
    expect(await live(ground, kill, seed++, said), JSON.stringify(kill)).toBe("SIGKILL");
  }
  expect(await live(ground, null, seed, said)).toBe("code 0");
  const rows = await trueRows(ground.clickhouseUrl);
  // The rounds did something: rows came out of replays, monitors failed, calls were taken.
  expect(said.replayed).toBeGreaterThan(0);
  expect(said.beats.size).toBeGreaterThan(kills.length);
  expect(rows.filter(({ status }) => status === "down").length).toBeGreaterThan(0);
  await expectAgreement(ground, said, rows);
  console.info(
    `${kills.length} deaths: ${rows.length} rows once each, ${said.replayed} replayed, ${said.beats.size} heartbeats, ${said.names.size} monitors renamed, ${said.created.size} created`,
  );
});

it("sets rows aside that SQLite refuses, once, through a death at every step; everything else is where it belongs", {
  timeout: 300_000,
}, async () => {
  await expectSetAside(await prepare(), [1, 4]);
});

withServer("PostgreSQL", postgres, (running) => {
  it("sets rows aside that PostgreSQL refuses, in the same way", { timeout: 300_000 }, async () => {
    const { url, drop } = await running.createDatabase();
    await expectSetAside(await prepare(url), [4]);
    await drop();
  });
});

async function expectSetAside(ground: Ground, nths: readonly number[]): Promise<void> {
  const earlier = new Set((await trueRows(ground.clickhouseUrl).catch(() => [])).map(({ id }) => id));
  const said: Said = { appended: new Set(), beats: new Set(), names: new Map(), created: new Set(), replayed: 0 };
  const steps = ["append", "apply", "discard", "insert"] as const;
  const kills = nths.flatMap((nth) => steps.flatMap((step) => SIDES.map((side) => ({ step, side, nth }))));
  let seed = 1_000;
  for (const kill of kills) {
    expect(await live(ground, kill, seed++, said, 0.1), JSON.stringify(kill)).toBe("SIGKILL");
  }
  expect(await live(ground, null, seed, said)).toBe("code 0");
  const rows = (await trueRows(ground.clickhouseUrl)).filter(({ id }) => !earlier.has(id));
  const aside = readFileSync(join(ground.spoolDir, "set-aside.ndjson"), "utf8")
    .trim()
    .split("\n")
    .map(
      (line) =>
        JSON.parse(line) as {
          readonly store: string;
          readonly row: { readonly id: string; readonly error_message: string; readonly check_id: number };
        },
    );
  expect(aside.length).toBeGreaterThan(4);
  expect(aside.filter(({ store, row }) => store !== "sql" || !row.error_message.startsWith("poison"))).toEqual([]);
  const stored = new Set(rows.map(({ id }) => id));
  const [asideIds, checks] = [
    aside.map(({ row }) => row.id),
    new Set([...rows, ...aside.map(({ row }) => row)].map((row) => String(row.check_id))),
  ];
  expect([stored.size, new Set(asideIds).size]).toEqual([rows.length, asideIds.length]);
  expect(asideIds.filter((id) => stored.has(id))).toEqual([]);
  expect([...said.appended].filter((id) => !checks.has(id))).toEqual([]);
  const perCall = groupBy(rows, (row) => `${row.monitor_id} ${row.tested_at_ms}`);
  expect([...said.beats].filter((call) => perCall.get(call)?.length !== 1)).toEqual([]);
  console.info(
    `${kills.length} deaths: ${rows.length} rows once each, ${aside.length} set aside, ${said.replayed} replayed`,
  );
}
