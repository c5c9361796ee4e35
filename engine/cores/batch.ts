/** Which configs share a core process: as many as possible, but never two that the core would merge. Pure. */
import type { OutboundRequest } from "./outbound.ts";

/**
 * Configs of one process: few enough that its rules, which are gone through for each connection, cost nothing, and enough that its start (60 ms
 * of processor) costs nothing either.
 */
export const BATCH_LIMIT = 1_000;
/** Of a process that looks at failures again: few, so that each has the machine for itself, and all of them talk. */
export const ALONE_LIMIT = 32;
/** Of configs whose core died under them once. */
const SUSPECTS_LIMIT = 8;

/** Something that waits for a core. */
export interface Waiting {
  readonly request: OutboundRequest;
  /** How often a core died with it inside. */
  readonly deaths: number;
}

/**
 * What a core would join: xray keeps one hysteria2 session for each server address and port of a process, whatever the passwords.
 * null: it goes with everything.
 */
export function joinedBy({ engine, address, config }: OutboundRequest): string | null {
  return engine === "xray" && config.account.protocol === "hysteria2" ? `${address} ${config.port}` : null;
}

/** How many may be with it. */
export function limitFor({ request, deaths }: Waiting): number {
  if (deaths >= 2) return 1;
  if (deaths === 1) return SUSPECTS_LIMIT;
  return request.alone ? ALONE_LIMIT : BATCH_LIMIT;
}

/** Takes a batch off the front of a queue; what does not go with it stays, in its order. */
export function takeBatch<One extends Waiting>(queue: readonly One[]): { readonly batch: One[]; readonly rest: One[] } {
  const batch: One[] = [];
  const rest: One[] = [];
  const joined = new Set<string>();
  let limit = BATCH_LIMIT;
  for (const one of queue) {
    const narrower = Math.min(limit, limitFor(one));
    const key = joinedBy(one.request);
    // A suspect does not come to others that are more than it may be with.
    if (batch.length >= narrower || (key !== null && joined.has(key))) {
      rest.push(one);
      continue;
    }
    limit = narrower;
    if (key !== null) joined.add(key);
    batch.push(one);
  }
  return { batch, rest };
}

/** Two halves to find a bad one in; of one there is nothing to find. */
export function halves<One>(batch: readonly One[]): readonly (readonly One[])[] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)].filter((half) => half.length > 0);
}

/** What decides when a lane's next process is started. Times in ms. */
export interface LaneState {
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

/** What comes in one moment goes into one process, ms. */
const COLLECT_MS = 5;
/** Starts are kept to a quarter of the time, so that a steady trickle does not start a process for each config. */
const PAUSE_FACTOR = 3;
const LONGEST_PAUSE_MS = 1_500;
/**
 * A start costs what 60 checks cost, so in a crowd the next one waits until few of the former batch are left: as many as are at work while
 * it starts, and a quarter of those who wait.
 */
const WORTHWHILE = 100;
const WAITING_PER_OPEN = 4;
const LOW_WATER = 200;

/** @returns how long to wait before the next process of this lane, ms; 0: now */
export function startsInMs(lane: LaneState): number {
  const { waiting, open, sinceLastStartMs: sinceMs } = lane;
  if (sinceMs < lane.backOffMs) return lane.backOffMs - sinceMs;
  if (waiting >= BATCH_LIMIT) return 0;
  const collectMs = Math.max(0, COLLECT_MS - lane.oldestMs);
  const isCrowd = waiting >= WORTHWHILE;
  if (isCrowd && open <= LOW_WATER && open * WAITING_PER_OPEN <= waiting) return collectMs;
  return Math.max(collectMs, pauseMs(lane, isCrowd) - sinceMs, 0);
}

/** Counted from the last start. When nothing is open, the pause is 0: a start cannot delay anything. */
function pauseMs({ open, lastStartMs }: LaneState, isCrowd: boolean): number {
  if (open === 0) return 0;
  return isCrowd ? LONGEST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, lastStartMs * PAUSE_FACTOR);
}
