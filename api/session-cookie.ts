/** The cookie of a session: its name, its attributes, and its parser. */
import { parseUrl } from "../model/url.ts";

/** Id of the row and 32 random bytes in base64url. */
const VALUE = /^([1-9][0-9]{0,14})\.([\w-]{43})$/;

export interface CookieRules {
  readonly name: string;
  /** Behind the value: `; Path=/; …`. */
  readonly attributes: string;
}

export interface SessionCookie {
  readonly id: number;
  /** 43 characters. */
  readonly secret: string;
}

/**
 * `__Host-` makes the browser refuse such a cookie from any other host of the domain, and asks for TLS and the path `/`
 * (RFC 6265bis section 4.1.3.2); elsewhere the plain name has to do.
 * @param baseUrl SONDE_BASE_URL without a trailing slash; null: plain HTTP, as far as we know
 */
export function cookieRules(baseUrl: string | null): CookieRules {
  const url = baseUrl === null ? undefined : parseUrl(baseUrl);
  const isSecure = url?.protocol === "https:";
  const path = url === undefined ? "/" : url.pathname;
  return {
    name: isSecure && path === "/" ? "__Host-sonde" : "sonde",
    attributes: `; Path=${path}${isSecure ? "; Secure" : ""}; HttpOnly; SameSite=Strict`,
  };
}

/** @param maxAgeS until the browser forgets it */
export function setCookie({ name, attributes }: CookieRules, value: string, maxAgeS: number): string {
  return `${name}=${value}${attributes}; Max-Age=${maxAgeS}`;
}

export function clearCookie(rules: CookieRules): string {
  return setCookie(rules, "", 0);
}

/**
 * @param header all cookies, as sent; empty when there is none
 * @returns null for none, and for one that is not ours
 */
export function readCookie({ name }: CookieRules, header: string): SessionCookie | null {
  const [, id, secret] = VALUE.exec(cookieValue(name, header) ?? "") ?? [];
  return id !== undefined && secret !== undefined ? { id: Number(id), secret } : null;
}

/** @returns null for none, and for two of the name: another host of the domain may have set one of them */
export function cookieValue(name: string, header: string): string | null {
  if (header === "") return null;
  const values = header.split(";").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  return values.length === 1 ? (values[0] ?? null) : null;
}
