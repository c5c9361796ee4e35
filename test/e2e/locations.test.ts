/**
 * Locations of a whole installation, roles apart: two APIs, a scheduler, and checkers of `any` (two), `de` and `nl`. What the checker of nl
 * may not reach stands for an outage that only nl sees.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { clientOf, type TestClient } from "../client.ts";
import { createMonitor, productEnv, untilMonitor, untilStatus } from "../product.ts";
import { type Installation, installation, type LocationFacts, type Role } from "../roles.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { cleanUp, eventually, type RunningService } from "../service.ts";
import { startTcp, type TcpTarget } from "../targets.ts";

const shared = await startShared();
afterAll(async () => {
  await cleanUp();
  if (!isMissing(shared)) await shared.stop();
});

interface Shown {
  readonly status: string;
  readonly regional_status: Readonly<Record<string, { readonly status: string }>>;
}
interface Regions {
  readonly regions: readonly {
    readonly code: string;
    readonly healthy_checkers: number;
    readonly available: boolean;
  }[];
}
interface Results {
  readonly total: number;
  readonly results: readonly {
    readonly status: string;
    readonly error_message: string | null;
    readonly explain: { readonly location: string; readonly checker: string };
  }[];
}

const PLAN = { requestsPerMinute: 100_000 };
/** No server listens there. */
const TUNNEL = { protocol: "openconnect", host: "127.0.0.1", port: 9, username: "ada", password: "pw", timeout: 10 };
const NOT_FROM_NL = "127.0.0.2";

/** A port at the address that nl may not reach. */
async function startBeyond(): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((socket) => socket.on("error", () => {}).end("220 ready\r\n"));
  const port = await listen(server, NOT_FROM_NL);
  return { port, close: () => server.close() };
}

withServer("locations on roles apart", shared, ({ stores }) => {
  describe("an installation of many processes", () => {
    let all: Installation;
    let apis: readonly RunningService[];
    let clients: readonly TestClient[];
    let api: TestClient;
    let scheduler: Role;
    const checkers: Record<string, Role> = {};
    let target: TcpTarget;
    let key = "";

    beforeAll(async () => {
      all = installation(await stores(), productEnv(PLAN));
      const first = await all.startApi();
      key = first.firstKey ?? "";
      apis = [first, await all.startApi()];
      clients = apis.map(({ url }) => clientOf(url, key));
      api = clients[0] as TestClient;
      scheduler = await all.startScheduler();
      const fromNl = { SONDE_ALLOW_NETS: "127.0.0.1/32" };
      [checkers.any, checkers.other, checkers.de, checkers.nl] = await Promise.all([
        all.startChecker("any", { args: ["--name", "one"] }),
        all.startChecker("any", { args: ["--name", "two"] }),
        all.startChecker("de"),
        all.startChecker("nl", { env: fromNl }),
      ]);
      target = await startTcp();
    });
    afterAll(async () => {
      await target?.close();
    });

    const role = (name: string): Role => {
      const found = checkers[name];
      if (found === undefined) throw new Error(`there is no checker ${name}`);
      return found;
    };
    const shown = (id: string, wanted: (monitor: Shown) => boolean, withinMs = 30_000) =>
      untilMonitor(api, id, (monitor) => wanted(monitor as unknown as Shown), withinMs) as unknown as Promise<Shown>;
    const results = async (id: string) => (await api.get<Results>(`/results/server/${id}?limit=100&explain=1`)).body;
    const monitorAt = async (host: string, codes: string, over: Readonly<Record<string, unknown>> = {}) => {
      const body = { type: "port", name: codes, host, port: target.port, interval: 1, maxretries: 1, ...over };
      const id = await createMonitor(api, body);
      if (codes !== "any") await all.admin("monitor", "locations", id, codes);
      return id;
    };

    it("counts its checkers, whichever API is asked", async () => {
      for (const client of clients) {
        const { regions } = await eventually(async () => {
          const { body } = await client.get<Regions>("/regions");
          // Each checker reports by itself, so a location is available before its last one is counted.
          const counted = body.regions.reduce((sum, { healthy_checkers }) => sum + healthy_checkers, 0);
          return body.regions.every(({ available }) => available) && counted >= 4 ? body : undefined;
        });
        expect(regions.map((one) => [one.code, one.healthy_checkers])).toEqual([
          ["any", 2],
          ["de", 1],
          ["nl", 1],
        ]);
        expect((await client.get("/health/deep")).status).toBe(200);
      }
    });

    it("checks from each location, and tells an outage that only one sees", async () => {
      const both = await monitorAt("127.0.0.1", "de,nl");
      const beyond = await startBeyond();
      const split = await monitorAt(NOT_FROM_NL, "de,nl", { port: beyond.port });
      const healthy = await shown(both, ({ regional_status: at }) => at.de?.status === "up" && at.nl?.status === "up");
      expect(healthy.status).toBe("healthy");
      const partial = await shown(split, ({ status }) => status === "partial");
      expect(partial.regional_status).toMatchObject({ de: { status: "up" }, nl: { status: "down" } });
      // Its first check may have been at any, before its locations were chosen.
      await eventually(async () => {
        const seen = new Set((await results(split)).results.map(({ explain }) => explain.location));
        return (seen.has("de") && seen.has("nl")) || undefined;
      });
      await all.admin("monitor", "disable-location", split, "nl");
      await untilStatus(api, split, "healthy");
      beyond.close();
    });

    it("keeps a monitor at one checker, and moves it when that is killed; nothing goes down and no row is a fault of ours", async () => {
      const ids = await Promise.all(Array.from({ length: 8 }, () => monitorAt("127.0.0.1", "any")));
      for (const id of ids) await untilStatus(api, id, "healthy");
      const before = await Promise.all(ids.map(async (id) => (await results(id)).total));
      await role("other").kill();
      for (const [at, id] of ids.entries()) {
        await eventually(async () => ((await results(id)).total > (before[at] ?? 0) + 12 ? true : undefined), 60_000);
        const { results: rows } = await results(id);
        expect(rows.filter(({ status }) => status !== "healthy")).toEqual([]);
      }
    }, 120_000);

    it("restarts its only checker of a location without a visible gap", async () => {
      const id = await monitorAt("127.0.0.1", "de");
      await untilStatus(api, id, "healthy");
      expect(await role("de").stop()).toBe(0);
      checkers.de = await all.startChecker("de");
      const { total } = await results(id);
      await eventually(async () => ((await results(id)).total > total + 2 ? true : undefined));
      const { results: rows } = await results(id);
      expect(rows.filter(({ status }) => status !== "healthy")).toEqual([]);
      expect((await shown(id, () => true)).regional_status.de?.status).toBe("up");
    });

    it("changes a location's key beside everything that runs", async () => {
      const id = await monitorAt("127.0.0.1", "de");
      await untilStatus(api, id, "healthy");
      const { key_file } = await all.admin<LocationFacts>("location", "rotate", "de");
      writeFileSync(join(role("de").dataDir, "location-de.key"), key_file);
      await all.admin("location", "rotate", "de", "--finish");
      const { total } = await results(id);
      await eventually(async () => ((await results(id)).total > total + 5 ? true : undefined));
      expect((await results(id)).results.filter(({ status }) => status !== "healthy")).toEqual([]);
      expect((await api.post("/check", { ...TUNNEL, region: "de" })).status).toBe(200);
    });

    it("runs tests and checks where they are asked for, or from the general pool, or not at all", async () => {
      const tunnel = await createMonitor(api, { ...TUNNEL, name: "T", interval: 86_400 });
      await untilMonitor(api, tunnel, ({ last_checked }) => last_checked !== null);
      for (const [client, region] of [
        [clients[0], "de"],
        [clients[1], "nl"],
        [clients[1], "fr"],
      ] as const) {
        expect((await client?.post("/test", { server_id: tunnel, region }))?.status).toBe(200);
        expect((await client?.post("/check", { ...TUNNEL, region }))?.status).toBe(200);
      }
      const regions = await eventually(async () => {
        const found = (await results(tunnel)).results.map(({ explain }) => explain.location);
        return found.length >= 4 ? found : undefined;
      });
      expect([...regions].sort()).toEqual(["any", "any", "de", "nl"]);
      const unserved = { region: "fr", region_fallback: "fail" };
      for (const [path, body] of [
        ["/test", { server_id: tunnel, ...unserved }],
        ["/test/batch", { server_ids: [tunnel], ...unserved }],
        ["/check", { ...TUNNEL, ...unserved }],
      ] as const) {
        const { status, body: answer } = await api.post<{ message: string }>(path, body);
        expect([path, status, answer.message]).toEqual([path, 503, "No checker is available in this region."]);
      }
    });

    it("shares limits, keys and heartbeats among its APIs", async () => {
      const remaining = async (client: TestClient | undefined) =>
        Number((await client?.get("/servers"))?.headers.get("x-ratelimit-remaining"));
      const [first, second] = [await remaining(clients[0]), await remaining(clients[1])];
      expect(second).toBeLessThan(first);
      const { body } = await api.post<{ key: string; id: string | number }>("/keys", { name: "gone soon" });
      const theirs = apis.map(({ url }) => clientOf(url, body.key));
      for (const client of theirs) expect((await client.get("/servers")).status).toBe(200);
      const keyId = /^uk(\d+)_/.exec(body.key)?.[1] ?? "";
      await all.admin("key", "disable", keyId);
      for (const client of theirs) expect((await client.get("/servers")).status).toBe(401);

      const push = await createMonitor(api, { type: "push", name: "Job", period: 60 });
      const { body: made } = await api.get<{ heartbeat_url: string }>(`/servers/${push}`);
      const path = new URL(made.heartbeat_url).pathname;
      const answers = await Promise.all(apis.map(({ url }) => fetch(`${url}${path}`)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      await eventually(async () => ((await results(push)).total === 2 ? true : undefined));
      await untilStatus(api, push, "healthy");
    });

    it("leaves out a location whose checker is gone for a minute, and takes it in again", async () => {
      const id = await monitorAt("127.0.0.1", "de,nl");
      await shown(id, ({ regional_status: at }) => at.de?.status === "up" && at.nl?.status === "up");
      await role("nl").kill();
      const away = await shown(id, ({ regional_status: at }) => at.nl?.status === "unavailable", 90_000);
      expect([away.status, away.regional_status.de?.status]).toEqual(["healthy", "up"]);
      const { body } = await api.get<Regions>("/regions");
      expect(body.regions.find(({ code }) => code === "nl")).toMatchObject({ healthy_checkers: 0, available: false });
      checkers.nl = await all.startChecker("nl");
      await shown(id, ({ regional_status: at }) => at.nl?.status === "up");
    }, 150_000);

    it("stops whole: nothing is left that says a fault of ours", async () => {
      for (const one of [...Object.values(checkers), scheduler, ...apis]) {
        if (one.child.exitCode === null && one.child.signalCode === null) expect(await one.stop()).toBe(0);
        expect(one.output()).not.toMatch(/"level":[56]0/);
      }
    }, 60_000);
  });
});
