/** How people sign in to the page: sessions, links, accounts of a provider, sign-ins that were begun. */
import { bigint, id, nullable, prose, table, text } from "./column.ts";

/** Of the page. */
export const SESSIONS = table("sessions", {
  id: id(),
  secret_hash: text(),
  user_id: bigint(),
  key_id: nullable(bigint()),
  via: text<"key" | "link" | "oidc" | "passkey">(),
  created_at_ms: bigint(),
  seen_at_ms: bigint(),
  ends_at_ms: bigint(),
  device: prose(),
  address: text(),
});

export const SIGN_IN_CODES = table("sign_in_codes", { code_hash: text(), user_id: bigint(), expires_at_ms: bigint() });

/** Accounts of providers. */
export const IDENTITIES = table("identities", {
  /** The provider's issuer. */
  provider: text(),
  subject: prose(),
  user_id: bigint(),
  /** As the provider wrote it when the account was linked. */
  email: prose(),
  linked_at_ms: bigint(),
});

/** Sign-ins that were begun and not ended. */
export const SIGN_IN_ATTEMPTS = table("sign_in_attempts", {
  attempt_hash: text(),
  purpose: text<"oidc" | "passkey" | "new-passkey">(),
  /** The person; null: not known before the attempt ends. */
  user_id: nullable(bigint()),
  expires_at_ms: bigint(),
});

/** Passkeys of people. */
export const PASSKEYS = table("passkeys", {
  id: id(),
  /** Unique; base64url, as the browser names it. */
  credential_id: text(),
  user_id: bigint(),
  /** COSE, base64url. */
  public_key: text(),
  counter: bigint(),
  name: prose(),
  added_via: text<"link" | "oidc">(),
  created_at_ms: bigint(),
  used_at_ms: nullable(bigint()),
});
