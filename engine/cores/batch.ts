/** Which configs share a core process: as many as possible, but never two that the core would merge. Pure. */
import type { OutboundSpec } from "./outbound.ts";

/**
 * Configs of one process: few enough that its rules, which are gone through for each connection, cost nothing, and enough that its start (60 ms
 * of processor) costs nothing either.
 */
export const BATCH_LIMIT = 1_000;
/** Configs of a process for second looks: few, so that no check delays another and the core can log each connection. */
export const ALONE_LIMIT = 32;
/** Configs of one process when each of them was in a core that died once. */
const SUSPECT_LIMIT = 8;

/** A config that waits for a core. */
export interface QueuedConfig {
  readonly spec: OutboundSpec;
  /** How often a core died with it inside. */
  readonly crashes: number;
}

/**
 * What a core would join: xray keeps one hysteria2 session for each server address and port of a process, whatever the passwords.
 * null: it goes with everything.
 */
export function mergeKeyOf({ engine, address, config }: OutboundSpec): string | null {
  return engine === "xray" && config.account.protocol === "hysteria2" ? `${address} ${config.port}` : null;
}

/** Most configs of a batch that this one is in. */
export function batchLimitFor({ spec, crashes }: QueuedConfig): number {
  if (crashes >= 2) return 1;
  if (crashes === 1) return SUSPECT_LIMIT;
  return spec.alone ? ALONE_LIMIT : BATCH_LIMIT;
}

/** Takes a batch off the front of a queue; what does not go with it stays, in its order. */
export function takeBatch<One extends QueuedConfig>(
  queue: readonly One[],
): { readonly batch: One[]; readonly rest: One[] } {
  const batch: One[] = [];
  const rest: One[] = [];
  const mergeKeys = new Set<string>();
  let limit = BATCH_LIMIT;
  for (const one of queue) {
    const narrower = Math.min(limit, batchLimitFor(one));
    const key = mergeKeyOf(one.spec);
    // A config with crashes does not join a batch that is already larger than its own limit.
    if (batch.length >= narrower || (key !== null && mergeKeys.has(key))) {
      rest.push(one);
      continue;
    }
    limit = narrower;
    if (key !== null) mergeKeys.add(key);
    batch.push(one);
  }
  return { batch, rest };
}

/** Halves of a batch that did not start: the bad config is in one of them. */
export function halves<One>(batch: readonly One[]): readonly (readonly One[])[] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)].filter((half) => half.length > 0);
}

/** What decides when a queue's next process is started. Times in ms. */
export interface BatchQueueState {
  readonly waiting: number;
  /** Since the first of them came. */
  readonly oldestMs: number;
  /** Outbounds that are open in all cores. */
  readonly open: number;
  readonly sinceLastStartMs: number;
  /** What the last start took. */
  readonly lastStartMs: number;
  /** After starts that failed for no config's fault. */
  readonly backOffMs: number;
}

/** Requests that come within this time go into one process, ms. */
const COLLECT_MS = 5;
/** Starts are kept to a quarter of the time, so that a steady trickle does not start a process for each config. */
const PAUSE_FACTOR = 3;
const MAX_PAUSE_MS = 1_500;
/**
 * A start costs what 60 checks cost, so in a crowd the next one waits until few of the former batch are left: as many as are at work while
 * it starts, and a quarter of those who wait.
 */
const CROWD_FROM = 100;
const WAITING_PER_OPEN = 4;
const LOW_WATER_OPEN = 200;

/** @returns how long to wait before the next process of this queue, ms; 0: now */
export function startsInMs(queue: BatchQueueState): number {
  const { waiting, open, sinceLastStartMs: sinceMs } = queue;
  if (sinceMs < queue.backOffMs) return queue.backOffMs - sinceMs;
  if (waiting >= BATCH_LIMIT) return 0;
  const collectMs = Math.max(0, COLLECT_MS - queue.oldestMs);
  const isCrowd = waiting >= CROWD_FROM;
  if (isCrowd && open <= LOW_WATER_OPEN && open * WAITING_PER_OPEN <= waiting) return collectMs;
  return Math.max(collectMs, pauseMs(queue, isCrowd) - sinceMs, 0);
}

/** Counted from the last start. When nothing is open, the pause is 0: a start cannot delay anything. */
function pauseMs({ open, lastStartMs }: BatchQueueState, isCrowd: boolean): number {
  if (open === 0) return 0;
  return isCrowd ? MAX_PAUSE_MS : Math.min(MAX_PAUSE_MS, lastStartMs * PAUSE_FACTOR);
}
