/** Resolves names outside of checks, with the servers and bounds that checks use, so that no thread blocks in getaddrinfo. */

import { isLoopbackName } from "../net/literal.ts";
import { toAsciiName } from "../protocols/dns/name.ts";
import { createResolver } from "./resolver.ts";

/** Both families of a name; empty when it has no address, or no server answers. Never rejects. */
export type NameLookup = (host: string) => Promise<readonly string[]>;

/** @param servers SONDE_RESOLVERS; empty for the system's. @throws ResolverEntryError */
export function createNameLookup(servers: readonly string[]): NameLookup {
  const resolver = createResolver({ servers });
  return async (host) => {
    const text = host.trim();
    const name = toAsciiName(text);
    if (name === undefined) return [];
    const isAbsolute = text.endsWith(".") || isLoopbackName(name);
    const answers = await Promise.all([resolver.lookup(name, isAbsolute, 4), resolver.lookup(name, isAbsolute, 6)]);
    return answers.flatMap(({ addresses }) => addresses.map(({ ip }) => ip));
  };
}
