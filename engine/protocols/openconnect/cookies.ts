/** Cookies of one login (RFC 6265), for the one server that set them. Pure. */
import { before } from "../../../model/text.ts";
import { type HttpAnswer, headersOf } from "./http.ts";

const COOKIE_LIMIT = 32;
const VALUE_LIMIT_BYTES = 8 * 1024;
const NAME = /^[\w!#$%&'*+.^`|~-]{1,256}$/;
/** cookie-octet, and what servers use beside it; nothing that could end a header or begin another cookie. */
const VALUE = /^[\x21-\x3a\x3c-\x7e]*$/;

export class CookieJar {
  readonly #values = new Map<string, string>();

  take(answer: Pick<HttpAnswer, "headers">): void {
    for (const line of headersOf(answer, "set-cookie")) {
      const pair = before(line, ";");
      const equals = pair.indexOf("=");
      const name = pair.slice(0, Math.max(0, equals)).trim();
      const value = pair.slice(equals + 1).trim();
      if (!NAME.test(name) || value.length > VALUE_LIMIT_BYTES || !VALUE.test(value)) continue;
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
