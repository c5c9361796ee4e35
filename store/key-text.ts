/** The text of a key: `uk<id>_<secret>`, or `dk…` for dashboard keys; 40 random URL-safe characters (docs/api-contract.md#keys). */
import { hash, randomBytes } from "node:crypto";

/** 30 bytes are 40 characters of base64url. */
const SECRET_BYTES = 30;

export interface NewKeyText {
  /** The hash that the store keeps; it needs the id. */
  readonly secretHash: (id: number) => string;
  /** The whole key, to be shown once. */
  readonly text: (id: number) => string;
}

export function newKeyText(prefix: "uk" | "dk" = "uk"): NewKeyText {
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  const text = (id: number): string => `${prefix}${id}_${secret}`;
  return { secretHash: (id) => hashKey(text(id)), text };
}

/** Hex SHA-256 of the whole key: keys have full entropy, so no slow hash is needed. */
export function hashKey(key: string): string {
  return hash("sha256", key, "hex");
}
