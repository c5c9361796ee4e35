/** The secret that a webhook and its receiver share: `whsec_` and the base64 of 32 random bytes (docs/api-contract.md#webhooks). */
import { randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** @returns the secret's bytes, which are the key of the signature */
export function webhookKey(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), "base64");
}
