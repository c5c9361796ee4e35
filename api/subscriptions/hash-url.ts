/** What addresses of subscriptions are compared by. */
import { createHmac } from "node:crypto";

/** Keyed, because an address often holds a token that is short enough to be guessed. @param key of openHashKey() */
export function hashUrl(key: string, normalUrl: string): string {
  return createHmac("sha256", key).update(normalUrl).digest("base64url");
}
