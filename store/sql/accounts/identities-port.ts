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

/** Sign-ins under way at the same time; our choice. Beyond it the oldest are forgotten: a flood of new ones keeps its bound. */
export const MOST_ATTEMPTS = 10_000;

export interface Identities {
  /** Whose account it is. */
  user(provider: string, subject: string): Promise<UserRecord | undefined>;
  /** False when the person has another account of that provider, or the account is another person's. */
  link(identity: NewIdentity): Promise<boolean>;

  /** Also forgets what is too old or too much. */
  addAttempt(attempt: NewAttempt): Promise<void>;
  /** Uses the attempt up. @returns undefined when there is none for that purpose, or it is too old */
  takeAttempt(
    attemptHash: string,
    purpose: AttemptPurpose,
    nowMs: number,
  ): Promise<{ readonly userId: number | null } | undefined>;
}
