/** The search for secrets on PostgreSQL and Redis, with the embedded ClickHouse. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { afterAll } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startPostgres } from "../servers/postgres.ts";
import { startRedis } from "../servers/redis.ts";
import { noSecretSuite } from "./no-secret.suite.ts";

const postgres = await startPostgres();
const redis = await startRedis();
afterAll(async () => {
  if (!isMissing(postgres)) await postgres.stop();
  if (!isMissing(redis)) await redis.stop();
});

withServer("the search for secrets on PostgreSQL", postgres, ({ createDatabase }) =>
  withServer("the search for secrets on Redis", redis, ({ url }) =>
    noSecretSuite("PostgreSQL and Redis", async () => {
      const keyFile = join(temporaryFolder(), "sealing.key");
      writeFileSync(keyFile, randomBytes(32));
      const { url: database } = await createDatabase();
      return {
        settings: { env: { SONDE_DATABASE_URL: database, SONDE_REDIS_URL: url, SONDE_SEALING_KEY_FILE: keyFile } },
        dump: async () => ({ ...(await tablesOf(database)), ...(await valuesOf(url)) }),
      };
    }),
  ),
);

async function tablesOf(url: string): Promise<Record<string, string>> {
  const client = new pg.Client(url);
  await client.connect();
  const dump: Record<string, string> = {};
  const tables = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  for (const { name } of tables.rows) {
    const { rows } = await client.query<{ row: string }>(`select t::text as row from "${name}" t`);
    dump[`table ${name}`] = rows.map(({ row }) => row).join("\n");
  }
  await client.end();
  return dump;
}

/** As Redis would write them to its own file. */
async function valuesOf(url: string): Promise<Record<string, string>> {
  const client = new Redis(url);
  const dump: Record<string, string> = {};
  for (const key of await client.keys("*"))
    dump[`key ${key}`] = (await client.dumpBuffer(key))?.toString("latin1") ?? "";
  await client.quit();
  return dump;
}
