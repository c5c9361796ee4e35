/**
 * HTTP/1.1 as a login needs it: many requests on one connection, cookies, headers by name. Heads are checked and bodies framed by
 * protocols/http; here is what a website check has no use for.
 */
import { parseHead } from "../http/head.ts";
import { HEAD_LIMIT_BYTES, ResponseReader } from "../http/response.ts";
import { HttpSyntaxError } from "../http/syntax-error.ts";
import { XML_LIMIT } from "./xml.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "CONNECT";
  /** As it stands in the request line. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface HttpAnswer {
  readonly status: number;
  /** Behind the status, for people; empty when there is none. */
  readonly phrase: string;
  /** In their order; names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** The server ends the connection behind this answer. */
  readonly isLast: boolean;
}

export function encodeRequest({ method, target, headers, body }: HttpRequest): Buffer {
  const bytes = Buffer.from(body, "utf8");
  const length: readonly [string, string][] = method === "POST" ? [["Content-Length", String(bytes.length)]] : [];
  const lines = [...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1"), bytes]);
}

/** The first header of that name; null when there is none. */
export function headerOf(answer: Pick<HttpAnswer, "headers">, name: string): string | null {
  return headersOf(answer, name)[0] ?? null;
}

export function headersOf({ headers }: Pick<HttpAnswer, "headers">, name: string): readonly string[] {
  return headers.flatMap(([key, value]) => (key === name ? [value] : []));
}

/** One answer at a time. */
export class AnswerParser {
  readonly #hasBody: boolean;
  #head: Buffer = Buffer.allocUnsafe(1_024);
  #headBytes = 0;
  #lineAt = 0;
  #reader: ResponseReader | null = null;
  #answer: Omit<HttpAnswer, "body"> | null = null;
  #body = "";
  #rest: Buffer = Buffer.alloc(0);
  readonly #decoder = new TextDecoder("utf-8");

  /** @param method of the request: what follows a CONNECT's 200 is the tunnel (RFC 9110 section 9.3.6) */
  constructor(method: HttpRequest["method"]) {
    this.#hasBody = method !== "CONNECT";
  }

  /** What came behind a CONNECT's answer. */
  get rest(): Buffer {
    return this.#rest;
  }

  /** @returns the answer once it is whole. @throws HttpSyntaxError */
  push(bytes: Buffer): HttpAnswer | undefined {
    let at = 0;
    while (this.#reader === null) {
      const end = this.#collectHead(bytes, at);
      if (end === undefined) return undefined;
      at = end;
      const head = this.#head.subarray(0, this.#headBytes);
      this.#headBytes = 0;
      this.#lineAt = 0;
      const { status, framing } = parseHead(head, 0, head.length);
      // Interim answers are passed over (RFC 9110 section 15.2).
      if (status < 200) continue;
      const lines = headLines(head);
      this.#answer = { ...lines, status, isLast: framing === "until-close" || asksToClose(head, lines) };
      if (!this.#hasBody && status < 300) {
        this.#rest = Buffer.from(bytes.subarray(at));
        return { ...this.#answer, body: "" };
      }
      this.#reader = new ResponseReader({ head: () => true, body: (piece) => this.#addBody(piece) });
      this.#reader.push(head);
    }
    if (at < bytes.length) this.#reader.push(bytes.subarray(at));
    return this.#reader.done ? this.#whole() : undefined;
  }

  /** The server has ended the connection. @returns the answer when it ends with it */
  end(): HttpAnswer | undefined {
    return this.#reader?.end() === null ? this.#whole() : undefined;
  }

  #whole(): HttpAnswer | undefined {
    return this.#answer === null ? undefined : { ...this.#answer, body: this.#body };
  }

  #addBody(piece: Buffer): boolean {
    this.#body += this.#decoder.decode(piece, { stream: true });
    if (this.#body.length > XML_LIMIT) throw new HttpSyntaxError("the answer is too long for a login form");
    return true;
  }

  /** @returns the place behind the empty line; undefined when it has not come */
  #collectHead(bytes: Buffer, from: number): number | undefined {
    for (let at = from; at < bytes.length; at++) {
      if (this.#headBytes === HEAD_LIMIT_BYTES) throw new HttpSyntaxError("headers are larger than 64 KiB");
      if (this.#headBytes === this.#head.length) {
        const larger = Buffer.allocUnsafe(2 * this.#head.length);
        this.#head.copy(larger);
        this.#head = larger;
      }
      const byte = bytes[at] ?? 0;
      this.#head[this.#headBytes++] = byte;
      if (this.#headBytes === VERSION.length && !this.#head.subarray(0, VERSION.length).equals(VERSION)) {
        throw new HttpSyntaxError("its first line is not HTTP");
      }
      if (byte !== LF) continue;
      const length = this.#headBytes - this.#lineAt;
      this.#lineAt = this.#headBytes;
      if (length === 1 || (length === 2 && this.#head[this.#headBytes - 2] === CR)) return at + 1;
    }
    return undefined;
  }
}

const CR = 0x0d;
const LF = 0x0a;
const VERSION = Buffer.from("HTTP/1.");
const HTTP_1_0 = "HTTP/1.0";

/** Of a head that parseHead() has accepted. */
function headLines(head: Buffer): Pick<HttpAnswer, "phrase" | "headers"> {
  const [first = "", ...lines] = head.toString("latin1").split(/\r?\n/);
  const headers: [string, string][] = [];
  for (const line of lines) {
    const colon = line.indexOf(":");
    const last = headers.at(-1);
    // A folded line goes on with the one before (RFC 9112 section 5.2).
    if (/^[\t ]/.test(line)) {
      if (last !== undefined) last[1] += ` ${line.trim()}`;
    } else if (colon > 0) headers.push([line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]);
  }
  return { phrase: first.slice("HTTP/1.1 200 ".length), headers };
}

function asksToClose(head: Buffer, lines: Pick<HttpAnswer, "headers">): boolean {
  if (head.toString("latin1", 0, HTTP_1_0.length) === HTTP_1_0) return true;
  return headersOf(lines, "connection").some((value) => /\bclose\b/i.test(value));
}
