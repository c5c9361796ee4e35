/** A SOCKS5 client's side (RFC 1928) with user and password (RFC 1929): everything asked at once, answers read as they come. Pure. */

const VERSION = 5;
const LOGIN_VERSION = 1;
const METHOD_LOGIN = 2;
const CONNECT = 1;
/** Address types. */
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;

/** Users and passwords are counted in one byte; RFC 1929 section 2. */
const MAX_TEXT = 255;

/** The method and the login, without waiting for the answer to the first: the core takes no other method. */
export function greeting(user: string, password: string): Buffer {
  return Buffer.concat([
    Buffer.from([VERSION, 1, METHOD_LOGIN, LOGIN_VERSION]),
    counted(user, "user"),
    counted(password, "password"),
  ]);
}

/** @param target a name, which the far end resolves, or an address without brackets */
export function connectRequest(target: string, port: number): Buffer {
  const address =
    ipv4Bytes(target) ?? ipv6Bytes(target) ?? Buffer.concat([Buffer.from([NAME]), counted(target, "name")]);
  const number = Buffer.alloc(2);
  number.writeUInt16BE(port);
  return Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), address, number]);
}

function counted(text: string, what: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length === 0 || bytes.length > MAX_TEXT) throw new RangeError(`a ${what} of ${bytes.length} bytes`);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

function ipv4Bytes(text: string): Buffer | undefined {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return undefined;
  return Buffer.from([IPV4, ...text.split(".").map(Number)]);
}

function ipv6Bytes(text: string): Buffer | undefined {
  if (!text.includes(":")) return undefined;
  // The last two groups may be written as an IPv4 address (RFC 4291 section 2.2).
  const last = text.lastIndexOf(":") + 1;
  const [, a = "", b = "", c = "", d = ""] =
    /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text.slice(last)) ?? [];
  const low = [(Number(a) << 8) | Number(b), (Number(c) << 8) | Number(d)].map((part) => part.toString(16)).join(":");
  const plain = a === "" ? text : text.slice(0, last) + low;
  const [head = "", tail] = plain.split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: Math.max(0, missing) }, () => "0"), ...groups(tail ?? "")];
  if (all.length !== 8) return undefined;
  const bytes = Buffer.alloc(17);
  bytes[0] = IPV6;
  for (const [index, group] of all.entries()) bytes.writeUInt16BE(Number.parseInt(group, 16) & 0xffff, 1 + 2 * index);
  return bytes;
}

export type ReplyKind = "method" | "login" | "connect";

export type SocksRead =
  | { readonly kind: "more" }
  /** @member rest what came after the last answer: the target's */
  | { readonly kind: "done"; readonly rest: Buffer }
  /** @member code of the CONNECT answer (RFC 1928 section 6); null: not let in, or no SOCKS5 */
  | { readonly kind: "refused"; readonly at: ReplyKind; readonly code: number | null };

/** Reads the answers that are expected, in their order. */
export class SocksReplies {
  readonly #expected: readonly ReplyKind[];
  #at = 0;
  #carry: Buffer = Buffer.alloc(0);

  constructor(expected: readonly ReplyKind[] = ["method", "login", "connect"]) {
    this.#expected = expected;
  }

  push(bytes: Buffer): SocksRead {
    let all = this.#carry.length === 0 ? bytes : Buffer.concat([this.#carry, bytes]);
    for (let kind = this.#expected[this.#at]; kind !== undefined; kind = this.#expected[this.#at]) {
      const size = sizeOf(kind, all);
      if (size === "not-socks") return { kind: "refused", at: kind, code: null };
      if (size === undefined || all.length < size) {
        this.#carry = Buffer.from(all);
        return { kind: "more" };
      }
      const code = all[1] ?? 0;
      const wanted = kind === "method" ? METHOD_LOGIN : 0;
      if (code !== wanted) return { kind: "refused", at: kind, code: kind === "connect" ? code : null };
      all = all.subarray(size);
      this.#at += 1;
    }
    this.#carry = Buffer.alloc(0);
    return { kind: "done", rest: all };
  }
}

/** @returns undefined while more bytes are needed to decide */
function sizeOf(kind: ReplyKind, bytes: Buffer): number | undefined | "not-socks" {
  if (bytes.length === 0) return undefined;
  if (bytes[0] !== (kind === "login" ? LOGIN_VERSION : VERSION)) return "not-socks";
  if (kind !== "connect") return 2;
  // A refusal need not be followed by an address.
  if (bytes.length >= 2 && bytes[1] !== 0) return 2;
  if (bytes.length < 5) return undefined;
  switch (bytes[3]) {
    case IPV4:
      return 10;
    case IPV6:
      return 22;
    case NAME:
      return 7 + (bytes[4] ?? 0);
    default:
      return "not-socks";
  }
}
