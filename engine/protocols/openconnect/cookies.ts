/** Cookies of one login (RFC 6265), for the one server that set them. Pure. */
import { type HttpAnswer, headersOf } from "./http.ts";

const COOKIE_LIMIT = 32;
const VALUE_LIMIT_BYTES = 8 * 1024;
/** cookie-octet, and what servers use beside it; nothing that could end a header or begin another cookie. */
const PAIR = /^\s*([\w!#$%&'*+.^`|~-]{1,256})\s*=\s*([\x21-\x3a\x3c-\x7e]*)\s*(?:;|$)/;

export class CookieJar {
  readonly #values = new Map<string, string>();

  take(answer: Pick<HttpAnswer, "headers">): void {
    for (const line of headersOf(answer, "set-cookie")) {
      const [, name = "", value = ""] = PAIR.exec(line) ?? [];
      if (name === "" || value.length > VALUE_LIMIT_BYTES) continue;
      if (value === "") this.#values.delete(name);
      else if (this.#values.has(name) || this.#values.size < COOKIE_LIMIT) this.#values.set(name, value);
    }
  }

  get(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  /** The Cookie header; empty without cookies. */
  text(): string {
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join("; ");
  }
}

/** Whether a session's token from a form can stand in a Cookie header. */
export function isCookieValue(token: string): boolean {
  return token.length <= VALUE_LIMIT_BYTES && /^[\x21-\x3a\x3c-\x7e]+$/.test(token);
}
