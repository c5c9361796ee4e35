/** Tags of answers, by which a caller asks whether they are still the same. */
import { createHash } from "node:crypto";

/** Of a body that is made part by part: hashing a megabyte takes half a millisecond. */
export class GrowingTag {
  readonly #hash = createHash("sha256");

  add(part: string | Uint8Array): void {
    this.#hash.update(part);
  }

  /** Weak: one for the list, whether it is compressed or not (RFC 9110 section 8.8.1). The last call. */
  end(): string {
    return `W/"${this.#hash.digest("base64url").slice(0, 22)}"`;
  }
}

export function tagOf(body: string | Uint8Array): string {
  const tag = new GrowingTag();
  tag.add(body);
  return tag.end();
}
