/** Faults between us and ClickHouse: every row is there exactly once afterwards, and no read is ever taken for a shorter one. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { StoreError } from "../../store/errors.ts";
import { ClickHouseResults } from "../../store/results/clickhouse.ts";
import { Pump } from "../../store/results/pump.ts";
import { rowOf } from "../../store/results/result-store.suite.ts";
import type { ResultStore } from "../../store/results/result-store.ts";
import { Spool } from "../../store/results/spool.ts";
import { SILENT, startTestClickHouse, type TestClickHouse } from "./embedded.ts";
import { FAULTS, type Fault, type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

const INSERT_TIMEOUT_MS = 400;

let clickhouse: TestClickHouse;
let proxy: FaultProxy;
let store: ResultStore;
let direct: ResultStore;
let dir = "";
const nowMs = Date.now();

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "sonde-faults-"));
  clickhouse = await startTestClickHouse();
  proxy = await startFaultProxy(clickhouse.url);
  store = new ClickHouseResults({ url: proxy.url, log: SILENT, insertTimeoutMs: INSERT_TIMEOUT_MS });
  direct = new ClickHouseResults({ url: clickhouse.url, log: SILENT });
});
afterAll(async () => {
  await store.close();
  await direct.close();
  await proxy.close();
  await clickhouse.remove();
  rmSync(dir, { recursive: true, force: true });
});

const isInsert = (sql: string) => sql.startsWith("INSERT INTO sonde.results");
const everything = { projectId: 1, status: null, limit: 1_000, offset: 0, nowMs, details: false } as const;

describe("inserts through faults", () => {
  it("apply every row exactly once, whatever happens to them", { timeout: 300_000 }, async () => {
    const BATCHES = 40;
    const ROWS = 25;
    const spool = await Spool.open({ dir: join(dir, "spool"), log: SILENT, segmentBytes: 8_000 });
    let seq = 0;
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const lines = Array.from({ length: ROWS }, () => {
        seq += 1;
        return JSON.stringify(
          rowOf({
            monitor_id: 1 + (seq % 2),
            seq: Math.ceil(seq / 2),
            tested_at: nowMs - 2_000_000 + seq,
            id: String(seq),
          }),
        );
      });
      await spool.append(lines);
    }
    let turn = 0;
    // Every fault several times, two of three inserts, in an order that does not depend on luck.
    proxy.choose((sql) => {
      if (!isInsert(sql)) return "none";
      turn += 1;
      return turn % 3 === 0 ? "none" : (FAULTS[(turn * 7) % FAULTS.length] ?? "none");
    });
    const pump = new Pump({
      spool,
      results: store,
      log: SILENT,
      setAside: { add: async () => {} },
      appliedSeq: spool.lastSeq,
      settle: async () => {},
      // Pauses are not what this is about.
      clock: {
        nowMs: () => Date.now(),
        after: (_, act) =>
          (
            (timer) => () =>
              clearTimeout(timer)
          )(setTimeout(act, 1)),
      },
    });
    pump.wake(spool.lastSeq);
    await vi.waitFor(() => expect(pump.state.waitingRows).toBe(0), { timeout: 240_000, interval: 20 });
    await pump.stop(0);
    await spool.close();

    expect([...FAULTS].filter((fault) => !proxy.met.has(fault))).toEqual([]);
    expect(pump.state.rejectedRows).toBe(0);
    for (const monitorId of [1, 2]) {
      for (const period of ["24h", "7d"] as const) {
        const { rows, total } = await direct.ofMonitor({ ...everything, monitorId, period });
        expect(total).toBe((BATCHES * ROWS) / 2);
        const ids = rows.map(({ id }) => Number(id));
        expect(ids).toEqual(Array.from({ length: total }, (_, i) => seq - i * 2 - (seq % 2 === monitorId - 1 ? 0 : 1)));
      }
    }
  });
});

describe("reads through faults", () => {
  const broken: readonly Fault[] = FAULTS.filter((fault) => !["none", "slow", "silent-after-commit"].includes(fault));

  it.each(broken)("%s: rejects as something that may pass, with no rows", async (fault) => {
    proxy.choose(() => fault);
    for (const period of ["24h", "7d"] as const) {
      const read = store.ofMonitor({ ...everything, monitorId: 1, period });
      await expect(read).rejects.toBeInstanceOf(StoreError);
      await expect(read).rejects.toMatchObject({ kind: "unavailable" });
    }
    proxy.choose(() => "none");
    expect((await store.ofMonitor({ ...everything, monitorId: 1, period: "24h" })).total).toBe(500);
  });

  it("a slow answer is an answer", async () => {
    proxy.choose(() => "slow");
    expect((await store.ofMonitor({ ...everything, monitorId: 1, period: "24h" })).rows).toHaveLength(500);
  });

  it("a ping without an answer rejects within its two seconds", async () => {
    proxy.choose(() => "silent-after-commit");
    await expect(store.ping()).rejects.toBeInstanceOf(StoreError);
    proxy.choose(() => "none");
    await expect(store.ping()).resolves.toBeUndefined();
  });
});
