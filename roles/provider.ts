/**
 * Asks the provider of identities. By the thread that makes attempts, because what a provider, or who sits between it and us, sends during TLS can hold a thread
 * for long, and callers without a key can begin sign-ins.
 */
import type { ProviderFetch } from "../api/oidc/provider.ts";
import type { Attempts } from "../scheduler/alerts/attempts/attempts.ts";
import { VERSION } from "../version.ts";

/** Keys and what a provider says of itself have some kilobytes. */
const MOST_ANSWER_BYTES = 262_144;
const CALLER = { userAgent: `Sonde/${VERSION} (sign-in)`, projectId: 0 };
/** They have no body (Fetch Standard, "null body status"). */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** Redirects are not followed: no answer of a provider is one (OpenID Connect Discovery section 4.2), and a token must not be sent on. */
export function providerFetch({ exchange }: Pick<Attempts, "exchange">): ProviderFetch {
  return async (url, { method, headers, body, signal }) => {
    const request = { url, headers, body: body ?? null, mostAnswerBytes: MOST_ANSWER_BYTES };
    const { answer, fault } = await exchange(
      { ...request, method: method as "GET" | "POST" },
      CALLER,
      signal ?? new AbortController().signal,
    );
    if (answer === null)
      throw new Error(
        fault.openedBy === null ? fault.error : `${fault.error}; SONDE_ALLOW_NETS=${fault.openedBy} opens it`,
      );
    return new Response(BODILESS.has(answer.status) ? null : answer.text, {
      status: answer.status,
      headers: { ...answer.headers },
    });
  };
}
