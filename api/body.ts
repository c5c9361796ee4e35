/** JSON bodies: bytes from any caller to an object whose strings are well-formed. */
import { bodyTooLong, refusal } from "./errors.ts";
import { type ApiRequest, mostBodyBytes } from "./http.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Levels. No body of the contract has more than 3; each level costs stack in whatever walks through the value. */
const MAX_DEPTH = 32;
/** Members and items together. The longest list of the contract has 500; a mebibyte of members would be parsed for a tenth of a second. */
const MAX_MEMBERS = 16_384;
const UTF8 = new TextDecoder("utf-8", { fatal: true });
const LONE_SURROGATE = /\p{Surrogate}/u;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** @throws 400 `Invalid JSON body` for anything but an object, 413 when it is longer than we keep */
export function readObject(request: ApiRequest): JsonObject {
  const { body } = request;
  if (body === "too-large") throw bodyTooLong(mostBodyBytes(request.path));
  if (body === null) throw refusal("invalidJson");
  const value = parse(body);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refusal("invalidJson");
  objects.set(request, value as JsonObject);
  return value as JsonObject;
}

/** The bodies that handlers have read, by request, for code that looks at them later. */
const objects = new WeakMap<ApiRequest, JsonObject>();

/** The body that a handler has read; undefined when none did. */
export function objectOf(request: ApiRequest): JsonObject | undefined {
  return objects.get(request);
}

/** For endpoints whose body may be left out: blanks count as nothing. */
export function readOptionalObject(request: ApiRequest): JsonObject {
  const { body } = request;
  if (body === null || (body !== "too-large" && body.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))))
    return {};
  return readObject(request);
}

/** A field that was sent: a name such as `constructor` or `__proto__` does not reach what JavaScript objects inherit. */
export function fieldOf(object: JsonObject, field: string): unknown {
  return Object.hasOwn(object, field) ? object[field] : undefined;
}

function parse(bytes: Uint8Array): unknown {
  let value: unknown;
  let text: string;
  try {
    text = UTF8.decode(bytes);
    if (isTooMuch(bytes)) throw refusal("invalidJson");
    value = JSON.parse(text);
  } catch {
    throw refusal("invalidJson");
  }
  // Only an escape can smuggle half of a character into a text that was valid UTF-8.
  if (/\\u[dD][89a-fA-F]/.test(text) && hasLoneSurrogate(value)) throw refusal("invalidJson");
  return value;
}

/** Whether it is nested too deep or has too many parts. One pass over the text finds out before it is parsed. */
function isTooMuch(bytes: Uint8Array): boolean {
  let depth = 0;
  let members = 0;
  let inString = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (inString) {
      if (byte === BACKSLASH) index += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1;
    else if (byte === COMMA && ++members > MAX_MEMBERS) return true;
  }
  return false;
}

function hasLoneSurrogate(value: unknown): boolean {
  if (typeof value === "string") return LONE_SURROGATE.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, inner]) => LONE_SURROGATE.test(key) || hasLoneSurrogate(inner));
}
