/** What every result store must do, whatever is behind its URL. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResultRow } from "../../model/result.ts";
import { StoreError } from "../errors.ts";
import type { ResultStore, StoredResult } from "./result-store.ts";

export interface ResultStoreMaker {
  make(): Promise<{ readonly store: ResultStore; remove(): Promise<void> }>;
}

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const BASE_ID = 1_790_000_000_000_000_000n;

/** A one-off check, but for what is given. */
export function rowOf(overrides: Partial<ResultRow> & Pick<ResultRow, "monitor_id" | "seq" | "tested_at">): ResultRow {
  return {
    id: String(BASE_ID + BigInt(overrides.monitor_id) * 1_000_000n + BigInt(overrides.seq)),
    project_id: 1,
    location: "any",
    checker: "local",
    check_id: overrides.seq,
    kind: "http",
    status: "healthy",
    verdict: "ok",
    changed: 0,
    latency_ms: 12.5,
    connect_ms: null,
    error_category: null,
    error_message: null,
    lateness_ms: 0.25,
    duration_ms: 13.75,
    attempt: 1,
    phases: '{"connect":1.5}',
    explanation: "",
    ...overrides,
  };
}

export function segmentOf(token: string, rows: readonly object[]) {
  return { token, rows: rows.length, lines: Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join("")) };
}

const seqOf = ({ id }: StoredResult) => Number(BigInt(id) % 1_000_000n);

export function resultStoreSuite(name: string, maker: ResultStoreMaker): void {
  describe(name, () => {
    let store: ResultStore;
    let remove: () => Promise<void> = async () => undefined;
    let nextMonitor = 1;
    const nowMs = Date.now();

    beforeAll(async () => {
      ({ store, remove } = await maker.make());
    });
    afterAll(() => remove());

    /** Rows of a monitor of its own, one a second, the last of them now. */
    async function monitorWith(
      count: number,
      fieldsOf: (seq: number) => Partial<ResultRow> = () => ({}),
    ): Promise<number> {
      const monitorId = nextMonitor++;
      const rows = Array.from({ length: count }, (_, i) =>
        rowOf({
          monitor_id: monitorId,
          seq: i + 1,
          tested_at: nowMs - (count - 1 - i) * SECOND_MS,
          ...fieldsOf(i + 1),
        }),
      );
      await store.insert(segmentOf(`monitor ${monitorId}`, rows));
      return monitorId;
    }

    const query = { projectId: 1, period: "24h", status: null, limit: 500, offset: 0, nowMs, details: false } as const;

    it("answers a ping", async () => {
      await expect(store.ping()).resolves.toBeUndefined();
    });

    it("gives a row back as it went in", async () => {
      const monitorId = nextMonitor++;
      const testedAt = nowMs - 123;
      const explanation = JSON.stringify({
        stage: "connect",
        address: "192.0.2.1:80",
        peer: 'a "quote" \\ ü \u0007',
        hint: null,
      });
      const row = rowOf({
        monitor_id: monitorId, seq: 1, tested_at: testedAt, kind: "wireguard", status: "down", verdict: "timeout", changed: 1,
        latency_ms: null, connect_ms: 3.5, error_category: "timeout", error_message: "no answer ü \u{1f600}", location: "de", checker: "c1",
        attempt: 3, explanation,
      }); // biome-ignore format: one row
      await store.insert(segmentOf(`row ${monitorId}`, [row]));
      const { rows, total, inPeriod, healthy } = await store.ofMonitor({ ...query, monitorId, details: true });
      expect({ total, inPeriod, healthy }).toEqual({ total: 1, inPeriod: 1, healthy: 0 });
      expect(rows).toEqual([
        {
          id: row.id, monitorId, kind: "wireguard", status: "down", latencyMs: null, connectMs: 3.5, testedAtMs: testedAt,
          errorMessage: "no answer ü \u{1f600}",
          details: {
            verdict: "timeout", location: "de", checker: "c1", lateness_ms: 0.25, duration_ms: 13.75, attempt: 3,
            phases: row.phases, explanation, error_category: "timeout",
          },
        },
      ]); // biome-ignore format: one row
    });

    it("keeps ids beyond 2^53 exact, and shows details only when asked", async () => {
      const monitorId = await monitorWith(1, () => ({ id: "18446744073709551615" }));
      const { rows } = await store.ofMonitor({ ...query, monitorId });
      expect(rows[0]).toMatchObject({ id: "18446744073709551615", errorMessage: null, details: null });
    });

    it("applies a token once, however often it is sent", async () => {
      const monitorId = await monitorWith(3);
      const again = [1, 2, 3].map((seq) =>
        rowOf({ monitor_id: monitorId, seq, tested_at: nowMs - (3 - seq) * SECOND_MS }),
      );
      await Promise.all([1, 2].map(() => store.insert(segmentOf(`monitor ${monitorId}`, again))));
      expect((await store.ofMonitor({ ...query, monitorId })).total).toBe(3);
      expect((await store.ofMonitor({ ...query, monitorId, period: "7d" })).total).toBe(3);
    });

    it("drops members that are no columns", async () => {
      const monitorId = await monitorWith(1, () => ({ replay: { inbox_id: null } }) as Partial<ResultRow>);
      expect((await store.ofMonitor({ ...query, monitorId })).total).toBe(1);
    });

    it("pages newest first, ties by id, highest first", async () => {
      const monitorId = await monitorWith(50, (seq) => (seq > 40 ? { tested_at: nowMs } : {}));
      const newestFirst = Array.from({ length: 50 }, (_, i) => 50 - i);
      const pages: number[] = [];
      for (const period of ["24h", "7d"] as const) {
        for (let offset = 0; offset < 60; offset += 20) {
          const { rows, total } = await store.ofMonitor({ ...query, period, monitorId, limit: 20, offset });
          expect(total).toBe(50);
          pages.push(...rows.map(seqOf));
        }
      }
      expect(pages).toEqual([...newestFirst, ...newestFirst]);
    });

    it("filters by status, and counts the whole period whatever the filter", async () => {
      const monitorId = await monitorWith(30, (seq) =>
        seq % 3 === 0 ? { status: "down" } : seq % 10 === 1 ? { status: "degraded" } : {},
      );
      for (const period of ["15m", "1h", "24h", "7d"] as const) {
        const down = await store.ofMonitor({ ...query, period, monitorId, status: "down", limit: 4, offset: 2 });
        expect(down).toMatchObject({ total: 10, inPeriod: 30, healthy: 18 });
        expect(down.rows.map(seqOf)).toEqual([24, 21, 18, 15]);
        expect((await store.ofMonitor({ ...query, period, monitorId, status: "degraded" })).total).toBe(2);
        expect((await store.ofMonitor({ ...query, period, monitorId, status: "unknown" })).rows).toEqual([]);
      }
    });

    it("cuts at the period", async () => {
      const monitorId = await monitorWith(4, (seq) => ({
        tested_at: nowMs - ([25 * HOUR_MS, 2 * HOUR_MS, 16 * 60_000, 0][seq - 1] ?? 0),
        changed: 1,
      }));
      const totals: number[] = [];
      for (const period of ["15m", "1h", "24h", "7d"] as const)
        totals.push((await store.ofMonitor({ ...query, period, monitorId })).total);
      expect(totals).toEqual([1, 2, 3, 4]);
    });

    it("answers nothing for a monitor that has nothing, or is in another project", async () => {
      const monitorId = await monitorWith(1);
      const nothing = { rows: [], total: 0, inPeriod: 0, healthy: 0 };
      expect(await store.ofMonitor({ ...query, monitorId: 999_999 })).toEqual(nothing);
      expect(await store.ofMonitor({ ...query, projectId: 2, monitorId })).toEqual(nothing);
      expect(await store.ofMonitor({ ...query, projectId: 2, monitorId, period: "7d" })).toEqual(nothing);
    });

    it("reads a project's newest rows and failures, without hidden monitors", async () => {
      const [a, b, hidden] = [nextMonitor++, nextMonitor++, nextMonitor++];
      const rows = [a, b, hidden].flatMap((monitor_id) =>
        [1, 2, 3, 4].map((seq) =>
          rowOf({
            project_id: 77,
            monitor_id,
            seq,
            tested_at: nowMs - seq * SECOND_MS - monitor_id,
            status: seq === 2 ? "down" : "healthy",
          }),
        ),
      );
      await store.insert(segmentOf("project 77", rows));
      for (const period of ["24h", "7d"] as const) {
        const project = { projectId: 77, period, nowMs, details: false, withoutMonitorIds: [hidden] };
        const all = await store.ofProject({ ...project, onlyDown: false, limit: 500 });
        expect(all.map((row) => [row.monitorId, seqOf(row)])).toEqual(
          [1, 2, 3, 4].flatMap((seq) => [
            [a, seq],
            [b, seq],
          ]),
        );
        const down = await store.ofProject({ ...project, onlyDown: true, limit: 500 });
        expect(down.map((row) => [row.monitorId, seqOf(row)])).toEqual([
          [a, 2],
          [b, 2],
        ]);
        expect(await store.ofProject({ ...project, onlyDown: false, limit: 3 })).toEqual(all.slice(0, 3));
        expect(await store.ofProject({ ...project, withoutMonitorIds: [], onlyDown: true, limit: 500 })).toHaveLength(
          3,
        );
      }
    });

    it("refuses rows that are none, says that repeating does not help, and stores nothing of them", async () => {
      const monitorId = nextMonitor++;
      const good = rowOf({ monitor_id: monitorId, seq: 1, tested_at: nowMs });
      for (const bad of [
        { ...good, id: "x" },
        { ...good, error_message: "\ud800" },
        { ...good, tested_at: "tomorrow" },
        { ...good, seq: {} },
      ]) {
        const refused = store.insert(segmentOf(`bad ${JSON.stringify(bad)}`, [good, bad]));
        await expect(refused).rejects.toMatchObject({ kind: "refused" });
        await expect(refused).rejects.toBeInstanceOf(StoreError);
      }
      const years = Array.from({ length: 150 }, (_, i) =>
        rowOf({ monitor_id: monitorId, seq: 1, tested_at: nowMs - i * 24 * HOUR_MS }),
      );
      await expect(store.insert(segmentOf("150 days", years))).rejects.toMatchObject({ kind: "refused" });
      const deep = { token: "deep", rows: 1, lines: Buffer.from(`{"x":${"[".repeat(5_000)}${"]".repeat(5_000)}}\n`) };
      await expect(store.insert(deep)).rejects.toMatchObject({ kind: "refused" });
      const garbage = { token: "garbage", rows: 1, lines: Buffer.from("no json\n") };
      await expect(store.insert(garbage)).rejects.toMatchObject({ kind: "refused" });
      expect((await store.ofMonitor({ ...query, monitorId })).total).toBe(0);
    });

    it("refuses numbers that are none, before they are SQL", async () => {
      for (const monitorId of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, "1 OR 1" as unknown as number]) {
        await expect(store.ofMonitor({ ...query, monitorId })).rejects.toThrow(TypeError);
        await expect(store.ofMonitor({ ...query, monitorId: 1, limit: monitorId })).rejects.toThrow(TypeError);
        await expect(
          store.ofProject({
            projectId: 1,
            period: "1h",
            onlyDown: false,
            limit: 1,
            nowMs,
            details: false,
            withoutMonitorIds: [monitorId],
          }),
        ).rejects.toThrow(TypeError);
      }
      const status = "down' OR '1" as "down";
      await expect(store.ofMonitor({ ...query, monitorId: 1, status })).rejects.toThrow(TypeError);
    });

    it("sums up what checks took, by steps of rows and by hours, also when an insert is repeated", async () => {
      const monitorId = nextMonitor++;
      const hour = Math.floor(nowMs / HOUR_MS) * HOUR_MS - HOUR_MS;
      const ours = {
        status: "degraded",
        verdict: "internal-error",
        error_category: "checker_error",
        latency_ms: null,
      } as const;
      const down = {
        status: "down",
        verdict: "refused",
        error_category: "server_not_connected",
        latency_ms: null,
      } as const;
      const rows = [
        rowOf({ monitor_id: monitorId, seq: 1, tested_at: hour, latency_ms: 10, phases: '{"connect":4}' }),
        rowOf({
          monitor_id: monitorId,
          seq: 2,
          tested_at: hour + 1_000,
          latency_ms: 30,
          phases: '{"connect":6,"request":9}',
        }),
        rowOf({ monitor_id: monitorId, seq: 3, tested_at: hour + 60_000, phases: "{}", ...ours }),
        rowOf({ monitor_id: monitorId, seq: 4, tested_at: hour + 61_000, phases: "{}", location: "de", ...down }),
        rowOf({ monitor_id: monitorId, seq: 5, tested_at: hour + HOUR_MS, latency_ms: 50, phases: '{"connect":1}' }),
      ];
      for (let repeat = 0; repeat < 3; repeat++) await store.insert(segmentOf(`latency ${monitorId}`, rows));
      const of = { projectId: 1, monitorId, location: null, fromMs: hour, toMs: hour + 2 * HOUR_MS } as const;
      const none = { min: null, avg: null, p50: null, p95: null, max: null };
      const first = { min: 10, avg: 20, p50: expect.any(Number), p95: expect.any(Number), max: 30 };
      const later = { min: 50, avg: 50, p50: 50, p95: 50, max: 50, checks: 1, failed: 0, ours: 0 };
      expect(await store.latencyOf({ ...of, stepS: 60, source: "rows" })).toEqual([
        { atMs: hour, ...first, checks: 2, failed: 0, ours: 0, phases: { connect: 5, request: 9 } },
        { atMs: hour + 60_000, ...none, checks: 2, failed: 1, ours: 1, phases: {} },
        { atMs: hour + HOUR_MS, ...later, phases: { connect: 1 } },
      ]);
      expect(await store.latencyOf({ ...of, stepS: 3_600, source: "hours" })).toEqual([
        { atMs: hour, ...first, checks: 4, failed: 1, ours: 1, phases: {} },
        { atMs: hour + HOUR_MS, ...later, phases: {} },
      ]);
      const german = { ...of, stepS: 3_600, location: "de" } as const;
      const point = { atMs: hour, ...none, checks: 1, failed: 1, ours: 0, phases: {} };
      expect(await store.latencyOf({ ...german, source: "rows" })).toEqual([point]);
      expect(await store.latencyOf({ ...german, source: "hours" })).toEqual([point]);
      expect(await store.latencyOf({ ...of, projectId: 2, stepS: 60, source: "rows" })).toEqual([]);
      await expect(store.latencyOf({ ...of, stepS: 0.5, source: "rows" })).rejects.toThrow(TypeError);
      await expect(store.latencyOf({ ...of, location: "' or 1", stepS: 60, source: "hours" })).rejects.toThrow(
        TypeError,
      );
    });

    it("takes a list of ten thousand hidden monitors", async () => {
      const withoutMonitorIds = Array.from({ length: 10_000 }, (_, i) => 1_000_000_000 + i);
      await expect(
        store.ofProject({
          projectId: 3,
          period: "7d",
          onlyDown: true,
          limit: 5,
          nowMs,
          details: true,
          withoutMonitorIds,
        }),
      ).resolves.toEqual([]);
    });

    it("thins without losing what is kept", async () => {
      const monitorId = await monitorWith(150);
      await store.thin();
      expect((await store.ofMonitor({ ...query, period: "7d", monitorId })).total).toBe(150);
    });
  });
}
