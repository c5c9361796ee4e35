/** Whose passkeys they are: the host of SONDE_BASE_URL, where browsers let a page have passkeys at all. */
import { isIP } from "node:net";
import { parseUrl, withoutBrackets } from "../../model/url.ts";

export interface RelyingParty {
  /** A passkey is bound to it for ever. */
  readonly id: string;
  /** Where the page must stand that a passkey answers. */
  readonly origin: string;
}

/** @returns null without SONDE_BASE_URL, without TLS but for `localhost`, and for an address that has no name (WebAuthn section 5.1.2) */
export function relyingPartyOf(baseUrl: string | null): RelyingParty | null {
  const url = baseUrl === null ? undefined : parseUrl(baseUrl);
  if (url === undefined || isIP(withoutBrackets(url.hostname)) !== 0) return null;
  const isSecure = url.protocol === "https:" || url.hostname === "localhost";
  return isSecure ? { id: url.hostname, origin: url.origin } : null;
}
