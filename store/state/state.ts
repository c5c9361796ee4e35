/**
 * State: what is counted and passed on, not kept for ever. In process (counters persisted in SQLite) or Redis, one shared suite.
 */
import type { MaybePromise } from "../../model/maybe-promise.ts";
import type { Answers } from "./answers.ts";
import type { Broadcasts } from "./broadcasts.ts";

export interface State {
  readonly counters: Counters;
  readonly notices: Notices;
  readonly rows: RowFeed;
  readonly answers: Answers;
  readonly broadcasts: Broadcasts;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Limits of a workspace; null is unlimited. */
export interface RequestLimits {
  readonly perMinute: number | null;
  readonly perDay: number | null;
  readonly perMonth: number | null;
}
export type RequestWindow = "minute" | "day" | "month";
/** Where a workspace stands in its fixed UTC windows after the request was taken or refused. */
export interface RequestTake {
  /** The window that refused; null when the request was taken. A refused request is not counted. */
  readonly refusedBy: RequestWindow | null;
  readonly usedInMinute: number;
}
export interface RequestUsage {
  readonly minute: number;
  readonly day: number;
  readonly month: number;
}

/** Requests of one key to one endpoint on one day. */
export interface EndpointUsage {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly keyId: number;
  readonly endpoint: string;
  readonly requests: number;
  readonly errors: number;
}

export interface SlidingTake {
  /** For giveBack; null when refused. */
  readonly ticket: string | null;
  /** The answer of heldSliding() after this taking. */
  readonly heldAtMs: readonly number[];
}

export interface Counters {
  /** One request against all three windows at once, atomically also across processes. */
  takeRequest(organizationId: number, limits: RequestLimits, nowMs: number): MaybePromise<RequestTake>;
  /** For GET /usage: counts by endpoint and day, not a limit. May be written in batches. */
  countEndpoint(organizationId: number, keyId: number, endpoint: string, isError: boolean, nowMs: number): void;
  usage(organizationId: number, nowMs: number): Promise<RequestUsage>;
  /** What countEndpoint counted on the last `days` UTC days, today included, at most 31; in no order. */
  endpointUsage(organizationId: number, days: number, nowMs: number): Promise<readonly EndpointUsage[]>;
  /** Wrong keys: a bucket of 10 that refills one every 6 s (docs/api-contract.md#order-of-checks). False while the address is refused. */
  mayTryKey(address: string, nowMs: number): MaybePromise<boolean>;
  wrongKey(address: string, nowMs: number): Promise<void>;
  /**
   * At most `limit` in each fixed window of `windowMs`: heartbeat calls of one token.
   * @returns false when refused
   */
  takeFrom(name: string, limit: number, windowMs: number, nowMs: number): Promise<boolean>;
  /** At most `limit` in any stretch of `windowMs`: public checks of one address. */
  takeSliding(name: string, limit: number, windowMs: number, nowMs: number): Promise<SlidingTake>;
  /** The takings in the stretch that ends now, oldest first, Unix ms. */
  heldSliding(name: string, windowMs: number, nowMs: number): Promise<readonly number[]>;
  /** Gives one taking back: it does not count. */
  giveBack(name: string, ticket: string): Promise<void>;
}

/** Counters that admit a request with a key, or a heartbeat's call. The others of Counters are for anonymous checks and for what is shown. */
export type AdmissionCounters = Pick<Counters, "takeRequest" | "usage" | "mayTryKey" | "wrongKey" | "takeFrom">;

/** "This changed": makes others look sooner than their next poll. Lost notices cost a second, never correctness. */
export type Topic =
  | "monitors"
  | "keys"
  | "heartbeats"
  | "jobs"
  | "shards"
  | "quarantine"
  /** Rows are about to be read from the result store, and those that wait have been inserted (store/results/wanted-rows.ts). */
  | "rows-wanted"
  | "rows-inserted";
export interface Notices {
  publish(topic: Topic): void;
  subscribe(topic: Topic, listener: () => void): () => void;
}

/**
 * Rows of checks from the schedulers to the processes that show them, as texts of store/recent/batch.ts. In order from each publisher, and
 * quick; a text that is lost costs a read of the result store.
 */
export interface RowFeed {
  publish(text: string): void;
  /** Publishes to listeners what came up to now. Absent where messages may still be under way when what they announce can be read elsewhere. */
  readonly catchUp?: () => void;
  /** @param onLost texts may have been lost @returns what ends it */
  subscribe(onText: (text: string) => void, onLost: () => void): () => void;
}
