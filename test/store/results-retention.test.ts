/**
 * Retention (docs/api-contract.md#results) against its plain model: back-dated rows of several intervals, read before
 * anything was thinned, and again after merges were forced.
 */
import { createClient } from "@clickhouse/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResultRow } from "../../model/result.ts";
import { isKept, NEWEST_KEPT } from "../../model/retention.ts";
import { ClickHouseResults } from "../../store/results/clickhouse.ts";
import { rowOf, segmentOf } from "../../store/results/result-store.suite.ts";
import type { ResultStore } from "../../store/results/result-store.ts";
import { SILENT, startTestClickHouse, type TestClickHouse } from "./embedded.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const nowMs = Date.now();

/** Each monitor's rows: how often, from and until how long ago, and how often the status changes. */
const MONITORS = [
  { everyMs: MINUTE_MS, fromMs: 3 * DAY_MS, untilMs: 0, changesEvery: 97 },
  { everyMs: 5 * MINUTE_MS, fromMs: 3 * DAY_MS, untilMs: 0, changesEvery: 11 },
  { everyMs: HOUR_MS, fromMs: 3 * DAY_MS, untilMs: 0, changesEvery: 5 },
  { everyMs: 7 * HOUR_MS, fromMs: 9 * DAY_MS, untilMs: 0, changesEvery: 3 },
  // Paused two days ago.
  { everyMs: MINUTE_MS, fromMs: 3 * DAY_MS, untilMs: 2 * DAY_MS, changesEvery: 40 },
  // Never changed but at its first row, which is long gone.
  { everyMs: 10 * MINUTE_MS, fromMs: 3 * DAY_MS, untilMs: 0, changesEvery: 1_000_000 },
  // Changes at every row.
  { everyMs: 30 * MINUTE_MS, fromMs: 3 * DAY_MS, untilMs: HOUR_MS, changesEvery: 1 },
  // Its only rows are older than any period reaches.
  { everyMs: HOUR_MS, fromMs: 9 * DAY_MS, untilMs: 8 * DAY_MS + HOUR_MS, changesEvery: 4 },
];

const history: readonly (readonly ResultRow[])[] = MONITORS.map(({ everyMs, fromMs, untilMs, changesEvery }, index) => {
  const rows: ResultRow[] = [];
  let isDown = true;
  for (let ageMs = fromMs; ageMs >= untilMs; ageMs -= everyMs) {
    const changed = rows.length % changesEvery === 0 ? 1 : 0;
    if (changed === 1) isDown = !isDown;
    const status = isDown ? "down" : "healthy";
    rows.push(
      rowOf({ monitor_id: index + 1, seq: rows.length + 1, tested_at: nowMs - ageMs - index * 17, changed, status }),
    );
  }
  return rows;
});

function modelOf(monitorId: number, atMs: number, periodMs: number): ResultRow[] {
  const rows = history[monitorId - 1] ?? [];
  return rows
    .filter((row) => isKept(row, { ageMs: atMs - row.tested_at, rankFromNewest: rows.length - row.seq + 1 }))
    .filter((row) => row.tested_at >= atMs - periodMs)
    .sort((a, b) => b.tested_at - a.tested_at || Number(BigInt(b.id) - BigInt(a.id)));
}

let clickhouse: TestClickHouse;
let store: ResultStore;
let client: ReturnType<typeof createClient>;

beforeAll(async () => {
  clickhouse = await startTestClickHouse();
  store = new ClickHouseResults({ url: clickhouse.url, log: SILENT });
  client = createClient({ url: clickhouse.url });
});
afterAll(async () => {
  await client.close();
  await store.close();
  await clickhouse.remove();
});

async function numberOf(sql: string): Promise<number> {
  const [row] = await (await client.query({ query: sql, format: "JSONEachRow" })).json<{ n: string | number }>();
  return Number(row?.n);
}

/** Inserts in pieces of a few hours, each with every monitor's rows, not in order; one piece in five twice. */
async function insertHistory(): Promise<void> {
  const pieces = new Map<number, ResultRow[]>();
  for (const row of history.flat()) {
    const piece = Math.floor((nowMs - row.tested_at) / (5 * HOUR_MS));
    pieces.set(piece, [...(pieces.get(piece) ?? []), row]);
  }
  const shuffled = [...pieces].sort(([a], [b]) => ((a * 7) % 13) - ((b * 7) % 13));
  for (const [piece, rows] of [...shuffled, ...shuffled.filter(([number]) => number % 5 === 0)]) {
    await store.insert(segmentOf(`piece ${piece}`, rows));
  }
}

async function expectModel(atMs: number): Promise<void> {
  for (const [period, periodMs] of [
    ["15m", 15 * MINUTE_MS],
    ["1h", HOUR_MS],
    ["24h", DAY_MS],
    ["7d", 7 * DAY_MS],
  ] as const) {
    for (let monitorId = 1; monitorId <= MONITORS.length; monitorId += 1) {
      const expected = modelOf(monitorId, atMs, periodMs);
      const query = { projectId: 1, monitorId, period, status: null, limit: 1_000, nowMs: atMs, details: false };
      const found: string[] = [];
      for (let offset = 0; offset === 0 || offset < expected.length; offset += 1_000) {
        const page = await store.ofMonitor({ ...query, offset });
        found.push(...page.rows.map(({ id }) => id));
        const healthy = expected.filter(({ status }) => status === "healthy").length;
        expect(page).toMatchObject({ total: expected.length, inPeriod: expected.length, healthy });
      }
      expect(found).toEqual(expected.map(({ id }) => id));
      const down = await store.ofMonitor({ ...query, offset: 0, status: "down" });
      expect(down.total).toBe(expected.filter(({ status }) => status === "down").length);
    }
    const project = await store.ofProject({
      projectId: 1,
      period,
      onlyDown: true,
      limit: 1_000,
      nowMs: atMs,
      withoutMonitorIds: [3],
      details: false,
    });
    const all = MONITORS.flatMap((_, index) => (index === 2 ? [] : modelOf(index + 1, atMs, periodMs)))
      .filter(({ status }) => status === "down")
      .sort((a, b) => b.tested_at - a.tested_at || Number(BigInt(b.id) - BigInt(a.id)));
    expect(project.map(({ id }) => id)).toEqual(all.slice(0, 1_000).map(({ id }) => id));
  }
}

describe("retention", () => {
  let ttl = "";

  it("holds while nothing was thinned yet", { timeout: 120_000 }, async () => {
    await store.insert(segmentOf("first", [rowOf({ project_id: 9, monitor_id: 900, seq: 1, tested_at: nowMs })]));
    const created = await (
      await client.query({
        query: "SELECT create_table_query AS q FROM system.tables WHERE database = 'sonde' AND name = 'results'",
        format: "JSONEachRow",
      })
    ).json<{ q: string }>();
    ttl = /TTL ([\s\S]*?) SETTINGS/.exec(created[0]?.q ?? "")?.[1] ?? "";
    expect(ttl).toContain("changed = 0");
    // Rows that are already expired would vanish at the insert; without the rule they stay, as between two merges.
    await client.command({ query: "ALTER TABLE sonde.results REMOVE TTL" });
    await insertHistory();
    expect(await numberOf("SELECT count() AS n FROM sonde.results WHERE project_id = 1")).toBe(history.flat().length);
    await expectModel(nowMs);
  });

  it("holds as time passes, before anything is thinned", { timeout: 120_000 }, async () => {
    for (const laterMs of [999, 10 * MINUTE_MS, 30 * HOUR_MS, 20 * DAY_MS]) await expectModel(nowMs + laterMs);
  });

  it("holds when all was merged by force, and only what is kept is left", { timeout: 120_000 }, async () => {
    await client.command({
      query: `ALTER TABLE sonde.results MODIFY TTL ${ttl} SETTINGS materialize_ttl_after_modify = 0`,
    });
    await client.command({ query: "OPTIMIZE TABLE sonde.results FINAL" });
    await client.command({ query: "OPTIMIZE TABLE sonde.recent FINAL" });
    await expectModel(nowMs);
    const withinTtl = ({ tested_at, changed }: ResultRow) => {
      const ageMs = Date.now() - tested_at;
      return ageMs < 8 * DAY_MS + HOUR_MS && (changed === 1 || ageMs < DAY_MS + HOUR_MS);
    };
    const left = await numberOf("SELECT count() AS n FROM sonde.results WHERE project_id = 1");
    // A row may pass its hour of grace between the merge and this count.
    expect(Math.abs(left - history.flat().filter(withinTtl).length)).toBeLessThanOrEqual(MONITORS.length);
    expect(left).toBeLessThan(history.flat().length / 2);
    expect(await numberOf(`SELECT max(n) AS n FROM (SELECT count() AS n FROM sonde.recent GROUP BY monitor_id)`)).toBe(
      NEWEST_KEPT,
    );
  });

  it("holds after the nightly thinning, which drops whole days that are over", { timeout: 120_000 }, async () => {
    await client.command({ query: "ALTER TABLE sonde.results REMOVE TTL" });
    await store.insert(
      segmentOf("ancient", [rowOf({ monitor_id: 8, seq: 1, tested_at: nowMs - 12 * DAY_MS, changed: 1 })]),
    );
    const ancient = `SELECT count() AS n FROM sonde.results WHERE tested_at < now() - INTERVAL 10 DAY`;
    expect(await numberOf(ancient)).toBe(1);
    await store.thin();
    expect(await numberOf(ancient)).toBe(0);
    await expectModel(nowMs);
    await client.command({
      query: `ALTER TABLE sonde.results MODIFY TTL ${ttl} SETTINGS materialize_ttl_after_modify = 0`,
    });
  });

  it("holds when rows arrive that had expired before", { timeout: 120_000 }, async () => {
    await client.command({ query: "TRUNCATE TABLE sonde.results" });
    await client.command({ query: "TRUNCATE TABLE sonde.recent" });
    for (const [index, rows] of history.entries()) await store.insert(segmentOf(`again ${index}`, rows));
    await expectModel(nowMs);
  });
});
