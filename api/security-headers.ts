/**
 * Headers of every answer for browsers. The page runs only our own script and style, from this address, writes no HTML from text (Trusted Types),
 * cannot be framed, and sends no referrer to other sites. HSTS is left to the proxy that terminates TLS.
 */

/** Names and values in turn: all but the policy of content, which a page may have of its own. */
const OTHERS: readonly string[] = [
  "X-Content-Type-Options",
  "nosniff",
  "Referrer-Policy",
  "no-referrer",
  "Cross-Origin-Opener-Policy",
  "same-origin",
  "Cross-Origin-Resource-Policy",
  "same-origin",
  "Permissions-Policy",
  "camera=(), microphone=(), geolocation=(), payment=()",
];

/** `data:` are the icons of the tab. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** @param policy of content, for an answer that needs another than the page */
export function securityHeaders(policy: string = PAGE_POLICY): readonly string[] {
  return ["Content-Security-Policy", policy, ...OTHERS];
}

/** Of every answer that says nothing else. */
export const SECURITY_HEADERS = securityHeaders();
