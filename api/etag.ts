/** Tags of answers, by which a caller asks whether they are still the same. */
import { createHash } from "node:crypto";

/** Weak: one for the list, whether it is compressed or not (RFC 9110 section 8.8.1). */
export function tagOf(body: string | Uint8Array): string {
  return `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}
