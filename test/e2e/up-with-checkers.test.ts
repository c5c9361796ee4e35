/**
 * One `sonde up` on its embedded stores and a checker abroad, which meet in Redis alone. Abroad is a network namespace: one target is seen only
 * from there, another only from here.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { admin } from "../admin.ts";
import { openNamespace, type ServerNamespace } from "../lab/namespace.ts";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, type Product, productEnv, startProduct, untilMonitor, untilStatus } from "../product.ts";
import { type LocationFacts, type Role, startRole } from "../roles.ts";
import { isMissing } from "../servers/missing.ts";
import { type RedisServer, startRedis } from "../servers/redis.ts";
import { cleanUp, eventually } from "../service.ts";

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

const ONLY_HERE = "127.0.0.2";
/** Loopback of the namespace: the same address here has no server. */
const ONLY_ABROAD = "127.0.0.3";
/** Accepts and greets, inside of the namespace. */
const GREETER =
  'require("net").createServer((s) => s.on("error", () => {}).end("220 ready")).listen(process.argv[2], process.argv[1])';

describeWith(["network namespaces", "redis-server"], "sonde up with a checker abroad", () => {
  let abroad: ServerNamespace;
  let redis: RedisServer;
  let redisUrl: string;
  let service: Product;
  let here: Server;
  let herePort = 0;
  let abroadPort = 0;
  let checker: Role;

  beforeAll(async () => {
    abroad = openNamespace("abrd");
    const started = await startRedis([abroad.clientIp]);
    if (isMissing(started)) throw new Error(started.missing);
    redis = started;
    redisUrl = `redis://${abroad.clientIp}:${redis.port}`;
    here = createServer((socket) => socket.on("error", () => {}).end("220 ready\r\n"));
    herePort = await listen(here, ONLY_HERE);
    abroadPort = await freePort();
    abroad.spawn(process.execPath, "-e", GREETER, ONLY_ABROAD, String(abroadPort));
    service = await startProduct({ env: { SONDE_REDIS_URL: redisUrl } });
  });
  afterAll(async () => {
    here?.close();
    await cleanUp();
    await redis?.stop();
    abroad?.close();
  });

  const adminHere = <Facts>(...words: readonly string[]): Promise<Facts> =>
    admin<Facts>(service, { ...productEnv(), SONDE_REDIS_URL: redisUrl }, ...words);

  /** What the operator does by hand: the location, the rule in Redis, the key file and one command abroad. */
  async function startAbroad(code: string): Promise<Role> {
    const facts = await adminHere<LocationFacts>("location", "add", code);
    const client = new Redis(redis.url);
    const [command = "", ...words] = facts.acl.split(" ");
    await client.call(command, ...words);
    client.disconnect();
    const dataDir = join(temporaryFolder(), "data");
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, `location-${code}.key`), facts.key_file, { mode: 0o600 });
    return startRole(
      {
        dataDir,
        command: abroad.within([process.execPath]),
        args: ["checker", "--location", code],
        env: { ...productEnv(), SONDE_REDIS_URL: facts.redis_url, SONDE_WORKERS: "1" },
      },
      /Sonde checks from/,
    );
  }

  const regions = async (): Promise<Regions["regions"]> => (await service.api.get<Regions>("/regions")).body.regions;
  const monitorFrom = async (locations: string, host: string, port: number): Promise<string> => {
    const body = { type: "port", name: host, host, port, interval: 1, timeout: 10, maxretries: 1 };
    const id = await createMonitor(service.api, body);
    await adminHere("monitor", "locations", id, locations);
    return id;
  };
  const at = (id: string, wanted: Readonly<Record<string, string>>): Promise<unknown> =>
    untilMonitor(service.api, id, (monitor) => {
      const { regional_status: seen } = monitor as unknown as Shown;
      return Object.entries(wanted).every(([code, status]) => seen[code]?.status === status);
    });

  it("knows the location as soon as its checker has come", async () => {
    expect((await regions()).map(({ code }) => code)).toEqual(["any"]);
    checker = await startAbroad("de");
    const known = await eventually(async () => {
      const all = await regions();
      return all.some(({ code, available }) => code === "de" && available) ? all : undefined;
    });
    expect(known.map(({ code, healthy_checkers }) => [code, healthy_checkers])).toEqual([
      ["any", 1],
      ["de", 1],
    ]);
  });

  it("checks each monitor from here and from abroad, and tells what only one of them sees", async () => {
    const [far, near] = await Promise.all([
      monitorFrom("any,de", ONLY_ABROAD, abroadPort),
      monitorFrom("any,de", ONLY_HERE, herePort),
    ]);
    await at(far, { any: "down", de: "up" });
    await at(near, { any: "up", de: "down" });
    for (const id of [far, near]) await untilStatus(service.api, id, "partial");
  });

  it("runs tests and one-off checks where they are asked for", async () => {
    const tunnel = { protocol: "openconnect", username: "ada", password: "pw", timeout: 5, port: abroadPort };
    const checkFrom = async (region: string): Promise<string> => {
      const { status, body } = await service.api.post<{ message?: string; error_category?: string }>("/check", {
        ...{ ...tunnel, host: ONLY_ABROAD, region },
      });
      expect(status).toBe(200);
      return JSON.stringify(body);
    };
    // Abroad a server answers, with a greeting that is no TLS; here none listens.
    expect(await checkFrom("any")).toContain("Connection refused");
    expect(await checkFrom("de")).not.toContain("Connection refused");
  });

  it("says that a checker which stands where this process checks itself gets no runs", async () => {
    const idle = await startAbroad("any");
    await eventually(async () => {
      const { body } = await service.api.get<{ warnings?: readonly string[] }>("/health/deep");
      return body.warnings?.includes("checkers_idle") || undefined;
    });
    await eventually(async () => service.output().includes("this checker gets no runs") || undefined);
    expect(await idle.stop()).toBe(0);
  });

  it("goes on by itself when the checker is gone, and calls nothing down for it", async () => {
    const id = await monitorFrom("any,de", ONLY_HERE, herePort);
    await at(id, { any: "up" });
    const { body: before } = await service.api.get<{ total: number }>(`/results/server/${id}`);
    expect(await checker.stop()).toBe(0);
    await eventually(async () => {
      const { body } = await service.api.get<{ total: number }>(`/results/server/${id}`);
      return body.total > before.total + 2 || undefined;
    });
    await at(id, { any: "up" });
    expect(await service.stop()).toBe(0);
  });
});
