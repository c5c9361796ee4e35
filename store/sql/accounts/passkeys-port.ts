/** Passkeys of people: public keys, so nothing in them is secret. */
import type { UserRecord } from "./port.ts";

export interface Passkey {
  readonly id: number;
  /** Base64url, as the browser names it. */
  readonly credentialId: string;
  readonly userId: number;
  /** COSE, base64url. */
  readonly publicKey: string;
  /** How often the device says that it was used; 0: it does not count. */
  readonly counter: number;
  readonly name: string;
  /**
   * How the session that added it began. A link of an invitation may have been used by the one who made it, so
   * passkeys of links end when the person joins a further workspace.
   */
  readonly addedVia: "link" | "oidc";
  readonly createdAtMs: number;
  readonly usedAtMs: number | null;
}
export type NewPasskey = Omit<Passkey, "id" | "usedAtMs">;

/** Of one person. */
export const MOST_PASSKEYS = 20;

export interface Passkeys {
  /** @param sessionId the session that adds it; `ended`: it has ended meanwhile */
  add(passkey: NewPasskey, sessionId: number): Promise<Passkey | "taken" | "full" | "ended">;
  /** Oldest first. */
  ofUser(userId: number): Promise<readonly Passkey[]>;
  /** With the person, as they are now. */
  access(credentialId: string): Promise<{ readonly passkey: Passkey; readonly user: UserRecord } | undefined>;
  /** False when its counter has not risen since, or it is gone: the answer is an old one, or the device was copied. */
  use(id: number, counter: number, nowMs: number): Promise<boolean>;
  rename(userId: number, id: number, name: string): Promise<Passkey | undefined>;
  /** False when the person has no such passkey. */
  remove(userId: number, id: number): Promise<boolean>;
}
