/**
 * Our own listeners and stores, as the address guard compares them: refused whatever SONDE_ALLOW_NETS says. Names are resolved again every
 * minute, because a store that fails over has another address afterwards; what was seen before stays ours for a while.
 */

import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { localAddresses } from "../engine/transport/local-addresses.ts";
import { OwnBoard } from "../engine/transport/own-board.ts";
import type { Log } from "../model/log.ts";
import { storeEndpoints } from "../store/endpoints.ts";

export interface Listener {
  readonly host: string;
  readonly port: number;
}

/** Names to addresses, as the clients of the stores resolve them. Rejects when a name has none. */
export type LookUp = (name: string) => Promise<readonly string[]>;

export interface OwnEndpointsOptions {
  /** Where this process listens. */
  readonly listeners: readonly (Listener | null)[];
  /** URLs of stores; null for those that have none. */
  readonly storeUrls: readonly (string | null)[];
  readonly log: Pick<Log, "warn">;
  readonly lookUp?: LookUp;
  /** Monotonic ms. */
  readonly nowMs?: () => number;
  readonly everyMs?: number;
}

export interface WatchedEndpoints {
  /** `ip:port`, IPv6 in brackets, as of the start. */
  readonly entries: readonly string[];
  /** An OwnBoard's, for the guards of every thread. */
  readonly memory: SharedArrayBuffer;
  close(): void;
}

/** Between two look-ups of a name, ms; after one that failed it is asked again sooner. */
const EVERY_MS = 60_000;
const AGAIN_MS = 5_000;
/** A resolver that takes longer is not waited for, ms; what it says later is taken all the same. */
const LOOKUP_MS = 5_000;
/** How long an address that a name no longer has stays ours, ms: clients keep connections, and names come back. */
const KEPT_MS = 15 * 60_000;
/** Of one name; further ones are not looked at. */
const MAX_ADDRESSES = 64;

/** Resolves every name once before it returns; a name that has no address then is asked for again. */
export async function watchOwnEndpoints(options: OwnEndpointsOptions): Promise<WatchedEndpoints> {
  const { log, lookUp = systemLookUp, nowMs = () => performance.now(), everyMs = EVERY_MS } = options;
  const board = new OwnBoard();
  const places = [
    ...options.listeners.filter((one) => one !== null),
    ...options.storeUrls.filter((url) => url !== null).flatMap(storeEndpoints),
  ];
  const names = places.map((place) => ({ place, seen: new Map<string, number>(), isAsked: false, isDue: 0 }));
  let written: readonly string[] = [];

  function write(): void {
    const entries = [
      ...new Set(names.flatMap(({ place, seen }) => [...seen.keys()].map((ip) => entryOf(ip, place.port)))),
    ].sort();
    if (entries.join() === written.join()) return;
    if (board.write(entries)) written = entries;
    else log.warn({ entries: entries.length }, "own addresses: too many to keep; those known before are kept");
  }

  async function ask(name: (typeof names)[number]): Promise<void> {
    if (name.isAsked || nowMs() < name.isDue) return;
    name.isAsked = true;
    try {
      const found = (await lookUp(name.place.host)).slice(0, MAX_ADDRESSES);
      const seenAtMs = nowMs();
      for (const ip of found) name.seen.set(ip, seenAtMs);
      for (const [ip, atMs] of name.seen) if (seenAtMs - atMs > KEPT_MS) name.seen.delete(ip);
      name.isDue = seenAtMs + everyMs;
      write();
    } catch (error) {
      // Its last addresses stay. One that never had any is not reached by a check either.
      name.isDue = nowMs() + Math.min(everyMs, AGAIN_MS);
      if (name.seen.size > 0) log.warn({ host: name.place.host, err: error }, "own addresses: a name is not resolved");
    } finally {
      name.isAsked = false;
    }
  }

  if (!localAddresses().hasRoutes && process.platform === "linux") {
    log.warn(
      {},
      "own addresses: the kernel's routes cannot be read; only addresses of interfaces are known to be ours",
    );
  }
  await Promise.race([Promise.all(names.map(ask)), new Promise((resolve) => setTimeout(resolve, LOOKUP_MS).unref())]);
  const askAll = (): void => {
    for (const name of names) void ask(name);
  };
  const timer = names.length === 0 ? undefined : setInterval(askAll, Math.min(everyMs, AGAIN_MS)).unref();
  return { entries: written, memory: board.memory, close: () => clearInterval(timer) };
}

function entryOf(ip: string, port: number): string {
  return `${isIPv6(ip) ? `[${ip}]` : ip}:${port}`;
}

async function systemLookUp(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address.split("%")[0] ?? address);
}
