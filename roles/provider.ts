/** Asks the provider of identities: made with the first sign-in there, because most services have none. */
import type { ProviderFetch } from "../api/oidc/provider.ts";
import type { EngineOptions } from "../engine/contract/options.ts";
import { NetworkFault } from "../engine/net/fault.ts";
import type { Closers } from "./shared.ts";

const LIMITS = {
  /** Keys and what a provider says of itself have some kilobytes. */
  bodyBytes: 262_144,
  connectTimeoutMs: 5_000,
} as const;

/** Redirects are not followed: no answer of a provider is one (OpenID Connect Discovery section 4.2), and a token must not be sent on. */
export function providerFetch(engine: EngineOptions, closers: Closers): ProviderFetch {
  let made: Promise<ProviderFetch> | undefined;
  return async (url, init) => {
    made ??= makeFetch(engine, closers);
    return (await made)(url, init);
  };
}

async function makeFetch(engine: EngineOptions, closers: Closers): Promise<ProviderFetch> {
  const [{ createTransport }, { createGuardedFetch }] = await Promise.all([
    import("../engine/transport/index.ts"),
    import("../engine/web/guarded-fetch.ts"),
  ]);
  const guarded = createGuardedFetch(createTransport(engine), LIMITS);
  closers.push(() => guarded.close());
  return (url, init) =>
    guarded.fetch(url, { ...init, redirect: "manual" }).catch((error: unknown) => {
      throw new Error(reasonOf(error));
    });
}

/** fetch() hides in causes what happened. */
function reasonOf(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && !(inner instanceof NetworkFault) && inner.cause instanceof Error)
    inner = inner.cause;
  if (!(inner instanceof NetworkFault)) return inner instanceof Error ? inner.message : String(inner);
  return inner.openedBy === undefined ? inner.message : `${inner.message}; SONDE_ALLOW_NETS=${inner.openedBy} opens it`;
}
