/** A filter of the monitors in SQL: two values of a statement, a mask of the shards and how many there are. */
import { type RawBuilder, sql } from "kysely";
import { SHARD_FACTOR, SHARD_RANGE } from "../../../model/shards.ts";
import type { ShardFilter } from "./shards-port.ts";

/** Shards beyond it would not fit a number's whole part; far more than schedulers will ever be. */
const MOST_SHARDS = 48;

/** True for rows of the part's monitors; takes shardFilterValues. The arithmetic is model/shards.ts' shardOf, and stays below 2^63. */
export const IN_SHARDS = `(cast(? as bigint) >> cast(${shardIn("monitor_id")} * cast(? as bigint) / ${SHARD_RANGE} as integer)) % 2 = 1`;

/** The same for kysely. */
export function isInShards(column: string, filter: ShardFilter | undefined): RawBuilder<boolean> {
  const [mask, count] = shardFilterValues(filter);
  const shard = sql`cast(${sql.raw(shardIn(column))} * cast(${count} as bigint) / ${sql.raw(String(SHARD_RANGE))} as integer)`;
  return sql<boolean>`(cast(${mask} as bigint) >> ${shard}) % 2 = 1`;
}

function shardIn(column: string): string {
  return `((${column} * ${SHARD_FACTOR}) % ${SHARD_RANGE})`;
}

/** Absent: all monitors. */
export function shardFilterValues(
  filter: ShardFilter = { count: 1, shards: [0] },
): readonly [mask: number, count: number] {
  if (filter.count > MOST_SHARDS) throw new RangeError(`at most ${MOST_SHARDS} shards, not ${filter.count}`);
  return [filter.shards.reduce((mask, shard) => mask + 2 ** shard, 0), filter.count];
}
