/** Domain expiry for website checks: known or not, at once; the asking goes on aside and never delays or fails a check. */
import { getDomain } from "tldts";
import type { Transport } from "../transport/transport.ts";
import { createGuardedFetch } from "../web/guarded-fetch.ts";
import { createDomainCache } from "./domain-cache.ts";
import { createRegistry } from "./registry.ts";

export interface DomainExpiry {
  /** Unix ms, null while it is not known; for ProbeContext.domainExpiresAtMs. */
  readonly expiresAtMs: (host: string) => number | null;
  /** Settles when nothing is being asked. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** The list of all RDAP servers is about 60 KiB, a registry's answer about 10. */
const ANSWER_LIMIT_BYTES = 1024 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;

/** @param bootstrapUrl EngineOptions.rdapBootstrapUrl */
export function createDomainExpiry(
  transport: Transport,
  bootstrapUrl: string | null,
  wallNowMs: () => number,
): DomainExpiry {
  const guarded = createGuardedFetch(transport, {
    bodyBytes: ANSWER_LIMIT_BYTES,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  const cache = createDomainCache({ lookUp: createRegistry(guarded, bootstrapUrl, wallNowMs), wallNowMs });
  return {
    expiresAtMs(host) {
      // Registries know `example.co.uk`, not `www.example.co.uk`.
      const domain = getDomain(host);
      return domain === null ? null : cache.expiresAtMs(domain);
    },
    idle: cache.idle,
    close: guarded.close,
  };
}
