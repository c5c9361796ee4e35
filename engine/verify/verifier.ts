/** Which verify endpoints are asked next, and which of them answer at all: one that fails directly as well is no evidence (docs/decisions/0003-whose-fault.md). */
import type { SecureContext } from "node:tls";
import { tellsAddress, tellsCountry, type VerifyEndpoint } from "./endpoint.ts";

/** How long a direct answer, or its absence, is believed, ms. */
const DIRECT_KEPT_MS = 10_000;
/** Asked through one proxy before it counts as failed. */
const QUORUM = 2;

export interface Verifier {
  /** What is downloaded through a proxy that works, to measure it; null: nothing. */
  readonly download: VerifyEndpoint | null;
  /** For endpoints of https: trusts what checks trust. */
  secureContext(): SecureContext;
  /** At most two, of different hosts where there are such, in the order in which they are asked: taking turns between checks. */
  next(): readonly VerifyEndpoint[];
  /** Whether it answers as expected when it is asked without a proxy. Never rejects. */
  answersDirectly(endpoint: VerifyEndpoint): Promise<boolean>;
}

export interface VerifierWishes {
  readonly download?: VerifyEndpoint | null;
  /** Endpoints that report the country are asked first. */
  readonly isCountryWanted?: boolean;
}

/** @param ask asks directly, and never rejects */
export function createVerifier(
  endpoints: readonly VerifyEndpoint[],
  openSecureContext: () => SecureContext,
  ask: (endpoint: VerifyEndpoint) => Promise<boolean>,
  now: () => number,
  { download = null, isCountryWanted = false }: VerifierWishes = {},
): Verifier {
  const countries = isCountryWanted ? endpoints.filter(tellsCountry) : [];
  const telling = countries.length > 0 ? countries : endpoints.filter(tellsAddress);
  const first = telling.length > 0 ? telling : endpoints;
  const direct = new Map<VerifyEndpoint, { readonly answer: Promise<boolean>; readonly untilMs: number }>();
  let turn = 0;
  let secureContext: SecureContext | undefined;

  return {
    download,
    secureContext() {
      // Parsing the roots takes 10 ms and more: only where an endpoint of https is asked.
      secureContext ??= openSecureContext();
      return secureContext;
    },
    next() {
      turn += 1;
      const chosen = first[turn % first.length];
      if (chosen === undefined) return [];
      const at = endpoints.indexOf(chosen);
      const others = [...endpoints.slice(at + 1), ...endpoints.slice(0, at)];
      const second = others.find(({ host }) => host !== chosen.host) ?? others[0];
      return second === undefined ? [chosen] : [chosen, second].slice(0, QUORUM);
    },
    answersDirectly(endpoint) {
      const known = direct.get(endpoint);
      if (known !== undefined && known.untilMs > now()) return known.answer;
      const answer = ask(endpoint);
      direct.set(endpoint, { answer, untilMs: now() + DIRECT_KEPT_MS });
      return answer;
    },
  };
}
