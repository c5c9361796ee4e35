/**
 * The services of docker/roles.yaml without Docker: their commands, settings and health checks as the file has them, run as processes on
 * stores of our own. What only Docker gives (names, secrets, ports of one's own) is put in its place.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { load, YAML11_SCHEMA } from "js-yaml";
import { afterAll, expect, it } from "vitest";
import { freePort } from "../../testkit/free-port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { admin } from "../admin.ts";
import { clientOf } from "../client.ts";
import { createMonitor, productEnv, untilStatus } from "../product.ts";
import type { LocationFacts } from "../roles.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { cleanUp, eventually, runSonde, until } from "../service.ts";
import { startWebsite } from "../targets.ts";

const FILE = fileURLToPath(new URL("../../docker/roles.yaml", import.meta.url));
/** Where the file's roles listen for their health. */
const METRICS_PORT = "9464";
const WITHIN_MS = 60_000;

interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

const shared = await startShared();
afterAll(async () => {
  await cleanUp();
  if (!isMissing(shared)) await shared.stop();
});

withServer("docker/roles.yaml", shared, ({ stores }) => {
  it("names services that start, are healthy and check", { timeout: 3 * WITHIN_MS }, async () => {
    const at = await stores();
    // `<<` merges.
    const { services } = load(readFileSync(FILE, "utf8"), { schema: YAML11_SCHEMA }) as {
      readonly services: Readonly<Record<string, Service>>;
    };
    const secrets = temporaryFolder();
    writeFileSync(join(secrets, "sealing_key"), randomBytes(32).toString("base64"));
    const given: Readonly<Record<string, string>> = {
      SONDE_DATABASE_URL: at.databaseUrl,
      SONDE_REDIS_URL: at.redisUrl,
      SONDE_CLICKHOUSE_URL: at.clickhouseUrl,
    };
    /** What the file says, in this place. */
    const settingsOf = ({ environment = {} }: Service, over: Readonly<Record<string, string>>) =>
      Object.fromEntries(
        Object.entries(environment).map(([name, value]) => [
          name,
          over[name] ?? given[name] ?? value.replace("/run/secrets", secrets),
        ]),
      );

    async function start(name: string, over: Readonly<Record<string, string>>, banner: RegExp) {
      const service = services[name];
      if (service === undefined) throw new Error(`the file has no ${name}`);
      const metricsPort = await freePort();
      const args = (service.command ?? []).map((word) =>
        word.replace("/run/secrets", secrets).replace(METRICS_PORT, String(metricsPort)),
      );
      const env = { ...productEnv(), SONDE_HOST: "0.0.0.0", ...settingsOf(service, over) };
      const { child, output, dataDir, port } = await runSonde({ args, env });
      await until(() => banner.test(output()), child, output);
      const [, program = "", ...words] = service.healthcheck?.test ?? [];
      if (program !== "") {
        const check = words.map((word) => word.replace(METRICS_PORT, String(metricsPort)));
        await eventually(async () => {
          const isWell = await promisify(execFile)(program, check).then(
            () => true,
            () => undefined,
          );
          return isWell;
        }, WITHIN_MS);
      }
      return { output, dataDir, port };
    }

    const api = await start("api-1", {}, /Sonde listens on/);
    const operator = { ...productEnv(), ...given, SONDE_SEALING_KEY_FILE: join(secrets, "sealing_key") };
    const facts = await admin<LocationFacts>(api, operator, "location", "add", "any");
    const redis = new Redis(at.redisUrl);
    const [command = "", ...rule] = facts.acl.split(" ");
    await redis.call(command, ...rule);
    redis.disconnect();
    writeFileSync(join(secrets, "location_any"), facts.key_file);
    await start("scheduler-1", {}, /Sonde schedules/);
    await start("checker-any", { SONDE_REDIS_URL: facts.redis_url }, /Sonde checks from any/);
    const site = await startWebsite();
    const key = readFileSync(join(api.dataDir, "owner.key"), "utf8").trim();
    const client = clientOf(`http://127.0.0.1:${api.port}`, key);
    await untilStatus(
      client,
      await createMonitor(client, { type: "http", name: "site", url: site.url, interval: 1 }),
      "healthy",
      WITHIN_MS,
    );
    await site.close();

    // The others differ in their volumes and their location alone.
    const words = (name: string): string => (services[name]?.command ?? []).join(" ").replaceAll("de", "any");
    expect(words("api-2")).toBe(words("api-1"));
    expect(words("scheduler-2")).toBe(words("scheduler-1"));
    expect(words("checker-de")).toBe(words("checker-any"));
  });
});
