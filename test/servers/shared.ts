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

export interface ServerAddresses {
  readonly postgres?: readonly string[];
  readonly redis?: readonly string[];
}

/** @param addresses of this machine where they listen besides loopback */
export async function startShared(addresses: ServerAddresses = {}): Promise<SharedServers | Missing> {
  const postgres = await startPostgres(addresses.postgres);
  if (isMissing(postgres)) return postgres;
  const redis = await startRedis(addresses.redis);
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
