/** Who is signed in to the page, and links that sign in once. The store has hashes only. */
import type { UserRecord } from "./port.ts";

/** How the person signed in. */
export type SessionVia = "key" | "link" | "oidc" | "passkey";

export interface SessionRecord {
  readonly id: number;
  /** Hex SHA-256 of the secret in the cookie. */
  readonly secretHash: string;
  readonly userId: number;
  /** The key that it was made with, whose reach it has; null: every workspace of the person. */
  readonly keyId: number | null;
  readonly via: SessionVia;
  readonly createdAtMs: number;
  /** May lag by a minute. */
  readonly seenAtMs: number;
  /** At the latest, however much it is used. */
  readonly endsAtMs: number;
  /** Browser and system, in words. */
  readonly device: string;
  readonly address: string;
}
export type NewSession = Omit<SessionRecord, "id" | "seenAtMs">;

/** A session with the person behind it, as they are now. */
export interface SessionAccess {
  readonly session: SessionRecord;
  readonly user: UserRecord;
}

export interface NewSignInCode {
  readonly codeHash: string;
  readonly userId: number;
  readonly nowMs: number;
  readonly expiresAtMs: number;
}

export interface Sessions {
  /** Also forgets what has ended by then. @returns undefined when the person belongs to no workspace */
  create(input: NewSession): Promise<SessionRecord | undefined>;
  access(id: number): Promise<SessionAccess | undefined>;
  /** Newest first; those that have ended by age are left out. */
  ofUser(userId: number, nowMs: number): Promise<readonly SessionRecord[]>;
  /** False when the person has no such session. */
  end(userId: number, id: number): Promise<boolean>;
  /** @returns how many ended */
  endOthers(userId: number, exceptId: number): Promise<number>;
  /** Batched by the caller; may lag by a minute. */
  touch(seen: ReadonlyMap<number, number>): Promise<void>;

  /** Also forgets codes that are too old. */
  addCode(code: NewSignInCode): Promise<void>;
  /** Uses the code up. @returns whose it was; undefined when there is none, or it is too old */
  takeCode(codeHash: string, nowMs: number): Promise<number | undefined>;
}
