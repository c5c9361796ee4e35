/** Backup of a service that runs, restored on what looks like another machine; a restore that is killed, and disks without room. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { clientOf, type MonitorBody } from "../client.ts";
import { killRounds } from "../kill-rounds.ts";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, type Product, productEnv, startProduct, untilStatus } from "../product.ts";
import { cleanUp, ended, eventually, runSonde, startService } from "../service.ts";
import { startWebsite } from "../targets.ts";

/** Of restores that are killed. */
const RESTORES = killRounds(4);

interface Said {
  readonly code: number | null;
  readonly output: string;
}

async function sonde(dataDir: string, ...args: readonly string[]): Promise<Said> {
  const { child, output } = await runSonde({ dataDir, args });
  const code = await ended(child, () => {});
  return { code, output: output() };
}

describe("a service that runs", () => {
  let product: Product;
  let site: Awaited<ReturnType<typeof startWebsite>>;
  let healthy = "";
  let broken = "";
  const folder = temporaryFolder();
  const archive = join(folder, "backup.tar.gz");
  const key = join(folder, "kept.key");

  beforeAll(async () => {
    site = await startWebsite();
    product = await startProduct();
    healthy = await createMonitor(product.api, { type: "http", name: "Good", url: site.url, interval: 1 });
    broken = await createMonitor(product.api, {
      type: "port",
      name: "Bad",
      host: "127.0.0.1",
      port: 9,
      interval: 1,
      maxretries: 0,
    });
    await untilStatus(product.api, broken, "down");
    await eventually(async () => {
      const { body } = await product.api.get<{ total: number }>(`/results/server/${healthy}`);
      return body.total > 4 ? true : undefined;
    });
  });
  afterAll(async () => {
    await cleanUp();
    await site.close();
  });

  it("is backed up beside its work", async () => {
    const { code, output } = await sonde(product.dataDir, "backup", "--out", archive);
    expect(output).toMatch(/2 monitors, [1-9]\d* results?; it was read back and is whole/);
    expect(output).toContain(`keep a copy of ${join(product.dataDir, "sealing.key")}`);
    expect(code).toBe(0);
    expect(statSync(archive).mode & 0o777).toBe(0o600);
    cpSync(join(product.dataDir, "sealing.key"), key);
  });

  it("is there again on another machine: monitors, results, incidents, keys", async () => {
    const before = await product.api.get<{ incidents: { id: string }[] }>("/incidents");
    await product.kill();
    const dataDir = join(folder, "elsewhere");
    const restored = await sonde(dataDir, "restore", archive, "--data", dataDir, "--key", key);
    expect(restored.code, restored.output).toBe(0);
    const command = ["unshare", "--uts", "sh", "-c", 'hostname elsewhere; exec "$0" "$@"', process.execPath];
    const env = productEnv();
    const isRoot = process.getuid?.() === 0;
    const service = await startService({ dataDir, env, ...(isRoot && { command }) });
    expect(service.firstKey).toBeNull();
    const api = clientOf(service.url, product.key);
    const { body } = await api.get<{ servers: MonitorBody[] }>("/servers?family=all");
    expect(body.servers.map(({ id, name }) => [id, name]).sort()).toEqual([
      [healthy, "Good"],
      [broken, "Bad"],
    ]);
    const incidents = await api.get<{ incidents: { id: string }[] }>("/incidents");
    expect(incidents.body.incidents.map(({ id }) => id)).toEqual(before.body.incidents.map(({ id }) => id));
    // Those of before the backup, and new ones after them: nothing is asked for twice, nothing stands still.
    await eventually(async () => {
      const { body: found } = await api.get<{ results: { tested_at: string }[]; total: number }>(
        `/results/server/${healthy}?limit=1000`,
      );
      return found.total > 7 ? true : undefined;
    });
    expect(await service.stop()).toBe(0);
  });

  it("has all of it or nothing when the restore is killed", { timeout: RESTORES * 45_000 }, async () => {
    for (let round = 0; round < RESTORES; round++) {
      const dataDir = join(folder, `killed-${round}`);
      const { child, output } = await runSonde({
        dataDir,
        args: ["restore", archive, "--data", dataDir, "--key", key],
      });
      const isUnderWay = (): boolean =>
        existsSync(join(dataDir, ".restoring", round % 2 === 0 ? "clickhouse" : "control.sqlite"));
      await eventually(async () => (isUnderWay() || child.exitCode !== null ? true : undefined));
      await ended(child, () => child.kill("SIGKILL"));
      const again = await sonde(dataDir, "restore", archive, "--data", dataDir, "--key", key);
      // Whole already, or made whole now.
      const isWhole = again.code === 0 || /not empty/.test(again.output);
      expect(isWhole, `${output()} ${again.output}`).toBe(true);
      expect(readdirSync(dataDir)).toEqual(
        expect.arrayContaining(["control.sqlite", "clickhouse", "sealing.key", "spool"]),
      );
    }
  });

  describeWith(["tmpfs mount"], "a disk without room", () => {
    it("keeps no half of a backup, and no half of a restore", async () => {
      const [data, disk] = [join(folder, "killed-0"), join(folder, "disk")];
      mkdirSync(disk);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", disk]);
      try {
        await refuses(data, disk);
      } finally {
        execFileSync("umount", [disk]);
      }
    });

    async function refuses(data: string, disk: string): Promise<void> {
      const saved = await sonde(data, "backup", "--out", join(disk, "backup.tar.gz"));
      expect(saved.output).toMatch(/disk of .* is full/);
      expect(saved.code).toBe(1);
      expect(readdirSync(disk)).toEqual([]);
      const restored = await sonde(data, "restore", archive, "--data", join(disk, "data"), "--key", key);
      expect(restored.output).toMatch(/MiB, and the disk of/);
      expect(readdirSync(join(disk, "data")).filter((name) => !name.startsWith("owner.lock"))).toEqual([]);
    }
  });
});
