/** Accounts of people at a provider of identities, and sign-ins that were begun and not ended. The store has hashes of what is secret. */
import type { UserRecord } from "./port.ts";

export interface NewIdentity {
  /** The provider's issuer. */
  readonly provider: string;
  /** The account there, which never changes. */
  readonly subject: string;
  readonly userId: number;
  /** As the provider writes it now. */
  readonly email: string;
  readonly nowMs: number;
}

/** What a sign-in that was begun is for. */
export type AttemptPurpose = "oidc" | "passkey" | "new-passkey";

export interface NewAttempt {
  readonly attemptHash: string;
  readonly purpose: AttemptPurpose;
  /** Whose it is; null: it is not known before it ends. */
  readonly userId: number | null;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

/** What a person shall no longer sign in with. */
export type Forgotten =
  | { readonly kind: "all" }
  | { readonly kind: "provider"; readonly issuer: string }
  | { readonly kind: "passkey"; readonly id: number };

export interface Forgot {
  readonly accounts: number;
  readonly passkeys: number;
  readonly sessions: number;
}

export interface LinkedAccount {
  /** The provider's issuer. */
  readonly provider: string;
  /** As the provider wrote it when the account was linked. */
  readonly email: string;
  readonly linkedAtMs: number;
}

/** Sign-ins under way at the same time; our choice. Beyond it the oldest are dropped, so that a flood of new ones stays bounded. */
export const MOST_ATTEMPTS = 10_000;

export interface Identities {
  /** Whose account it is. */
  user(provider: string, subject: string): Promise<UserRecord | undefined>;
  /** False when the person has another account of that provider, or the account is another person's. */
  link(identity: NewIdentity): Promise<boolean>;

  /** By provider. */
  ofUser(userId: number): Promise<readonly LinkedAccount[]>;
  /**
   * Forgets accounts of providers, passkeys, and the sessions that such ones began: which passkey began a session is not known, so all that passkeys
   * began end with any of them.
   */
  forget(userId: number, what: Forgotten): Promise<Forgot>;

  /** Also forgets what is too old or too much. */
  addAttempt(attempt: NewAttempt): Promise<void>;
  /** Uses the attempt up. @returns undefined when there is none for that purpose, or it is too old */
  takeAttempt(
    attemptHash: string,
    purpose: AttemptPurpose,
    nowMs: number,
  ): Promise<{ readonly userId: number | null } | undefined>;
}
