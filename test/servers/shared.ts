/** PostgreSQL, Redis and a ClickHouse that several processes share. */
import type { SharedStores } from "../roles.ts";
import { startTestClickHouse, type TestClickHouse } from "../store/embedded.ts";
import { isMissing } from "./missing.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { type RedisServer, startRedis } from "./redis.ts";
import type { Missing } from "./server.ts";

export interface SharedServers {
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  readonly clickhouse: TestClickHouse;
  /** Empty ones: a database, and a Redis that is wiped. */
  stores(): Promise<SharedStores>;
  stop(): Promise<void>;
}

export async function startShared(): Promise<SharedServers | Missing> {
  const postgres = await startPostgres();
  if (isMissing(postgres)) return postgres;
  const redis = await startRedis();
  if (isMissing(redis)) {
    await postgres.stop();
    return redis;
  }
  const clickhouse = await startTestClickHouse();
  return {
    postgres,
    redis,
    clickhouse,
    async stores() {
      const { url } = await postgres.createDatabase();
      return { databaseUrl: url, redisUrl: redis.url, clickhouseUrl: clickhouse.url };
    },
    async stop() {
      await clickhouse.remove();
      await redis.stop();
      await postgres.stop();
    },
  };
}
