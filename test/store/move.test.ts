/** A move of a whole service from its data folder to PostgreSQL, Redis and ClickHouse, and back; killed on its way, and with what must be refused. */

import { randomBytes } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COPIED_TABLES } from "../../store/sql/copy/copied-tables.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { clientOf, type MonitorBody, type TestClient } from "../client.ts";
import { killRounds } from "../kill-rounds.ts";
import { createMonitor, type Product, productEnv, startProduct, untilStatus } from "../product.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { type SharedServers, startShared } from "../servers/shared.ts";
import { cleanUp, ended, eventually, runSonde, startService } from "../service.ts";
import { startWebsite } from "../targets.ts";

const shared = await startShared();

afterAll(async () => {
  await cleanUp();
  if (!isMissing(shared)) await shared.stop();
});

withServer("PostgreSQL and Redis", shared, moves);

interface Facts {
  readonly resumed: boolean;
  readonly tables: Readonly<Record<string, { readonly rows: number; readonly sha256: string }>>;
  readonly results: Readonly<Record<string, { readonly rows: number; readonly sum: string }>>;
  readonly counters: number;
  readonly missed: { readonly turns: number; readonly monitors: number };
}

/** Where moves are killed: the last one goes on from where the one before it ended. */
const KILLS = [
  ...Array.from({ length: killRounds(2) - 2 }, (_, round) => ({
    step: `carrying ${COPIED_TABLES[(7 * round) % COPIED_TABLES.length]?.name}`,
    anew: ["--anew"],
  })),
  { step: "carrying incidents", anew: ["--anew"] },
  { step: "carrying results: recent", anew: [] },
];

/** What a caller sees of an installation. */
async function seen(api: TestClient): Promise<unknown> {
  const { body: list } = await api.get<{ servers: MonitorBody[] }>("/servers?family=all");
  const incidents = await api.get<{ incidents: { id: string; started_at: string }[] }>("/incidents");
  const keys = await api.get<{ keys: { id: number }[] }>("/keys");
  const histories = await Promise.all(
    list.servers.map(async ({ id }) => (await api.get<{ entries: object[] }>(`/servers/${id}/history`)).body.entries),
  );
  return {
    monitors: list.servers.map(({ id, name, type }) => ({ id, name, type })),
    incidents: incidents.body.incidents.map(({ id, started_at }) => ({ id, started_at })),
    keys: keys.body.keys.map(({ id }) => id),
    histories,
  };
}

function moves(servers: SharedServers): void {
  describe("a service", () => {
    const folder = temporaryFolder();
    const keyFile = join(folder, "sealing.key");
    let site: Awaited<ReturnType<typeof startWebsite>>;
    let product: Product;
    let env: Record<string, string>;
    let before: unknown;
    let webhookId = 0;

    const sonde = async (dataDir: string, ...args: readonly string[]) => {
      const { child, output } = await runSonde({ dataDir, env: { ...env, SONDE_LOG: "error" }, args });
      return { code: await ended(child, () => {}), output: output() };
    };
    /** Dies as soon as it says so. @returns what it has said */
    const killedAt = async (words: string, dataDir: string, ...to: readonly string[]): Promise<string> => {
      const { child, output } = await runSonde({ dataDir, env, args: ["move", "--to", ...to] });
      child.stderr?.on("data", () => {
        if (output().includes(words)) child.kill("SIGKILL");
      });
      await ended(child, () => {});
      return output();
    };
    const factsOf = (output: string): Facts => JSON.parse(output.slice(output.indexOf("{\n"))) as Facts;

    beforeAll(async () => {
      const { databaseUrl, redisUrl, clickhouseUrl } = await servers.stores();
      env = {
        ...productEnv(),
        SONDE_DATABASE_URL: databaseUrl,
        SONDE_REDIS_URL: redisUrl,
        SONDE_CLICKHOUSE_URL: clickhouseUrl,
        SONDE_SEALING_KEY_FILE: keyFile,
      };
      site = await startWebsite();
      product = await startProduct();
      const website = { type: "http", url: `${site.url}?secret=1`, interval: 1 };
      const good = await createMonitor(product.api, { ...website, name: "Good" });
      const bad = { type: "port", name: "Bad", host: "127.0.0.1", port: 9, interval: 1, maxretries: 0 };
      await untilStatus(product.api, await createMonitor(product.api, bad), "down");
      await createMonitor(product.api, { ...website, name: "Deleted" });
      await product.api.remove("/servers/srv_3");
      await createMonitor(product.api, { type: "push", name: "Job", period: 60 });
      const { child, output } = await runSonde({
        dataDir: product.dataDir,
        args: ["admin", "webhook", "create", "--project", "prj_1", "--url", "https://hooks.test-site.org/a", "--json"],
      });
      await ended(child, () => {});
      webhookId = (JSON.parse(output()) as { id: number }).id;
      await eventually(async () => {
        const { body } = await product.api.get<{ total: number }>(`/results/server/${good}`);
        return body.total > 3 ? true : undefined;
      });
      before = await seen(product.api);
    });
    afterAll(() => site.close());

    it("is refused while it runs, with another key, and where something is in use", async () => {
      cpSync(join(product.dataDir, "sealing.key"), keyFile);
      expect((await sonde(product.dataDir, "move", "--to", "servers")).output).toMatch(/another sonde uses/);
      expect(await product.stop()).toBe(0);
      writeFileSync(keyFile, randomBytes(32));
      expect((await sonde(product.dataDir, "move", "--to", "servers")).output).toMatch(/is not the one/);
      cpSync(join(product.dataDir, "sealing.key"), keyFile);
      expect((await sonde(product.dataDir, "move", "--to", "folder")).output).toMatch(/holds nothing of Sonde/);
      expect((await sonde(product.dataDir, "move", "--to", "moon")).code).toBe(1);
    });

    it("is on the servers after a move that was killed and went on", { timeout: KILLS.length * 90_000 }, async () => {
      for (const { step, anew } of KILLS)
        expect(await killedAt(step, product.dataDir, "servers", ...anew)).toContain(step);
      const early = await runSonde({ dataDir: join(folder, "early"), env, args: ["up"] });
      expect(await ended(early.child, () => {})).toBe(1);
      expect(early.output()).toMatch(/not finished: run sonde move again/);
      const { code, output } = await sonde(product.dataDir, "move", "--to", "servers", "--json");
      expect(code, output).toBe(0);
      const { resumed, tables, results, counters, missed } = factsOf(output);
      expect(resumed).toBe(true);
      expect(tables).toMatchObject({ monitors: { rows: 4 }, users: { rows: 1 }, webhooks: { rows: 1 } });
      expect(results.results?.rows).toBeGreaterThan(5);
      expect(results.recent?.rows).toBe(results.results?.rows);
      expect(counters).toBe(1);
      expect(missed.monitors).toBe(2);
    });

    it("shows the same there, gives the next ids, and moves back", async () => {
      const service = await startService({ dataDir: join(folder, "up"), env });
      expect(service.firstKey).toBeNull();
      const api = clientOf(service.url, product.key);
      expect(await seen(api)).toEqual(before);
      const { body } = await api.post<MonitorBody>("/servers", {
        type: "http",
        name: "New",
        url: site.url,
        interval: 1,
      });
      expect(body.id).toBe("srv_5");
      await untilStatus(api, "srv_1", "healthy");
      await untilStatus(api, "srv_5", "healthy");
      const there = await seen(api);
      const back = join(folder, "back");
      expect((await sonde(back, "move", "--to", "folder")).output).toMatch(/a scheduler runs/);
      expect(await service.stop()).toBe(0);

      expect(await killedAt("carrying results", back, "folder")).toContain("carrying results");
      const { code, output } = await sonde(back, "move", "--to", "folder", "--json");
      expect(code, output).toBe(0);
      expect(factsOf(output)).toMatchObject({ resumed: true, tables: { monitors: { rows: 5 } } });
      expect(readFileSync(join(back, "sealing.key")).equals(readFileSync(keyFile))).toBe(true);

      const home = await startService({ dataDir: back, env: productEnv() });
      const client = clientOf(home.url, product.key);
      expect(await seen(client)).toEqual(there);
      await untilStatus(client, "srv_5", "healthy");
      const sealed = await client.get<{ total: number }>("/results/server/srv_1?period=24h");
      expect(sealed.body.total).toBeGreaterThan(3);
      expect(webhookId).toBeGreaterThan(0);
      expect(await home.stop()).toBe(0);
    });
  });
}
