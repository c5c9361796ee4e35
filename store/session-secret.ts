/** What signs in to the page: secrets of cookies and codes of links. They have full entropy, so no slow hash is needed. */
import { hash, randomBytes } from "node:crypto";

/** 256 bits: 43 characters of base64url. */
const SECRET_BYTES = 32;
/** A link is opened at once, or made anew. */
export const CODE_LIVES_MS = 600_000;

export interface NewSecret {
  readonly text: string;
  /** Hex SHA-256: what the store keeps. */
  readonly hash: string;
}

export function newSecret(): NewSecret {
  const text = randomBytes(SECRET_BYTES).toString("base64url");
  return { text, hash: hashSecret(text) };
}

export function hashSecret(text: string): string {
  return hash("sha256", text, "hex");
}
