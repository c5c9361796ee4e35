/**
 * Whether our own page asks. A browser sends the cookie of a session with what other pages make it ask as well, where SameSite does not stop it;
 * so what changes something needs three signs that no other page can give.
 */
import { parseUrl } from "../model/url.ts";
import { refusal } from "./errors.ts";
import type { ApiRequest } from "./http.ts";

type Signs = Pick<ApiRequest, "page" | "secFetchSite" | "origin" | "host">;

/** @throws 403 */
export function refuseForged(request: Signs, baseUrl: string | null): void {
  if (!isFromPage(request, baseUrl)) throw refusal("notFromPage");
}

/** @param baseUrl SONDE_BASE_URL; null when it is not set */
export function isFromPage({ page, secFetchSite, origin, host }: Signs, baseUrl: string | null): boolean {
  // A form cannot send it, and a script of another origin must ask first, which is refused here (CORS).
  if (page !== "1") return false;
  if (secFetchSite !== "" && secFetchSite !== "same-origin") return false;
  return origin === "" || isOwn(origin, host, baseUrl);
}

/** By host and port with what the caller called us, or as a whole with what we are called (RFC 6454 section 4). */
export function isOwn(origin: string, host: string, baseUrl: string | null): boolean {
  const from = /^https?:\/\/[^/?#@\\\s]{1,255}$/i.test(origin) ? parseUrl(origin) : undefined;
  if (from === undefined) return false;
  // Parsed with the origin's scheme, so that both lose the same port.
  const called = parseUrl(`${from.protocol}//${host}`);
  if (called?.host === from.host && called.pathname === "/" && called.username === "") return true;
  return baseUrl !== null && parseUrl(baseUrl)?.origin === from.origin;
}
