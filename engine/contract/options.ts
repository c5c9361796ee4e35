import type { CorePaths } from "../cores/program.ts";

/** The operator's settings of how checks leave this machine. Structured-cloneable: each prober gets them as its worker data. */
export interface EngineOptions {
  /** SONDE_ALLOW_NETS entries, `cidr[:port[-port]]`. */
  readonly allowNets: readonly string[];
  /** SONDE_PUBLIC_ALLOW_NETS entries, which replace allowNets for anonymous callers; absent: none. */
  readonly publicAllowNets?: readonly string[];
  /** Our own listeners and stores, `ip:port`: refused whatever allowNets says. */
  readonly ownEndpoints: readonly string[];
  /** An OwnBoard's memory: what listens on our behalf now, besides; absent: the pool makes one for its cores. */
  readonly ownBoard?: SharedArrayBuffer;
  /** DNS servers for checks, `ip[:port]`; empty means the system's (resolv.conf). */
  readonly resolvers: readonly string[];
  /** PEM text of further roots; null for none. */
  readonly extraCaPem: string | null;
  /** URL of the RDAP bootstrap file; null means the public registry. */
  readonly rdapBootstrapUrl: string | null;
  /** `icmp:`, `dns:`, `tcp:host:port`; null means the gateway and the resolvers. */
  readonly canaries: readonly string[] | null;
  /** `dns:`, `icmp:`, `tcp:host:port`: what tunnels are asked to reach; absent: engine/contract/tunnel-targets.ts. */
  readonly tunnelTargets?: readonly string[];
  /** `url#204`, `#trace`, `#ip`, `#token`, `#ok`: what is asked through a proxy; absent: engine/verify/endpoint.ts. */
  readonly verifyUrls?: readonly string[];
  /** Verify endpoints that report the country are asked first. */
  readonly isExitCountryWanted?: boolean;
  /** `https://…#ok`: what is downloaded through proxies that work, to measure them; absent: nothing. */
  readonly downloadUrl?: string;
  /** SONDE_BASE_URL: where it is public, our own `/verify` is asked as well. */
  readonly baseUrl?: string | null;
  /** Where the proxy cores are looked for; absent: share links cannot be checked here. */
  readonly cores?: CorePaths;
}
