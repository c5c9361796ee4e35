/**
 * State: what is counted and passed on, not kept for ever. In process (counters persisted in SQLite) or Redis, one shared suite.
 */
import type { MaybePromise } from "../../model/maybe-promise.ts";
import type { Answers } from "./answers.ts";

export interface State {
  readonly counters: Counters;
  readonly notices: Notices;
  readonly answers: Answers;
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
  /** As heldSliding answers then. */
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
  /** What the stretch up to now holds: when each was taken, oldest first, Unix ms. */
  heldSliding(name: string, windowMs: number, nowMs: number): Promise<readonly number[]>;
  /** What was taken does not count after all. */
  giveBack(name: string, ticket: string): Promise<void>;
}

/** What a request with a key and a heartbeat's call pass; the others of Counters are about anonymous checks and about what is shown. */
export type PassingCounters = Pick<Counters, "takeRequest" | "usage" | "mayTryKey" | "wrongKey" | "takeFrom">;

/** "This changed": makes others look sooner than their next poll. Lost notices cost a second, never correctness. */
export type Topic = "monitors" | "keys" | "heartbeats" | "jobs" | "shards" | "quarantine";
export interface Notices {
  publish(topic: Topic): void;
  subscribe(topic: Topic, listener: () => void): () => void;
}
