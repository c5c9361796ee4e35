/** The operator's acts on PostgreSQL and Redis. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startPostgres } from "../servers/postgres.ts";
import { startRedis } from "../servers/redis.ts";
import { adminSuite } from "./admin.suite.ts";

const postgres = await startPostgres();
const redis = await startRedis();
afterAll(async () => {
  if (!isMissing(postgres)) await postgres.stop();
  if (!isMissing(redis)) await redis.stop();
});

withServer("sonde admin on PostgreSQL", postgres, ({ createDatabase }) =>
  withServer("sonde admin on Redis", redis, ({ url }) =>
    adminSuite(
      "PostgreSQL and Redis",
      async () => {
        const keyFile = join(temporaryFolder(), "sealing.key");
        writeFileSync(keyFile, randomBytes(32));
        const { url: database } = await createDatabase();
        return { env: { SONDE_DATABASE_URL: database, SONDE_REDIS_URL: url, SONDE_SEALING_KEY_FILE: keyFile } };
      },
      "no refusals",
    ),
  ),
);
