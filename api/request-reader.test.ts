import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { property } from "../testkit/property.ts";
import { MAX_DISCARDED_BYTES } from "./http.ts";
import { requestOf } from "./request.ts";
import { MAX_HEAD_BYTES, parseRequestHead, RequestReader } from "./request-reader.ts";

const TOKEN = [..."!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const token = fc.string({ unit: fc.constantFrom(...TOKEN), minLength: 1, maxLength: 12 });
const text = fc.string({ unit: fc.constantFrom(..."abc /:;,\u00e9"), maxLength: 20 });
const body = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("latin1"));

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly names: readonly string[];
  readonly value: string;
  readonly body: string;
  readonly isChunked: boolean;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  method: fc.constantFrom("GET", "POST", "PATCH", "X-_.!"),
  path: fc.constantFrom("/", "/api/v1/servers?limit=5&name=%20", "/a?b?c"),
  // One that is read has rules of its own.
  names: fc.array(
    token.map((name) => `x_${name}`),
    { maxLength: 4 },
  ),
  value: text.filter((value) => value.trim() === value),
  body,
  isChunked: fc.boolean(),
});

function written({ method, path, names, value, body, isChunked }: Sent, sizes: readonly number[]): string {
  const lines = names.map((name) => `${name}: \t${value} \r\n`).join("");
  const begin = `${method} ${path} HTTP/1.1\r\nHost: a\r\n${lines}`;
  if (!isChunked) return `${begin}Content-Length: ${body.length}\r\n\r\n${body}`;
  let chunks = "";
  let at = 0;
  for (const size of sizes) {
    const part = body.slice(at, at + size);
    at += size;
    if (part !== "") chunks += `${part.length.toString(16)};a=b\r\n${part}\r\n`;
  }
  const rest = body.slice(at);
  if (rest !== "") chunks += `${rest.length.toString(16).toUpperCase()}\r\n${rest}\r\n`;
  return `${begin}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\nX-Sum: 1\r\n\r\n`;
}

type Seen = readonly [method: string, path: string, query: string, body: string | null];

/** All that is read of these pieces, and how it ends. */
function readAll(pieces: readonly Buffer[]): { seen: Seen[]; end: string } {
  const reader = new RequestReader();
  const seen: Seen[] = [];
  for (const piece of pieces) {
    reader.push(piece);
    for (let next = reader.next(); next !== null; next = reader.next()) {
      if (next === "too long") return { seen, end: next };
      if ("status" in next) return { seen, end: String(next.status) };
      const request = requestOf(next.line, "192.0.2.1", next.body);
      const bytes = request.body;
      const content = bytes === null || bytes === "too-large" ? bytes : Buffer.from(bytes).toString("latin1");
      seen.push([request.method, request.path, request.query, content]);
    }
    expect(reader.waiting).toBeLessThanOrEqual(MAX_HEAD_BYTES);
  }
  return { seen, end: reader.phase };
}

/** Cut at these places, whatever their order. */
function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

const latin = (of: string): Buffer => Buffer.from(of, "latin1");

describe("requests of a connection", () => {
  property([
    fc.array(sent, { minLength: 1, maxLength: 4 }),
    fc.array(fc.nat(30), { maxLength: 4 }),
    fc.array(fc.nat(), { maxLength: 20 }),
  ])("are the same however their bytes come", (all, sizes, cuts) => {
    const bytes = latin(all.map((one) => written(one, sizes)).join("\r\n"));
    const wanted = all.map(({ method, path, body }): Seen => {
      const mark = path.indexOf("?");
      return [
        method,
        mark < 0 ? path : path.slice(0, mark),
        mark < 0 ? "" : path.slice(mark + 1),
        body === "" ? null : body,
      ];
    });
    expect(readAll([bytes])).toEqual({ seen: wanted, end: "idle" });
    expect(readAll(piecesOf(bytes, cuts))).toEqual({ seen: wanted, end: "idle" });
  });

  property([
    fc.string({ unit: fc.constantFrom(..."\r\n\t :;,/0159aGETHPX.1\u0000\u00e9"), maxLength: 300 }),
    fc.array(fc.nat(), { maxLength: 8 }),
  ])("are read of any bytes alike, in one piece or in many, and nothing is thrown", (tail, cuts) => {
    const bytes = latin(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n${tail}`);
    const whole = readAll([bytes]);
    const cut = readAll(piecesOf(bytes, cuts));
    expect(cut.seen).toEqual(whole.seen);
    // What is broken is refused, sooner or later.
    if (/^\d/.test(cut.end)) expect(whole.end).toMatch(/^\d/);
    parseRequestHead(tail);
  });

  it.each([
    ["a letter that no name has", "GET / HTTP/1.1\r\nHost: a\r\nX(: 1\r\n\r\n", "400"],
    ["an empty name", "GET / HTTP/1.1\r\nHost: a\r\n: 1\r\n\r\n", "400"],
    ["LF alone, before the head is whole", "GET / HTTP/1.1\nHost: a\n", "400"],
    ["CR alone, before the head is whole", "GET / HTTP/1.1\rHost: a", "400"],
    ["a TLS greeting", "\u0016\u0003\u0001\u0002", "400"],
    ["a head that does not end", `GET / HTTP/1.1\r\nX: ${"y".repeat(MAX_HEAD_BYTES)}`, "431"],
    ["PROXY", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400"],
    ["CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", "400"],
    ["too many headers", `GET / HTTP/1.1\r\nHost: a\r\n${"X: y\r\n".repeat(100)}\r\n`, "431"],
  ])("%s is refused at once", (_, bytes, end) => {
    expect(readAll([latin(bytes)])).toEqual({ seen: [], end });
  });

  it("that are longer than what is thrown away end the connection", () => {
    const reader = new RequestReader();
    reader.push(latin("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"));
    expect(reader.next()).toBeNull();
    let next: unknown = null;
    for (let sentBytes = 0; next === null && sentBytes <= 2 * MAX_DISCARDED_BYTES; sentBytes += 2 ** 20) {
      reader.push(Buffer.alloc(2 ** 20));
      next = reader.next();
    }
    expect(next).toBe("too long");
  });

  it.each([
    ["Connection: close", true],
    ["Connection: keep-alive, Close", true],
    ["Connection: keep-alive\r\nConnection: close", true],
    ["Connection: closed", false],
    ["X: close", false],
  ])("know by %j whether they are the last", (line, isLast) => {
    expect(parseRequestHead(`GET / HTTP/1.1\r\nHost: a\r\n${line}`)).toMatchObject({ isLast });
    expect(parseRequestHead(`GET / HTTP/1.0\r\nHost: a\r\n${line}`)).toMatchObject({ isLast: true });
  });

  it.each([
    ["http://b:8080/a?b=1", "/a", "b=1", "b:8080"],
    ["HTTPS://b/a", "/a", "", "b"],
    ["http://[::1]:80/", "/", "", "[::1]:80"],
    ["http://b", "/", "", "b"],
    ["http://b?b=http://c/", "/", "b=http://c/", "b"],
    ["/http://b/a", "/http://b/a", "", "a"],
    ["http://", "http://", "", "a"],
    ["http:///a", "http:///a", "", "a"],
    ["http://user@b/a", "http://user@b/a", "", "a"],
    ["ftp://b/a", "ftp://b/a", "", "a"],
    ["*", "*", "", "a"],
  ])("may name a whole address: %s", (target, path, query, host) => {
    const line = parseRequestHead(`GET ${target} HTTP/1.1\r\nHost: a`);
    if ("status" in line) throw new Error("refused");
    expect(requestOf(line, "192.0.2.1", null)).toMatchObject({ path, query, host });
  });

  it("that name a host beyond this machine are of a proxy, whatever the header says", () => {
    const isProxied = (target: string, host: string): boolean => {
      const line = parseRequestHead(`GET ${target} HTTP/1.1\r\nHost: ${host}`);
      return "status" in line || line.head.isProxied;
    };
    expect(isProxied("http://127.0.0.1:80/metrics", "127.0.0.1:80")).toBe(false);
    expect(isProxied("http://sonde.test-site.org/metrics", "127.0.0.1:80")).toBe(true);
    expect(isProxied("http://127.0.0.1:80/metrics", "sonde.test-site.org")).toBe(true);
  });

  it("have targets in UTF-8, as people type them", () => {
    const bytes = Buffer.from("GET /a?name=Österreich HTTP/1.1\r\nHost: a\r\n\r\n", "utf8");
    expect(readAll([bytes]).seen).toEqual([["GET", "/a", "name=Österreich", null]]);
  });
});
