import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mustEqual } from "../../../testkit/must.ts";
import { property } from "../../../testkit/property.ts";
import type { ResponseHead } from "./head.ts";
import { BODY_LIMIT_BYTES, type Missing, ResponseReader } from "./response.ts";
import { HttpSyntaxError } from "./syntax-error.ts";

interface Read {
  readonly head: ResponseHead | null;
  readonly body: string;
  readonly ended: Missing | "complete" | "done" | "error";
  readonly error: string | null;
}

/** Reads pieces, then the end of the connection; `done` means that it was complete before the end. */
function read(pieces: readonly Buffer[], wantBody = true): Read {
  let head: ResponseHead | null = null;
  const body: Buffer[] = [];
  const reader = new ResponseReader({
    head: (seen) => {
      head = seen;
      return wantBody;
    },
    body: (bytes) => {
      body.push(Buffer.from(bytes));
      return true;
    },
  });
  const result = (ended: Read["ended"], error: string | null = null): Read => ({
    head,
    body: Buffer.concat(body).toString("latin1"),
    ended,
    error,
  });
  try {
    for (const piece of pieces) {
      // What the socket gives is used again after the call: nothing may be kept.
      const lent = Buffer.from(piece);
      const done = reader.push(lent);
      lent.fill(0xaa);
      if (done) return result("done");
    }
    return result(reader.end() ?? "complete");
  } catch (error) {
    if (!(error instanceof HttpSyntaxError)) throw error;
    return result("error", error.message);
  }
}

const readText = (text: string) => read([Buffer.from(text, "latin1")]);

function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((place, index) => bytes.subarray(place, places[index] ?? bytes.length));
}

describe("framing", () => {
  it.each([
    ["sized", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", "done"],
    ["sized, more follows", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world", "hello", "done"],
    ["sized, cut", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", "hello", "body"],
    ["empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", "done"],
    ["until close", "HTTP/1.0 200 OK\r\n\r\nhello", "hello", "complete"],
    [
      "identity is no coding",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi",
      "hi",
      "done",
    ],
    [
      "chunked",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
      "hello",
      "done",
    ],
    [
      "chunked in capitals",
      "HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n",
      "0123456789",
      "done",
    ],
    [
      "chunked with extensions",
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a="b"\r\nhello\r\n0;c\r\n\r\n',
      "hello",
      "done",
    ],
    [
      "chunked with padded sizes",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5  \r\nhello\r\n0\r\n\r\n",
      "hello",
      "done",
    ],
    [
      "chunked with trailers",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\nC: d\r\n\r\n",
      "hello",
      "done",
    ],
    [
      "chunked, trailers cut",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n",
      "hello",
      "body",
    ],
    ["chunked, cut", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", "hel", "body"],
    [
      "chunked wins over a length",
      "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
      "hi",
      "done",
    ],
    ["204 has no body", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", "", "done"],
    ["304 has no body", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", "", "done"],
    ["101 is final", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nxyz", "", "done"],
    ["the same length twice", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", "hi", "done"],
    ["bare LF as line end", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", "hi", "done"],
    ["no reason phrase", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", "hi", "done"],
    ["nothing", "", "", "answer"],
    ["half a status line", "HTTP/1.1 20", "", "headers"],
    ["half a head", "HTTP/1.1 200 OK\r\nServer: x\r\n", "", "headers"],
  ])("%s", (_name, text, body, ended) => {
    expect(readText(text)).toMatchObject({ body, ended });
  });

  it("skips interim responses", () => {
    const text =
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nhi";
    const whole = readText(text);
    expect(whole).toMatchObject({ head: { status: 201 }, body: "hi", ended: "done" });
    expect(read([...Buffer.from(text, "latin1")].map((byte) => Buffer.from([byte])))).toEqual(whole);
  });

  it("is done with the head when the body is not wanted", () => {
    expect(read([Buffer.from("HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\n")], false)).toMatchObject({
      head: { status: 500 },
      ended: "done",
    });
  });
});

describe("head", () => {
  it("reads the fields that a check needs, whatever their case and padding", () => {
    const head = readText(
      "HTTP/1.1 302 Found\r\nLOCATION:/a b \r\ncontent-Type:  text/html; charset=x\t\r\nContent-Encoding: gzip\r\nContent-Encoding: br\r\nLocation: /second\r\nX-Other: y\r\n\r\n",
    ).head;
    expect(head).toMatchObject({
      status: 302,
      location: "/a b",
      contentType: "text/html; charset=x",
      contentEncoding: "gzip, br",
    });
  });

  it("unfolds folded lines", () => {
    expect(
      readText("HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n  charset=x\r\nX: a\r\n\tb\r\n\r\n").head?.contentType,
    ).toBe("text/html; charset=x");
  });

  it.each([
    ["Content-Length: 5\r\nContent-Length: 6", "Content-Length is there twice and differs"],
    ["Content-Length: 5, 6", "Content-Length is there twice and differs"],
    ["Content-Length: 5, x", "Content-Length is not a number"],
    ["Content-Length: x", "Content-Length is not a number"],
  ])("says what is wrong with %j", (lines, words) => {
    expect(readText(`HTTP/1.1 200 OK\r\n${lines}\r\n\r\n`).error).toBe(words);
  });

  it.each([
    ["not HTTP", "SSH-2.0-OpenSSH_9.2\r\n"],
    ["a greeting that waits for us", "220 mail"],
    ["no TLS but bytes", "\u0016\u0003\u0001\u0002"],
    ["HTTP/0.9", "<html>hello</html>"],
    ["HTTP/2 in text", "HTTP/2 200 OK\r\n\r\n"],
    ["HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n"],
    ["lower case", "http/1.1 200 OK\r\n\r\n"],
    ["status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
    ["status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
    ["status below 100", "HTTP/1.1 099 OK\r\n\r\n"],
    ["empty line first", "\r\nHTTP/1.1 200 OK\r\n\r\n"],
    ["header without colon", "HTTP/1.1 200 OK\r\nServer\r\n\r\n"],
    ["header without name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
    ["space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n"],
    ["NUL in a value", "HTTP/1.1 200 OK\r\nServer: a\0b\r\n\r\n"],
    ["CR in a value", "HTTP/1.1 200 OK\r\nServer: a\rContent-Length: 5\r\n\r\n"],
    ["first line folded", "HTTP/1.1 200 OK\r\n Server: a\r\n\r\n"],
    ["negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"],
    ["signed length", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n"],
    ["hexadecimal length", "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\n"],
    ["empty length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n"],
    ["huge length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"],
    ["two lengths in one line", "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n"],
    ["unknown transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"],
    ["chunked not last", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n"],
    ["chunk size missing", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello"],
    ["chunk size no number", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"],
    ["chunk size negative", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n"],
    ["chunk size overflows", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n"],
    ["chunk size of many zeros", `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"0".repeat(17)}`],
    ["CR inside a chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r2\r\n"],
    ["chunk longer than its size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n"],
  ])("refuses %s", (_name, text) => {
    expect(readText(text)).toMatchObject({ ended: "error" });
  });
});

describe("bounds", () => {
  it("refuses endless headers, in one piece and in many", () => {
    const line = `X-Filler: ${"x".repeat(1000)}\r\n`;
    const text = `HTTP/1.1 200 OK\r\n${line.repeat(70)}`;
    expect(readText(text).error).toBe("headers are larger than 64 KiB");
    expect(readText(`${text}\r\n`).error).toBe("headers are larger than 64 KiB");
    expect(
      read(
        split(
          Buffer.from(text),
          Array.from({ length: 700 }, (_, index) => index * 101),
        ),
      ).error,
    ).toBe("headers are larger than 64 KiB");
  });

  it("refuses a header that is too long, whatever it is filled with and however it is folded, and too many headers", () => {
    const head = (lines: string): string => `HTTP/1.1 200 OK\r\n${lines}Content-Length: 0\r\n\r\n`;
    for (const filler of [" ", "\t", ",", ", ", "a", "=", '"', ";", "%", "\\", "\u00ff"]) {
      for (const name of ["X-Filler", "Transfer-Encoding", "Location", "Content-Length"]) {
        const long = filler.repeat(62_000 / filler.length);
        expect(readText(head(`${name}: ${long}1\r\n`)).error).toBe("a header is longer than 16 KiB");
        expect(readText(head(`${name}: 1\r\n${`\t${filler.repeat(500)}\r\n`.repeat(40)}`)).error).toBe(
          "a header is longer than 16 KiB",
        );
      }
    }
    expect(readText(head(`X: ${"a".repeat(16_381)}\r\n`)).error).toBeNull();
    expect(readText(head(`X: ${"a".repeat(16_382)}\r\n`)).error).toBe("a header is longer than 16 KiB");
    expect(readText(`HTTP/1.1 200 ${"a".repeat(17_000)}\r\n\r\n`).error).toBe("a header is longer than 16 KiB");
    expect(readText(head("X: 1\r\n".repeat(255))).error).toBeNull();
    expect(readText(head("X: 1\r\n".repeat(256))).error).toBe("there are more than 256 headers");
  });

  it("reads lists with blanks and tabs around their members", () => {
    const of = (value: string): string => `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${value}\r\n\r\n0\r\n\r\n`;
    expect(readText(of(`identity ,\tidentity`)).ended).toBe("complete");
    expect(readText("HTTP/1.1 200 OK\r\nContent-Length: 2 ,\t2\r\n\r\nhi").ended).toBe("done");
  });

  it("refuses one endless header line and endless interim responses", () => {
    expect(readText(`HTTP/1.1 200 OK\r\nX: ${"y".repeat(70_000)}`).ended).toBe("error");
    expect(readText("HTTP/1.1 100 Continue\r\nA: bcdefghij\r\n\r\n".repeat(2_000)).ended).toBe("error");
  });

  it("takes headers of exactly the bound", () => {
    const start = "HTTP/1.1 200 OK\r\n";
    const lines = `X: ${"x".repeat(8_000)}\r\n`.repeat(8);
    const text = `${start}${lines}Y: ${"y".repeat(64 * 1024 - start.length - lines.length - 7)}\r\n\r\n`;
    expect(readText(text).ended).toBe("complete");
    expect(readText(text.replace("y", "yy")).ended).toBe("error");
  });

  it("reads a body no further than its bound", () => {
    const filler = Buffer.alloc(300_000, "x");
    const endless = read([Buffer.from("HTTP/1.1 200 OK\r\n\r\n"), filler, filler, filler, filler, filler]);
    expect([endless.body.length, endless.ended]).toEqual([BODY_LIMIT_BYTES, "done"]);
    const sized = read([
      Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 999999999999999\r\n\r\n"),
      filler,
      filler,
      filler,
      filler,
    ]);
    expect([sized.body.length, sized.ended]).toEqual([BODY_LIMIT_BYTES, "done"]);
  });

  it("refuses endless chunk extensions and trailers", () => {
    const start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    expect(readText(`${start}1;${"x".repeat(20_000)}`).error).toBe("chunk extensions are too long");
    expect(readText(`${start}0\r\n${"A: b\r\n".repeat(20_000)}`).error).toBe("the trailer section is too long");
  });
});

// What comes in one piece and what comes in many must be the same, for good and for broken responses.
const token = fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/);
const value = fc.stringMatching(/^[ -~\t]{0,20}$/);
const lineEnd = fc.constantFrom("\r\n", "\r\n", "\r\n", "\n");
const payload = fc.string({ unit: "binary-ascii", maxLength: 60 });
const status = fc.constantFrom(100, 101, 103, 200, 204, 301, 304, 404, 503, 999);

const response = fc
  .tuple(
    status,
    fc.array(fc.tuple(token, value, lineEnd), { maxLength: 4 }),
    fc.constantFrom("sized", "chunked", "close"),
    fc.array(payload, { maxLength: 4 }),
  )
  .map(([code, headers, framing, pieces]) => {
    const head = [`HTTP/1.1 ${code} Reason\r\n`, ...headers.map(([name, text, end]) => `X${name}: ${text}${end}`)];
    const body = pieces.join("");
    if (framing === "sized") return `${head.join("")}Content-Length: ${body.length}\r\n\r\n${body}`;
    if (framing === "close") return `${head.join("")}\r\n${body}`;
    const chunks = pieces
      .filter((piece) => piece !== "")
      .map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
    return `${head.join("")}Transfer-Encoding: chunked\r\n\r\n${chunks.join("")}0\r\n\r\n`;
  });

/** Bytes put in, taken out and changed at random places. */
const broken = fc
  .tuple(
    response,
    fc.array(fc.tuple(fc.nat(400), fc.nat(255), fc.constantFrom("put", "take", "change")), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([text, edits]) => {
    const bytes = [...Buffer.from(text, "latin1")];
    for (const [place, byte, edit] of edits) {
      const at = place % (bytes.length + 1);
      if (edit === "put") bytes.splice(at, 0, byte);
      else if (edit === "take") bytes.splice(at, 1);
      else bytes[at] = byte;
    }
    return Buffer.from(bytes).toString("latin1");
  });
const cuts = fc.array(fc.nat(600), { maxLength: 12 });

describe("splitting", () => {
  property([response, cuts], { numRuns: 60_000 })("does not change what a good response says", (text, places) => {
    const bytes = Buffer.from(text, "latin1");
    mustEqual(sameWords(read(split(bytes, places)), read([bytes])), true);
  });

  property([broken, cuts], { numRuns: 60_000 })("does not change what a broken response says", (text, places) => {
    const bytes = Buffer.from(text, "latin1");
    mustEqual(sameWords(read(split(bytes, places)), read([bytes])), true);
  });

  property([fc.uint8Array({ maxLength: 300 }), cuts], { numRuns: 20_000 })(
    "does not change what noise says",
    (noise, places) => {
      const bytes = Buffer.from(noise);
      mustEqual(sameWords(read(split(bytes, places)), read([bytes])), true);
    },
  );

  property([response], { numRuns: 2_000 })("at every byte does not change it either", (text) => {
    const bytes = Buffer.from(text, "latin1");
    expect(read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(read([bytes]));
  });
});

/** Equal but for an error's words: the first broken byte may be met in another order. */
function sameWords(one: Read, other: Read): boolean {
  return JSON.stringify({ ...one, error: null }) === JSON.stringify({ ...other, error: null });
}
