/** Asks registries over RDAP (RFC 9082, 9083) when a domain expires; every request passes the address guard. */
import type { BootstrapData, LookupResult } from "rdapper";
import type { GuardedFetch } from "../web/guarded-fetch.ts";
import type { LookUp } from "./domain-cache.ts";

/** IANA's list of RDAP servers by top-level domain (RFC 9224). */
const PUBLIC_BOOTSTRAP_URL = "https://data.iana.org/rdap/dns.json";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Registries answer within a second or two; a look-up asks at most a few servers. */
const REQUEST_TIMEOUT_MS = 10_000;
const LOOK_UP_TIMEOUT_MS = 20_000;
const AFTER_FAILURE_MS = 15 * MINUTE_MS;
/** A list that could not be had is asked for again by the next look-up after this. */
const BOOTSTRAP_AFTER_FAILURE_MS = 5 * MINUTE_MS;

/** @param bootstrapUrl null for the public list */
export function createRegistry(
  { fetch }: GuardedFetch,
  bootstrapUrl: string | null,
  wallNowMs: () => number,
): (domain: string) => Promise<LookUp> {
  let list: Promise<BootstrapData> | undefined;
  let listGoodUntilMs = 0;

  async function fetchList(): Promise<BootstrapData> {
    const response = await fetch(bootstrapUrl ?? PUBLIC_BOOTSTRAP_URL, {
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`The list of RDAP servers answered ${response.status}`);
    return (await response.json()) as BootstrapData;
  }

  /** One request at a time, kept a day; rejects again from memory for a while after a failure. */
  function bootstrap(): Promise<BootstrapData> {
    if (list === undefined || wallNowMs() >= listGoodUntilMs) {
      listGoodUntilMs = wallNowMs() + DAY_MS;
      list = fetchList();
      list.catch(() => {
        listGoodUntilMs = wallNowMs() + BOOTSTRAP_AFTER_FAILURE_MS;
      });
    }
    return list;
  }

  return async (domain) => {
    // It brings the public suffix list once more: only where a domain is asked for.
    const { lookup } = await import("rdapper");
    const result = await lookup(domain, {
      // WHOIS connects to port 43 by itself, past the guard.
      rdapOnly: true,
      // The registry knows the expiry; registrars' copies add requests, not facts.
      rdapFollowLinks: false,
      customFetch: fetch,
      customBootstrapData: await bootstrap(),
      timeoutMs: REQUEST_TIMEOUT_MS,
      deadlineMs: LOOK_UP_TIMEOUT_MS,
    });
    return readResult(result);
  };
}

function readResult({ ok, record, attempts, retryAfterMs }: LookupResult): LookUp {
  if (ok) {
    const atMs = Date.parse(record?.expirationDate ?? "");
    return { expiresAtMs: Number.isNaN(atMs) ? null : atMs, askAgainAfterMs: DAY_MS };
  }
  // No server asked: the top-level domain has no RDAP, or the name is none.
  if (attempts.length === 0) return { expiresAtMs: null, askAgainAfterMs: DAY_MS };
  const wishedMs = retryAfterMs ?? AFTER_FAILURE_MS;
  return { expiresAtMs: undefined, askAgainAfterMs: Math.min(Math.max(wishedMs, AFTER_FAILURE_MS), DAY_MS) };
}
