/** Headers of a request that a person writes: which may be sent, and how large they may be. Pure. */

/** A browser sends fewer than twenty. */
export const MOST_HEADERS = 32;
/** Names, values, and four bytes a line for what is between and after them: what the widespread servers take in all. */
export const MOST_HEADER_BYTES = 8 * 1024;

/** tchar of RFC 9110 section 5.6.2. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;
/** Visible ASCII, with blanks inside (RFC 9110 section 5.5, without obs-text). */
const VALUE = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]{0,8190}[\x21-\x7e])?)?$/;

/** Why a person cannot send it, by its name in lower case. */
const REFUSED: Readonly<Record<string, string>> = {
  host: "it follows from the url, which is also what is dialled and what the certificate is for",
  "content-length": "it follows from the body",
  "transfer-encoding": "the body is sent whole",
  connection: "each check has a connection of its own",
  "keep-alive": "each check has a connection of its own",
  "proxy-connection": "each check has a connection of its own",
  "proxy-authorization": "no proxy is asked",
  te: "no trailers are read",
  trailer: "no trailers are sent",
  upgrade: "the protocol is not changed",
  "http2-settings": "the protocol is not changed",
  expect: "the body is sent at once",
  "accept-encoding": "it says what a check can decode",
};

/** @returns why these headers cannot be sent, as a sentence for people; undefined: they can */
export function headersFault(headers: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(headers);
  if (entries.length > MOST_HEADERS) return `headers must be at most ${MOST_HEADERS}.`;
  let sizeBytes = 0;
  const seen = new Set<string>();
  for (const [name, value] of entries) {
    sizeBytes += name.length + value.length + 4;
    if (sizeBytes > MOST_HEADER_BYTES) return `headers must be at most ${MOST_HEADER_BYTES} bytes together.`;
    if (!NAME.test(name)) return "headers: a name is letters, digits and hyphens.";
    const lower = name.toLowerCase();
    const reason = Object.hasOwn(REFUSED, lower) ? REFUSED[lower] : undefined;
    if (reason !== undefined) return `headers: ${name} cannot be set: ${reason}.`;
    if (seen.has(lower)) return `headers: ${name} is there twice.`;
    seen.add(lower);
    if (!VALUE.test(value)) return `headers: the value of ${name} must be visible ASCII characters and blanks.`;
  }
  return undefined;
}
