/** Heartbeats: tokens, the time of the last call, and calls that wait for the sink. */
import type { ShardFilter } from "../coordination/shards-port.ts";

export interface HeartbeatCall {
  readonly up: boolean;
  readonly message: string | null;
  readonly pingMs: number | null;
}
/** A call that waits for the sink. */
export interface InboxRow extends HeartbeatCall {
  readonly id: number;
  readonly monitorId: number;
  readonly atMs: number;
}
export interface Heartbeats {
  /** Active heartbeat of a token's hash; undefined when unknown, paused or deleted. */
  byTokenHash(hash: string): Promise<{ readonly monitorId: number } | undefined>;
  /** @returns the sealed token, for heartbeat_url */
  sealedToken(monitorId: number): Promise<string | undefined>;
  /** The call's time and its inbox row, in one durable transaction, before `ok:true` is answered. */
  record(monitorId: number, atMs: number, call: HeartbeatCall): Promise<void>;
  /** Oldest first. @param filter absent: of all shards */
  inbox(limit: number, filter?: ShardFilter): Promise<readonly InboxRow[]>;
  /** Last call of each active heartbeat, for deadlines. @param filter absent: of all shards */
  lastCalls(filter?: ShardFilter): Promise<ReadonlyMap<number, number>>;
}
