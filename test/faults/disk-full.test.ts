/** A disk that is full and stays so: checks, statuses and incidents go on, the operator is told, and no row is lost when there is room again. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import type { ResultsBody } from "../client.ts";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, type Product, startProduct, untilStatus } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import { startWebsite } from "../targets.ts";

const TIMEOUT_MS = 120_000;
const RECOVERED_WITHIN_MS = 40_000;
/** The embedded ClickHouse lays a ballast of 64 MiB where twice that is free. */
const DISK = "size=200m";
/** What is freed is filled again so soon, ms. */
const FILLED_EVERY_MS = 20;

const disk = join(temporaryFolder(), "disk");
afterAll(cleanUp);

/** Fills the disk to its last page, and again whatever is freed. @returns what makes room */
function fill(): () => void {
  const path = join(disk, "filler");
  const file = openSync(path, "w");
  const block = Buffer.alloc(256 * 1_024, 1);
  const write = (bytes: number): void => {
    try {
      for (;;) writeSync(file, block, 0, bytes);
    } catch {
      if (bytes > 4_096) write(4_096);
    }
  };
  write(block.length);
  const filling = setInterval(() => write(block.length), FILLED_EVERY_MS);
  return () => {
    clearInterval(filling);
    closeSync(file);
    rmSync(path);
  };
}

async function rowsOf({ api }: Product, id: string): Promise<ResultsBody | undefined> {
  const { status, body } = await api.get<ResultsBody>(`/results/server/${id}?limit=1000&period=1h`);
  return status === 200 ? body : undefined;
}

async function lateRows({ url }: Product): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^sonde_sink_late_rows (\S+)$/m.exec(text)?.[1]);
}

describeWith(["tmpfs mount"], "a disk that is full", () => {
  it("stops neither statuses nor incidents, is told, and costs no row", { timeout: TIMEOUT_MS }, async () => {
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", DISK, "tmpfs", disk]);
    try {
      const site = await startWebsite();
      const product = await startProduct({ dataDir: join(disk, "data"), env: { SONDE_LOG: "info" } });
      const { api } = product;
      const body = { type: "http", name: "Site", url: site.url, interval: 1, timeout: 10, maxretries: 1 };
      const id = await createMonitor(api, body);
      await untilStatus(api, id, "healthy");
      await eventually(async () => (((await rowsOf(product, id))?.total ?? 0) > 0 ? true : undefined));

      const makeRoom = fill();
      site.answer(500);
      await untilStatus(api, id, "down");
      expect((await api.get("/incidents")).body).toMatchObject({ active: 1 });
      await eventually(async () => ((await lateRows(product)) > 0 ? true : undefined));
      const deep = await api.get<{ details: object }>("/health/deep");
      expect([deep.status, deep.body.details]).toEqual([
        503,
        {
          checks: expect.objectContaining({ queue: { status: "error", latency_ms: null } }),
          // What cannot be written waits, too: the store is on the same disk.
          warnings: expect.arrayContaining(["results_unwritten"]),
        },
      ]);
      const requests = site.requests();
      await eventually(async () => (site.requests() > requests + 5 ? true : undefined));
      const linesOf = (words: string) => product.output().split(words).length - 1;
      expect([linesOf("incident opened"), linesOf("results cannot be written to disk")]).toEqual([1, 1]);

      makeRoom();
      site.answer(200);
      await untilStatus(api, id, "healthy", RECOVERED_WITHIN_MS);
      await eventually(
        async () => ((await api.get("/health/deep")).status === 200 ? true : undefined),
        RECOVERED_WITHIN_MS,
      );
      expect(linesOf("incident closed")).toBe(1);
      // No new check comes; what runs or waits is still recorded.
      await api.put(`/servers/${id}`, { interval: 3_600 });
      const total = async () => (await rowsOf(product, id))?.total ?? 0;
      await eventually(async () => ((await total()) >= site.requests() ? true : undefined), RECOVERED_WITHIN_MS);
      const rows = await rowsOf(product, id);
      expect(new Set(rows?.results.map((row) => row.id)).size).toBe(site.requests());
      expect(await lateRows(product)).toBe(0);
      expect(await product.stop()).toBe(0);
      await site.close();
    } finally {
      // Lazily: a service that a failed test left is ended afterwards.
      execFileSync("umount", ["--lazy", disk]);
    }
  });
});
