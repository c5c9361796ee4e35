/** Heartbeats: tokens, the time of the last call, and calls that wait for the sink. */

import { IN_SHARDS, isInShards, shardFilterValues } from "../coordination/shard-filter.ts";
import { type Database, statement } from "../db/database.ts";
import { decoder, recordColumns } from "../schema/column.ts";
import { HEARTBEAT_INBOX, type Row } from "../schema/tables.ts";
import { storableOrNull } from "../schema/text.ts";
import type { Heartbeats, InboxRow } from "./heartbeats-port.ts";

const BY_HASH = statement(
  "heartbeat_by_hash",
  `select h.monitor_id as id from heartbeats h join monitors m on m.id = h.monitor_id
   where h.token_hash = ? and m.active = 1 and m.deleted_at_ms is null`,
);
const SEALED_TOKEN = statement("heartbeat_token", "select token_sealed as sealed from heartbeats where monitor_id = ?");
/** A call that was delayed never puts the time back. */
const CALLED = statement(
  "heartbeat_called",
  `update heartbeats set last_call_at_ms = case when last_call_at_ms > ? then last_call_at_ms else ? end
   where monitor_id = ? returning monitor_id`,
);
const ADD_TO_INBOX = statement(
  "heartbeat_inbox_add",
  "insert into heartbeat_inbox (monitor_id, at_ms, up, message, ping_ms) values (?, ?, ?, ?, ?)",
);
const INBOX = statement(
  "heartbeat_inbox",
  `select ${recordColumns(HEARTBEAT_INBOX).join(", ")} from heartbeat_inbox where ${IN_SHARDS} order by id limit ?`,
);

const toInboxRow: (row: Row<"heartbeat_inbox">) => InboxRow = decoder(HEARTBEAT_INBOX);

export function createHeartbeats({ read, write }: Database): Heartbeats {
  return {
    async byTokenHash(hash) {
      const row = (await read.query<{ id: number }>(BY_HASH, hash))[0];
      return row && { monitorId: row.id };
    },
    async sealedToken(monitorId) {
      return (await read.query<{ sealed: string }>(SEALED_TOKEN, monitorId))[0]?.sealed;
    },
    record: (monitorId, atMs, { up, message, pingMs }) =>
      write(async (session) => {
        const called = await session.query(CALLED, atMs, atMs, monitorId);
        // Deleted since the token was looked up.
        if (called.length === 0) return;
        await session.query(ADD_TO_INBOX, monitorId, atMs, up ? 1 : 0, storableOrNull(message), pingMs);
      }),
    async inbox(limit, filter) {
      return (await read.query<Row<"heartbeat_inbox">>(INBOX, ...shardFilterValues(filter), limit)).map(toInboxRow);
    },
    async lastCalls(filter) {
      const rows = await read.kysely
        .selectFrom("heartbeats as h")
        .innerJoin("monitors as m", "m.id", "h.monitor_id")
        .select(["h.monitor_id as id", "h.last_call_at_ms as atMs"])
        .where("m.active", "=", 1)
        .where("m.deleted_at_ms", "is", null)
        .where(isInShards("m.id", filter))
        .execute();
      return new Map(rows.flatMap(({ id, atMs }) => (atMs === null ? [] : [[id, atMs] as const])));
    },
  };
}
