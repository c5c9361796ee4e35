/**
 * What is known of domains' expiry: asked once a day for each domain that a check asks for, aside from the checks, which get what
 * is known at once. A value past its day is still given while it is asked for again, so checks of any interval see one.
 */
import { BoundedMap } from "../../model/bounded-map.ts";

export interface LookUp {
  /** Unix ms; null when the registry does not say, undefined when it could not be asked: then the earlier value stays. */
  readonly expiresAtMs: number | null | undefined;
  /** When to ask again, ms from now. */
  readonly askAgainAfterMs: number;
}

export interface DomainCacheDeps {
  /** Must end by itself; a rejection counts as not asked. */
  readonly lookUp: (domain: string) => Promise<LookUp>;
  readonly wallNowMs: () => number;
}

export interface DomainCache {
  /** What is known now, null for nothing; starts a look-up when it is time. */
  expiresAtMs(domain: string): number | null;
  /** Settles when nothing is being asked and nothing waits. */
  idle(): Promise<void>;
}

interface Entry {
  expiresAtMs: number | null;
  askAtMs: number;
}

/** Domains remembered; the one longest not asked for goes first. */
const DOMAINS_LIMIT = 10_000;
/** Registries limit callers to a few questions a second; a new list of a thousand websites must not look like an attack. */
const LOOK_UPS_AT_ONCE = 2;
const ASK_AGAIN_AFTER_FAILURE_MS = 15 * 60_000;

export function createDomainCache({ lookUp, wallNowMs }: DomainCacheDeps): DomainCache {
  const entries = new BoundedMap<string, Entry>(DOMAINS_LIMIT);
  /** Waiting, in the order asked; bounded as `entries` is. */
  const waiting = new Set<string>();
  const asking = new Set<string>();
  let idlers: (() => void)[] = [];

  function start(): void {
    for (const domain of waiting) {
      if (asking.size >= LOOK_UPS_AT_ONCE) return;
      waiting.delete(domain);
      asking.add(domain);
      void ask(domain);
    }
    if (asking.size > 0) return;
    for (const settle of idlers) settle();
    idlers = [];
  }

  async function ask(domain: string): Promise<void> {
    const found = await lookUp(domain).catch(
      (): LookUp => ({ expiresAtMs: undefined, askAgainAfterMs: ASK_AGAIN_AFTER_FAILURE_MS }),
    );
    const earlier = entries.get(domain)?.expiresAtMs ?? null;
    entries.set(domain, {
      expiresAtMs: found.expiresAtMs === undefined ? earlier : found.expiresAtMs,
      askAtMs: wallNowMs() + found.askAgainAfterMs,
    });
    asking.delete(domain);
    start();
  }

  return {
    expiresAtMs(domain) {
      const entry = entries.use(domain);
      const due = entry === undefined || wallNowMs() >= entry.askAtMs;
      if (due && !asking.has(domain) && !waiting.has(domain) && waiting.size < DOMAINS_LIMIT) {
        waiting.add(domain);
        start();
      }
      return entry?.expiresAtMs ?? null;
    },
    idle() {
      if (asking.size === 0) return Promise.resolve();
      return new Promise((resolve) => idlers.push(resolve));
    },
  };
}
