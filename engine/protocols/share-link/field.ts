/** Checks of single fields. A refusal names the field and never repeats the text, which may be a secret. */
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { withoutBrackets } from "../../../model/url.ts";
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { parseHost, readHost, readPort, splitAuthority } from "../endpoint.ts";

/** By folded name (share-link/link.ts). */
export type Parameters = ReadonlyMap<string, string>;

/** Reports what was ignored or kept as it is, in words for people; never the text itself, which may be a secret. */
export type Ignore = (field: string, what: string) => void;

/** Longest text that a provider puts into one field, characters. */
const MAX_TEXT = 2_048;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what no field of a core may hold
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|\p{Surrogate}/u;
/** Nearly all texts of providers match it: checked first, because it is cheap. */
const PLAIN_LINE = /^[\u0020-\u007e]*$/;
const PLAIN_WORD = /^[a-z0-9.-]*$/;
const TRUE_WORDS = new Set(["1", "t", "true", "yes", "on"]);

/** The first of the names that has a value; empty when none has. */
export function paramOf(parameters: Parameters, ...names: readonly string[]): string {
  for (const name of names) {
    const value = parameters.get(name);
    if (value !== undefined && value !== "") return value;
  }
  return "";
}

export function isTrue(parameters: Parameters, ...names: readonly string[]): boolean {
  const word = paramOf(parameters, ...names);
  return word !== "" && TRUE_WORDS.has(wordOf(word));
}

/** Without blanks around it, in lowercase. */
export function wordOf(text: string): string {
  return PLAIN_WORD.test(text) ? text : text.trim().toLowerCase();
}

export function refuse(field: string, why: string): TunnelConfigError {
  return new TunnelConfigError(`${field} ${why}`);
}

/** Any one-line text. @throws TunnelConfigError */
export function lineOf(text: string, field: string, longest = MAX_TEXT): string {
  if (text.length > longest) throw refuse(field, `is longer than ${longest} characters`);
  if (!PLAIN_LINE.test(text) && FORBIDDEN.test(text)) throw refuse(field, "holds control characters");
  return text;
}

/** A word of a closed list, in any case. @throws TunnelConfigError */
export function oneOf<Word extends string>(text: string, words: readonly Word[], field: string): Word {
  const wanted = wordOf(text);
  const found = words.find((word) => word === wanted);
  if (found === undefined) throw refuse(field, `must be one of ${words.filter((word) => word !== "").join(", ")}`);
  return found;
}

/** A whole number. @throws TunnelConfigError */
export function numberOf(text: string, field: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) throw refuse(field, `must be a whole number from ${least} to ${most}`);
  return value;
}

const UUID = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/;

/** As nearly every one is written. */
const PLAIN_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Lowercase with dashes. @throws TunnelConfigError */
export function uuidOf(text: string): string {
  if (PLAIN_UUID.test(text)) return text;
  const groups = UUID.exec(text.trim().toLowerCase());
  if (groups === null) throw new TunnelConfigError("the link's user id is not a UUID");
  return groups.slice(1).join("-");
}

/** As both cores read an id that is no UUID: version 5 of it in the nil namespace (xray, common/uuid). @throws TunnelConfigError */
export function mappedUuid(text: string): string {
  if (PLAIN_UUID.test(text)) return text;
  const id = text.trim();
  if (UUID.test(id.toLowerCase())) return uuidOf(id);
  lineOf(id, "the link's user id");
  const bytes = createHash("sha1").update(Buffer.alloc(16)).update(id).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidOf(bytes.toString("hex"));
}

/** Bytes in either base64 alphabet; undefined when it is something else. */
export function bytesOf(text: string): Buffer | undefined {
  const letters = text.trim();
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(letters)) return undefined;
  // A length of 4n+1 letters is no base64 of anything. Buffer reads both alphabets.
  const padding = letters.endsWith("==") ? 2 : letters.endsWith("=") ? 1 : 0;
  return (letters.length - padding) % 4 === 1 ? undefined : Buffer.from(letters, "base64");
}

/** A key of so many bytes as base64url without padding. @throws TunnelConfigError */
export function keyOf(text: string, field: string, sizeBytes: number): string {
  const bytes = bytesOf(text);
  if (bytes?.length !== sizeBytes) throw refuse(field, `must be ${sizeBytes} bytes in base64`);
  return bytes.toString("base64url");
}

/** A name or address; empty stays empty. @throws TunnelConfigError */
export function hostOf(text: string, field: string): string {
  const trimmed = text.trim();
  return trimmed === "" ? "" : parseHost(trimmed, field);
}

const AS_IT_STANDS = "is no host name, and is sent as it stands";

/**
 * A name that is sent and never dialled. Both cores send whatever a link says: so does a link that the server's owner has made wrong, and servers that
 * look at no name answer it.
 *
 * @throws TunnelConfigError
 */
export function sentNameOf(text: string, field: string, ignore: Ignore): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  const name = plainNameOf(trimmed);
  if (name !== undefined) return name;
  ignore(field, AS_IT_STANDS);
  return lineOf(trimmed, field);
}

/** @returns undefined for what a resolver alone would take for an address: `123` is 0.0.0.123 to it, and a name to a server */
function plainNameOf(text: string): string | undefined {
  const name = readHost(text);
  if (typeof name !== "string") return undefined;
  return isIP(name) === 0 || isIP(withoutBrackets(text)) !== 0 ? name : undefined;
}

/** What is sent as Host: with a port, where there is one. @throws TunnelConfigError */
export function hostHeaderOf(text: string, field: string, ignore: Ignore): string {
  const [first] = listOf(text);
  if (first === undefined) return "";
  const name = plainHostHeader(first);
  if (name !== undefined) return name;
  ignore(field, AS_IT_STANDS);
  return lineOf(first, field);
}

/** @returns undefined when it is something else than a name or address with or without a port */
export function plainHostHeader(text: string): string | undefined {
  const { host, port } = splitAuthority(text);
  const name = plainNameOf(host.trim());
  if (name === undefined || (port !== null && readPort(port) === undefined)) return undefined;
  const written = name.includes(":") ? `[${name}]` : name;
  return port === null ? written : `${written}:${readPort(port)}`;
}

const PLAIN_PATH = /^\/[!-$&-~]*$/;

/** Begins with a slash; what HTTP cannot carry is percent-encoded. @throws TunnelConfigError */
export function pathOf(text: string, field: string): string {
  if (text.length <= MAX_TEXT && PLAIN_PATH.test(text)) return text;
  const path = lineOf(text.trim(), field);
  const slashed = path.startsWith("/") ? path : `/${path}`;
  const whole = slashed.replace(/%(?![0-9a-f]{2})/gi, "%25");
  return whole.replace(/[^\u0021-\u007e]+/gu, (run) => encodeURIComponent(run));
}

export function listOf(text: string): readonly string[] {
  if (!text.includes(",")) return text.trim() === "" ? [] : [text.trim()];
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** Before and after the first mark; the second is empty when there is none. */
export function atFirst(text: string, mark: string): readonly [before: string, after: string] {
  const index = text.indexOf(mark);
  return index < 0 ? [text, ""] : [text.slice(0, index), text.slice(index + mark.length)];
}

/** A name, or a JSON text of headers with one, as some clients write it. */
export function hostOfHeaders(text: string): string {
  if (!text.includes("{")) return text;
  const [, inside] = /^\s*\{.*"host"\s*:\s*"([^"]*)"/is.exec(text) ?? [];
  return inside ?? text;
}
