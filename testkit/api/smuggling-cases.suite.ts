/** What is sent to both servers, and what may come of it. `refused`: nothing is handled and the connection ends. */
export interface SmugglingCase {
  readonly name: string;
  readonly expected: "refused" | "one" | "refused or one";
  /** @param at begins the path of every request; one character is one byte */
  readonly bytes: (at: string) => string;
  /** What the one request must have brought, where it is told. */
  readonly body?: string | null;
}

const HELLO = "hello";
/** What must never be handled. */
const hidden = (at: string): string => `GET ${at}hidden HTTP/1.1\r\nHost: a\r\n\r\n`;
const post = (at: string, lines: string, rest: string): string =>
  `POST ${at}first HTTP/1.1\r\nHost: a\r\n${lines}\r\n${rest}`;
const get = (at: string, lines: string): string => `GET ${at}first HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;

type Expected = SmugglingCase["expected"];

/** A body of five bytes and a hidden request behind it. */
function withLines(name: string, expected: Expected, lines: string, body?: string | null): SmugglingCase {
  return {
    name,
    expected,
    bytes: (at) => post(at, lines, HELLO + hidden(at)),
    ...(body !== undefined && { body }),
  };
}

/** A hidden request behind what looks like the end of the chunks. */
function inChunks(name: string, chunks: string): SmugglingCase {
  return { name, expected: "refused or one", bytes: (at) => post(at, CHUNKED, chunks + hidden(at)) };
}

function aHead(name: string, expected: Expected, bytes: (at: string) => string): SmugglingCase {
  return { name, expected, bytes };
}

const CHUNKED = "Transfer-Encoding: chunked\r\n";
/** Five bytes in one chunk. */
const CHUNKS = "5\r\nhello\r\n0\r\n\r\n";

const lengths: readonly SmugglingCase[] = [
  withLines("two equal Content-Length", "refused", "Content-Length: 5\r\nContent-Length: 5\r\n"),
  withLines("two Content-Length, the second shorter", "refused", "Content-Length: 5\r\nContent-Length: 0\r\n"),
  withLines("two Content-Length, the first shorter", "refused", "Content-Length: 0\r\nContent-Length: 5\r\n"),
  withLines("a list of equal lengths", "refused", "Content-Length: 5, 5\r\n"),
  withLines("a list of lengths", "refused", "Content-Length: 5, 0\r\n"),
  withLines("a negative length", "refused", "Content-Length: -5\r\n"),
  withLines("a length with a plus", "refused", "Content-Length: +5\r\n"),
  withLines("a hexadecimal length", "refused", "Content-Length: 0x5\r\n"),
  withLines("a length with a blank inside", "refused", "Content-Length: 5 5\r\n"),
  withLines("an empty length", "refused", "Content-Length: \r\n"),
  withLines("a length with a point", "refused", "Content-Length: 5.0\r\n"),
  withLines("a length with an exponent", "refused", "Content-Length: 5e0\r\n"),
  withLines("a length with a comma behind", "refused", "Content-Length: 5,\r\n"),
  withLines("a length of 2^32 + 5", "refused", "Content-Length: 4294967301\r\n"),
  withLines("a length of 2^64 + 5", "refused", "Content-Length: 18446744073709551621\r\n"),
  withLines("a length in letters beyond ASCII", "refused", "Content-Length: \u00b5\r\n"),
  withLines("a length with a NUL behind", "refused", "Content-Length: 5\u0000\r\n"),
  withLines("a length with a vertical tab before", "refused", "Content-Length: \u000b5\r\n"),
  {
    name: "a length with zeros before",
    expected: "refused or one",
    bytes: (at) => post(at, "Content-Length: 0005\r\n", HELLO),
    body: HELLO,
  },
  {
    name: "a name in another case",
    expected: "one",
    bytes: (at) => post(at, "cOnTeNt-lEnGtH: 5\r\n", HELLO),
    body: HELLO,
  },
  {
    name: "a Content_Length",
    expected: "refused or one",
    // No letter of the body may begin a method.
    bytes: (at) => post(at, "Content_Length: 5\r\n", `(((((${hidden(at)}`),
    body: null,
  },
  withLines("a length that is folded", "refused", "Content-Length:\r\n 5\r\n"),
  withLines("a blank before the colon of the length", "refused", "Content-Length : 5\r\n"),
  withLines("a tab before the colon of the length", "refused", "Content-Length\t: 5\r\n"),
  {
    name: "a GET whose body is a request",
    expected: "one",
    bytes: (at) => `GET ${at}first HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden(at).length}\r\n\r\n${hidden(at)}`,
  },
];

const codings: readonly SmugglingCase[] = [
  {
    name: "CL.TE",
    expected: "refused",
    bytes: (at) => post(at, `Content-Length: 5\r\n${CHUNKED}`, CHUNKS + hidden(at)),
  },
  {
    name: "TE.CL",
    expected: "refused",
    bytes: (at) => post(at, `${CHUNKED}Content-Length: 5\r\n`, CHUNKS + hidden(at)),
  },
  {
    name: "TE.CL with a request inside the chunks",
    expected: "refused",
    bytes: (at) =>
      post(at, `Content-Length: 4\r\n${CHUNKED}`, `${hidden(at).length.toString(16)}\r\n${hidden(at)}\r\n0\r\n\r\n`),
  },
  {
    name: "an empty length and chunks",
    expected: "refused",
    bytes: (at) => post(at, `Content-Length: \r\n${CHUNKED}`, CHUNKS + hidden(at)),
  },
  ...[
    ["chunked twice", `${CHUNKED}${CHUNKED}`],
    ["chunked, then identity", `${CHUNKED}Transfer-Encoding: identity\r\n`],
    ["identity, then chunked", `Transfer-Encoding: identity\r\n${CHUNKED}`],
    ["a list of chunked and identity", "Transfer-Encoding: chunked, identity\r\n"],
    ["a list of chunked and chunked", "Transfer-Encoding: chunked, chunked\r\n"],
    ["a list of gzip and chunked", "Transfer-Encoding: gzip, chunked\r\n"],
    ["identity", "Transfer-Encoding: identity\r\n"],
    ["xchunked", "Transfer-Encoding: xchunked\r\n"],
    ["chunked with a parameter", "Transfer-Encoding: chunked;q=1\r\n"],
    ["chunked in quotes", 'Transfer-Encoding: "chunked"\r\n'],
    ["a vertical tab before chunked", "Transfer-Encoding: \u000bchunked\r\n"],
    ["a no-break space before chunked", "Transfer-Encoding: \u00a0chunked\r\n"],
    ["a NUL behind chunked", "Transfer-Encoding: chunked\u0000\r\n"],
    ["an empty coding", "Transfer-Encoding: \r\n"],
    ["a blank before the colon", "Transfer-Encoding : chunked\r\n"],
    ["a folded coding", "Transfer-Encoding:\r\n chunked\r\n"],
    ["a comma before chunked", "Transfer-Encoding: ,chunked\r\n"],
    ["HTTP/1.1 keep-alive and a coding that is none", "Transfer-Encoding: cow\r\nConnection: keep-alive\r\n"],
  ].map(
    ([name = "", lines = ""]): SmugglingCase => ({
      name,
      expected: "refused",
      bytes: (at) => post(at, lines, CHUNKS + hidden(at)),
    }),
  ),
  {
    name: "a Transfer_Encoding beside a length",
    expected: "refused or one",
    bytes: (at) => post(at, "Transfer_Encoding: chunked\r\nContent-Length: 5\r\n", HELLO),
    body: HELLO,
  },
  {
    name: "chunked in another case",
    expected: "refused or one",
    bytes: (at) => post(at, "Transfer-Encoding: Chunked\r\n", CHUNKS),
    body: HELLO,
  },
  {
    name: "a tab before chunked",
    expected: "refused or one",
    bytes: (at) => post(at, "Transfer-Encoding:\tchunked\r\n", CHUNKS),
    body: HELLO,
  },
  {
    name: "blanks behind chunked",
    expected: "refused or one",
    bytes: (at) => post(at, "Transfer-Encoding: chunked \t\r\n", CHUNKS),
    body: HELLO,
  },
];

const chunks: readonly SmugglingCase[] = [
  { name: "plain chunks", expected: "one", bytes: (at) => post(at, CHUNKED, CHUNKS), body: HELLO },
  {
    name: "chunks in two pieces",
    expected: "one",
    bytes: (at) => post(at, CHUNKED, "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"),
    body: HELLO,
  },
  inChunks("a request behind chunks", CHUNKS),
  inChunks("an extension", "5;a=b\r\nhello\r\n0\r\n\r\n"),
  inChunks("an extension with a quoted line end", '5;a="\r\n"\r\nhello\r\n0\r\n\r\n'),
  inChunks("an extension that ends with LF", "5;a=b\nhello\r\n0\r\n\r\n"),
  inChunks("an extension of 100 kB", `5;${"a".repeat(100_000)}\r\nhello\r\n0\r\n\r\n`),
  inChunks("lines that end with LF", "5\nhello\n0\n\n"),
  inChunks("a size that ends with CR", "5\rhello\r\n0\r\n\r\n"),
  inChunks("zeros before the size", "000005\r\nhello\r\n0\r\n\r\n"),
  inChunks("a hundred zeros before the size", `${"0".repeat(100)}5\r\nhello\r\n0\r\n\r\n`),
  inChunks("a size with a plus", "+5\r\nhello\r\n0\r\n\r\n"),
  inChunks("a negative size", "-5\r\nhello\r\n0\r\n\r\n"),
  inChunks("a size with 0x", "0x5\r\nhello\r\n0\r\n\r\n"),
  inChunks("a blank before the size", " 5\r\nhello\r\n0\r\n\r\n"),
  inChunks("a blank behind the size", "5 \r\nhello\r\n0\r\n\r\n"),
  inChunks("a size with a letter beyond f", "g\r\nhello\r\n0\r\n\r\n"),
  inChunks("a size of 2^32 + 5", "100000005\r\nhello\r\n0\r\n\r\n"),
  inChunks("a size of 2^64 + 5", "10000000000000005\r\nhello\r\n0\r\n\r\n"),
  inChunks("an empty size", "\r\nhello\r\n0\r\n\r\n"),
  inChunks("a NUL in the size", "5\u0000\r\nhello\r\n0\r\n\r\n"),
  inChunks("more data than the size", "4\r\nhello\r\n0\r\n\r\n"),
  inChunks("less data than the size", "6\r\nhello\r\n0\r\n\r\n"),
  inChunks("no line end behind the data", "5\r\nhello0\r\n\r\n"),
  inChunks("other bytes for the line end behind the data", "5\r\nhelloXX0\r\n\r\n"),
  inChunks("a last chunk of two zeros", "5\r\nhello\r\n00\r\n\r\n"),
  inChunks("a last chunk with an extension", "5\r\nhello\r\n0;a\r\n\r\n"),
  inChunks("a length in the trailer", "5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n"),
  inChunks("a key in the trailer", "5\r\nhello\r\n0\r\nX-API-Key: k\r\n\r\n"),
  inChunks("no empty line behind the last chunk", "5\r\nhello\r\n0\r\n"),
  inChunks("a trailer that is folded", "0\r\nX: a\r\n b\r\n\r\n"),
];

const lines: readonly SmugglingCase[] = [
  aHead("a header that hides chunks behind LF", "refused or one", (at) =>
    post(at, `X: y\n${CHUNKED}Content-Length: 5\r\n`, HELLO),
  ),
  aHead("a header that hides chunks behind CR", "refused or one", (at) =>
    post(at, "X: y\rTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", HELLO),
  ),
  aHead("lines that end with LF alone", "refused or one", (at) => `GET ${at}first HTTP/1.1\nHost: a\n\n`),
  aHead("a head that ends with LF LF", "refused or one", (at) => `GET ${at}first HTTP/1.1\r\nHost: a\n\n${hidden(at)}`),
  aHead("a NUL in a name", "refused", (at) => get(at, "X\u0000Y: z\r\n")),
  aHead("a NUL in a value", "refused", (at) => get(at, "X-Y: a\u0000z\r\n")),
  aHead("a control character in a value", "refused", (at) => get(at, "X-API-Key: a\u0001z\r\n")),
  aHead("a letter beyond ASCII in a name", "refused", (at) => get(at, "X\u00e9: z\r\n")),
  aHead("a blank in a name", "refused", (at) => get(at, "X Y: z\r\n")),
  aHead("a line without a colon", "refused", (at) => get(at, "XYZ\r\n")),
  aHead("a first line that is folded", "refused", (at) => `GET ${at}first HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n`),
  aHead("no Host", "refused", (at) => `GET ${at}first HTTP/1.1\r\n\r\n`),
  aHead("two Hosts", "refused", (at) => get(at, "Host: b\r\n")),
  aHead("two keys", "refused", (at) => get(at, "X-API-Key: one\r\nX-API-Key: two\r\n")),
  aHead("two equal keys", "refused", (at) => get(at, "X-API-Key: one\r\nx-api-key: one\r\n")),
  aHead("two authorizations", "refused", (at) => get(at, "Authorization: Bearer one\r\nAuthorization: Bearer two\r\n")),
  aHead("two projects", "refused", (at) => get(at, "X-Project-Id: 1\r\nX-Project-Id: 2\r\n")),
  aHead("a hundred and one headers more", "refused", (at) =>
    get(at, Array.from({ length: 101 }, (_, index) => `X-${index}: y\r\n`).join("")),
  ),
  aHead("a header of 100 kB", "refused or one", (at) => get(at, `X: ${"y".repeat(100_000)}\r\n`)),
  aHead("every letter that a name may have", "refused or one", (at) => get(at, "X!#$%&'*+-.^_`|~9: z\r\n")),
  aHead("a name with an underscore", "refused or one", (at) => get(at, "X_Id: z\r\n")),
  aHead("a name with a point", "refused or one", (at) => get(at, "X.Id: z\r\n")),
];

const requestLines: readonly SmugglingCase[] = [
  aHead("HTTP/0.9", "refused", (at) => `GET ${at}first\r\n\r\n`),
  aHead("HTTP/0.9 in the name of 1.1", "refused", (at) => `GET ${at}first HTTP/0.9\r\nHost: a\r\n\r\n`),
  aHead(
    "HTTP/1.0 with chunks",
    "refused",
    (at) => `POST ${at}first HTTP/1.0\r\nHost: a\r\n${CHUNKED}\r\n${CHUNKS}${hidden(at)}`,
  ),
  aHead("HTTP/2.0", "refused", (at) => `GET ${at}first HTTP/2.0\r\nHost: a\r\n\r\n`),
  aHead("HTTP/1.11", "refused", (at) => `GET ${at}first HTTP/1.11\r\nHost: a\r\n\r\n`),
  aHead("http/1.1", "refused", (at) => `GET ${at}first http/1.1\r\nHost: a\r\n\r\n`),
  aHead("two blanks in the line", "refused or one", (at) => `GET  ${at}first  HTTP/1.1\r\nHost: a\r\n\r\n`),
  aHead("tabs in the line", "refused", (at) => `GET\t${at}first\tHTTP/1.1\r\nHost: a\r\n\r\n`),
  aHead("a blank in the target", "refused", (at) => `GET ${at}first x HTTP/1.1\r\nHost: a\r\n\r\n`),
  aHead("a NUL in the target", "refused or one", (at) => `GET /\u0000${at}first HTTP/1.1\r\nHost: a\r\n\r\n`),
  aHead("a line end in the target", "refused", (at) => `GET /a\r\nX: y${at}first HTTP/1.1\r\nHost: a\r\n\r\n`),
  aHead(
    "a letter beyond ASCII in the target",
    "refused or one",
    (at) => `GET /\u00e9${at}first HTTP/1.1\r\nHost: a\r\n\r\n`,
  ),
  aHead(
    "a whole address as the target",
    "refused or one",
    (at) => `GET http://elsewhere${at}first HTTP/1.1\r\nHost: a\r\n\r\n`,
  ),
  aHead("CONNECT", "refused or one", (at) => `CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n${hidden(at)}`),
  aHead(
    "a target of 100 kB",
    "refused or one",
    (at) => `GET /${"a".repeat(100_000)}${at}first HTTP/1.1\r\nHost: a\r\n\r\n`,
  ),
  aHead("a line end before the request", "refused or one", (at) => `\r\n${get(at, "")}`),
  aHead("an upgrade to h2c", "refused or one", (at) =>
    get(at, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"),
  ),
  aHead("a method that is none", "refused", (at) => `(GET ${at}first HTTP/1.1\r\nHost: a\r\n\r\n`),
  aHead("an HTTP/2 preface", "refused", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  aHead("a request behind garbage", "refused", (at) => `GARBAGE\r\n\r\n${hidden(at)}`),
  aHead(
    "a request behind a refused one",
    "refused",
    (at) => `${get(at, "X-API-Key: a\r\nX-API-Key: b\r\n")}${hidden(at)}`,
  ),
  aHead("Expect: 100-continue", "one", (at) => post(at, "Expect: 100-continue\r\nContent-Length: 5\r\n", HELLO)),
  aHead("a length named as hop-by-hop", "one", (at) =>
    post(at, "Connection: Content-Length\r\nContent-Length: 5\r\n", HELLO),
  ),
];

export const smugglingCases: readonly SmugglingCase[] = [...lengths, ...codings, ...chunks, ...lines, ...requestLines];
