/** What a provider says of a person, read into what we go by. */
import { z } from "zod";

/** Who signed in. */
export interface Account {
  /** The provider's issuer. */
  readonly provider: string;
  readonly subject: string;
  /** Lower case; null where the provider does not vouch for one. */
  readonly email: string | null;
  readonly name: string | null;
}

/** OpenID Connect Core section 2: at most 255 ASCII characters. */
const subjectClaim = z.string().regex(/^[\x20-\x7e]{1,255}$/);
/** RFC 5321 section 4.5.3.1.3; our own bound of names. */
const MAX_EMAIL = 254;
const MAX_NAME = 120;
/**
 * ASCII alone: lower case makes one letter of several in other scripts (the Kelvin sign becomes a k), and so another person's address of one
 * that an outsider may have.
 */
const EMAIL = /^[\x21-\x7e]{1,64}@[a-z0-9.-]{1,253}$/i;
const NOT_IN_ADDRESSES = /[\s"(),:;<>@[\\\]]/;
/** The claim that a provider vouches for in a claim of its own (OpenID Connect Core section 5.1). */
const EMAIL_CLAIM = "email";

/**
 * @param claims of the ID token, and of the answer about the user where there is one
 * @param emailClaim where the address is; of another than `email` the operator says that the provider vouches for it
 * @returns undefined without a subject
 */
export function readAccount(
  provider: string,
  claims: Readonly<Record<string, unknown>>,
  emailClaim: string,
): Account | undefined {
  const subject = subjectClaim.safeParse(claims.sub);
  if (!subject.success) return undefined;
  const isVerified = emailClaim !== EMAIL_CLAIM || isTrue(claims.email_verified);
  return {
    provider,
    subject: subject.data,
    email: isVerified ? emailOf(own(claims, emailClaim)) : null,
    name: nameOf(claims.name),
  };
}

/** Some providers write it as a text. */
function isTrue(claim: unknown): boolean {
  return claim === true || claim === "true";
}

/** The name of a claim is the operator's: `constructor` is none of the provider's. */
function own(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

function emailOf(claim: unknown): string | null {
  if (typeof claim !== "string" || claim.length > MAX_EMAIL || !EMAIL.test(claim)) return null;
  return NOT_IN_ADDRESSES.test(claim.replace("@", "")) ? null : claim.toLowerCase();
}

function nameOf(claim: unknown): string | null {
  if (typeof claim !== "string") return null;
  const name = [
    ...claim
      .slice(0, 2 * MAX_NAME)
      .replaceAll("\u0000", "")
      .trim(),
  ]
    .slice(0, MAX_NAME)
    .join("");
  return name === "" ? null : name;
}
