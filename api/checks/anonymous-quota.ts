/**
 * What a caller without a key may have: so many checks in any 24 hours per IPv4 address or IPv6 /64 (docs/api-contract.md#plans), and so many
 * requests in any hour, whatever came of them, because a refused request costs work too. Both also per /48.
 */
import { isIP } from "node:net";
import type { Counters, SlidingTake } from "../../store/state/state.ts";
import { type ApiResponse, JSON_HEADERS } from "../http.ts";

const WINDOW_MS = 86_400_000;
/** docs/api-contract.md#plans. */
const PUBLIC_LIMIT = 5;
/** Of a whole /48, which a single customer may have with 65,536 /64s in it: this many times one of them; our choice. */
const SITE_SHARE = 4;
const HOUR_MS = 3_600_000;
/** Requests in any hour; our choice: a person who corrects a configuration sends fewer. */
const REQUEST_LIMIT = 60;

/** Names of what is counted, each with its limit; IPv4 addresses have no site. */
type Counted = readonly (readonly [name: string, limit: number])[];

export function countedOf(address: string, what = "public-check", limit = PUBLIC_LIMIT): Counted {
  if (isIP(address) !== 6) return [[`${what} ${address}`, limit]];
  const groups = groupsOf(address);
  return [
    [`${what} ${groups.slice(0, 4).join(":")}/64`, limit],
    [`${what} ${groups.slice(0, 3).join(":")}/48`, SITE_SHARE * limit],
  ];
}

/**
 * Counts one request to /check/public. What is refused here is not counted again.
 * @returns the answer that refuses it; undefined when it may go on
 */
export async function refuseRequest(
  counters: Counters,
  address: string,
  nowMs: number,
): Promise<ApiResponse | undefined> {
  for (const [name, limit] of countedOf(address, "public-request", REQUEST_LIMIT)) {
    const { ticket, heldAtMs } = await counters.takeSliding(name, limit, HOUR_MS, nowMs);
    if (ticket !== null) continue;
    const freeAtMs = (heldAtMs[0] ?? nowMs) + HOUR_MS;
    return tooMany(`Limit of ${limit} requests per hour exceeded`, freeAtMs, nowMs, []);
  }
  return undefined;
}

/** The eight groups of an address in RFC 5952's form, without leading zeros. */
function groupsOf(address: string): readonly string[] {
  const [head = "", tail = ""] = (address.split("%", 1)[0] ?? "").split("::");
  const before = head.split(":").filter((group) => group !== "");
  const after = tail.split(":").filter((group) => group !== "");
  const missing = Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array.from({ length: missing }, () => "0"), ...after];
}

/** What an anonymous caller has left, as the headers and the 429 say it. */
export interface Allowance {
  readonly remaining: number;
  /** Unix ms when the next one comes free; now when none is used. */
  readonly freeAtMs: number;
}

export async function allowanceOf(counters: Counters, address: string, nowMs: number): Promise<Allowance> {
  const counted = countedOf(address);
  const held = await Promise.all(counted.map(([name]) => counters.heldSliding(name, WINDOW_MS, nowMs)));
  return allowanceFrom(counted, held, nowMs);
}

function allowanceFrom(counted: Counted, held: readonly (readonly number[])[], nowMs: number): Allowance {
  const left = counted.map(([, limit], index) => Math.max(0, limit - (held[index]?.length ?? 0)));
  const remaining = Math.min(...left);
  // Where nothing is left, what keeps it; else the caller's own.
  const full = held.filter((_, index) => left[index] === 0);
  const firsts = (remaining === 0 ? full : held.slice(0, 1)).map((times) => times[0] ?? nowMs - WINDOW_MS);
  return { remaining, freeAtMs: Math.max(...firsts) + WINDOW_MS };
}

export interface PublicTake {
  /** Takes one check. @returns whether it may run */
  readonly isTaken: boolean;
  readonly allowance: Allowance;
  /** Gives the check back: it does not count. */
  giveBack(): Promise<void>;
}

/** Takes one check from all counters, or from none. */
export async function takePublicCheck(counters: Counters, address: string, nowMs: number): Promise<PublicTake> {
  const counted = countedOf(address);
  const takes: SlidingTake[] = [];
  for (const [name, limit] of counted) {
    const take = await counters.takeSliding(name, limit, WINDOW_MS, nowMs);
    takes.push(take);
    if (take.ticket === null) break;
  }
  const isTaken = takes.length === counted.length && takes.every(({ ticket }) => ticket !== null);
  const giveBack = async (): Promise<void> => {
    for (const [index, { ticket }] of takes.entries()) {
      if (ticket !== null) await counters.giveBack(counted[index]?.[0] ?? "", ticket);
    }
  };
  if (isTaken) {
    const held = takes.map(({ heldAtMs }) => heldAtMs);
    return { isTaken, allowance: allowanceFrom(counted, held, nowMs), giveBack };
  }
  await giveBack();
  return { isTaken, allowance: await allowanceOf(counters, address, nowMs), giveBack: async () => {} };
}

export function publicLimitHeaders({ remaining, freeAtMs }: Allowance): readonly string[] {
  return [
    "X-RateLimit-Limit",
    String(PUBLIC_LIMIT),
    "X-RateLimit-Remaining",
    String(remaining),
    "X-RateLimit-Reset",
    String(Math.ceil(freeAtMs / 1_000)),
  ];
}

/** The 429 of the contract's window. */
export function publicLimitExceeded(allowance: Allowance, nowMs: number): ApiResponse {
  const message = `Limit of ${PUBLIC_LIMIT} checks per 24 hours exceeded`;
  return tooMany(message, allowance.freeAtMs, nowMs, publicLimitHeaders(allowance));
}

/** The 429 in its own shape (docs/api-contract.md#checks-without-a-monitor). */
function tooMany(message: string, freeAtMs: number, nowMs: number, more: readonly string[]): ApiResponse {
  const retryAfterS = Math.max(1, Math.ceil((freeAtMs - nowMs) / 1_000));
  const body = { error: "Public check limit exceeded", message, retry_after: retryAfterS };
  const headers = [...JSON_HEADERS, "Retry-After", String(retryAfterS), ...more];
  return { status: 429, headers, body: JSON.stringify(body) };
}
