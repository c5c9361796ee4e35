/**
 * One sign-in at a provider, from the click to the return. A random text in a cookie of the browser is all that proves it: state, nonce and
 * verifier are derived from it, so that none of them reveals another, and the store has only a hash. A return without that cookie is
 * another browser's: no one is signed in to an account that another person chose (RFC 6749 section 10.12).
 */
import { hash, timingSafeEqual } from "node:crypto";
import { newSecret } from "../../store/session-secret.ts";
import { cookieRules, cookieValue, setCookie } from "../session-cookie.ts";

/** A person types a password and a second factor in that time; our choice. */
export const ATTEMPT_LIVES_MS = 600_000;
/** What newSecret() makes. */
const SECRET = /^[\w-]{43}$/;

export interface Attempt {
  readonly secret: string;
  /** Comes back with the answer (RFC 6749 section 4.1.1). */
  readonly state: string;
  /** Comes back inside the ID token (OpenID Connect Core section 3.1.2.1). */
  readonly nonce: string;
  /** Of PKCE: 43 characters, the fewest that RFC 7636 section 4.1 allows. */
  readonly verifier: string;
  /** What the store keeps. */
  readonly hash: string;
}

export function newAttempt(): Attempt {
  return attemptOf(newSecret().text);
}

function attemptOf(secret: string): Attempt {
  const made = (what: string): string => hash("sha256", `sonde oidc ${what} ${secret}`, "base64url");
  return { secret, state: made("state"), nonce: made("nonce"), verifier: made("verifier"), hash: made("hash") };
}

/** @param cookies as sent @param sentState what came back @returns null where the return is not of an attempt of this browser */
export function readAttempt(baseUrl: string | null, cookies: string, sentState: string): Attempt | null {
  const secret = cookieValue(attemptCookie(baseUrl).name, cookies);
  if (secret === null || !SECRET.test(secret)) return null;
  const attempt = attemptOf(secret);
  const [sent, kept] = [Buffer.from(sentState), Buffer.from(attempt.state)];
  return sent.length === kept.length && timingSafeEqual(sent, kept) ? attempt : null;
}

/** For the way to the provider and back. */
export function attemptCookieOf(baseUrl: string | null, { secret }: Attempt): string {
  return setCookie(attemptCookie(baseUrl), secret, ATTEMPT_LIVES_MS / 1_000);
}

/** Lax: the provider's page leads back to us, and a Strict one would not come with it. */
function attemptCookie(baseUrl: string | null) {
  const { name, attributes } = cookieRules(baseUrl);
  return { name: `${name}-oidc`, attributes: attributes.replace("SameSite=Strict", "SameSite=Lax") };
}
