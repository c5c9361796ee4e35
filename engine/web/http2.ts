/**
 * One request over HTTP/2, for servers that speak nothing else: Node's client, with the bounds and words that our reader of HTTP/1.1 has.
 * A server may send GOAWAY beside its answer, as nginx does with the last request of a connection: the answer goes on, and so does the exchange.
 */
import { type ClientHttp2Stream, connect, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2";
import type { Socket } from "node:net";
import type { ProbeContext } from "../contract/probe.ts";
import { NetworkFault, whenAborted } from "../net/fault.ts";
import { HEADER_COUNT_LIMIT, HEADER_LIMIT_BYTES, headerTooLong, tooManyHeaders } from "../protocols/http/head.ts";
import type { Hop } from "../protocols/http/hop.ts";
import { BODY_LIMIT_BYTES, HEAD_LIMIT_BYTES, type ResponseListener } from "../protocols/http/response.ts";
import { HttpSyntaxError } from "../protocols/http/syntax-error.ts";
import { MISSING, notHttp } from "./fast.ts";

type Headers = IncomingHttpHeaders & IncomingHttpStatusHeader;

/** Node counts 32 bytes for each header beside its own: no more than these fit into a head, so that we count them, and say so. */
const MOST_HEADER_PAIRS = HEAD_LIMIT_BYTES / 32;
/** Answers before the answer (100 to 199) in one exchange; a real one has two or three. */
const MOST_INTERIM = 32;
/** Of everything that the server sends, frames and TLS included: an answer as long as we read it, and as much again. */
const MOST_BYTES = 2 * BODY_LIMIT_BYTES + HEAD_LIMIT_BYTES;
/** Their Content-Length says how long another answer would be (RFC 9110 section 8.6). */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);
/** Between two looks at how many there are, ms: nearly every exchange ends before the first. */
const LOOK_MS = 100;

/** @param socket of TLS, on which HTTP/2 was agreed */
export async function exchangeHttp2(
  socket: Socket,
  hop: Hop,
  listener: ResponseListener,
  context: ProbeContext,
): Promise<void> {
  context.phase("request");
  const { host = "", ...headers } = hop.headers;
  const { method, body } = hop.parts;
  const session = connect(hop.url.origin, {
    createConnection: () => socket,
    maxHeaderListPairs: MOST_HEADER_PAIRS,
    settings: { enablePush: false },
  });
  let cancelLook = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      // These stay: what is destroyed later says so here.
      session.on("error", (error) => reject(faultOf(error)));
      whenAborted(context, reject);
      const look = (): void => {
        if (socket.bytesRead > MOST_BYTES) reject(notHttp(new HttpSyntaxError("it is longer than any answer")));
        else cancelLook = context.transport.after(LOOK_MS, look);
      };
      look();
      const pseudo = { ":method": method, ":scheme": "https", ":authority": host, ":path": hop.target };
      const stream = session.request({ ...pseudo, ...headers }, { endStream: body === null });
      new Http2Answer(stream, listener, context, { resolve, reject });
      if (body !== null) stream.end(body);
    });
  } finally {
    cancelLook();
    session.destroy();
    socket.destroy();
  }
}

interface Settle {
  resolve(): void;
  reject(error: unknown): void;
}

/** Hands an answer to the listener, piece by piece. */
class Http2Answer {
  readonly #stream: ClientHttp2Stream;
  readonly #listener: ResponseListener;
  readonly #context: ProbeContext;
  readonly #settle: Settle;
  #interim = 0;
  #hasHead = false;
  #bodyBytes = 0;
  /** By Content-Length; null: it was not said. */
  #wantedBytes: number | null = null;
  #isOver = false;

  constructor(stream: ClientHttp2Stream, listener: ResponseListener, context: ProbeContext, settle: Settle) {
    this.#stream = stream;
    this.#listener = listener;
    this.#context = context;
    this.#settle = settle;
    stream.on("headers", () => this.#safely(() => this.#takeInterim()));
    stream.on("response", (headers) => this.#safely(() => this.#takeHead(headers)));
    stream.on("data", (piece: Buffer) => this.#safely(() => this.#takeBody(piece)));
    stream.on("end", () => this.#end());
    stream.on("error", (error) => this.#fail(faultOf(error)));
    // Node has no error for a stream that was cancelled, nor for a connection that just ends.
    stream.on("close", () => this.#fail(new NetworkFault("closed", this.#hasHead ? MISSING.body : MISSING.answer)));
  }

  #safely(act: () => void): void {
    if (this.#isOver) return;
    try {
      act();
    } catch (error) {
      this.#fail(error);
    }
  }

  #takeInterim(): void {
    this.#context.answered();
    if (++this.#interim > MOST_INTERIM) throw notHttp(new HttpSyntaxError("interim answers come without end"));
  }

  #takeHead(headers: Headers): void {
    this.#context.answered();
    boundHeaders(headers);
    this.#hasHead = true;
    const status = headers[":status"] ?? 0;
    const length = Number(headers["content-length"] ?? Number.NaN);
    this.#wantedBytes = Number.isNaN(length) || BODILESS.has(status) ? null : length;
    const isWanted = this.#listener.head({
      status,
      location: headers.location ?? null,
      contentType: headers["content-type"] ?? null,
      contentEncoding: headers["content-encoding"]?.toString() ?? null,
    });
    if (!isWanted) this.#done();
  }

  #takeBody(piece: Buffer): void {
    const taken = piece.subarray(0, BODY_LIMIT_BYTES - this.#bodyBytes);
    this.#bodyBytes += taken.length;
    if (!this.#listener.body(taken) || this.#bodyBytes >= BODY_LIMIT_BYTES) this.#done();
  }

  /** A stream that was reset says so too, before it closes. */
  #end(): void {
    const isShort = this.#wantedBytes !== null && this.#bodyBytes < this.#wantedBytes;
    if (this.#hasHead && !isShort && (this.#stream.rstCode ?? 0) === 0) this.#done();
  }

  #done(): void {
    this.#isOver = true;
    this.#settle.resolve();
  }

  #fail(error: unknown): void {
    this.#isOver = true;
    this.#settle.reject(error);
  }
}

/** As our own reader bounds them. @throws NetworkFault */
function boundHeaders(headers: Headers): void {
  let count = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(":")) continue;
    for (const line of Array.isArray(value) ? value : [String(value)]) {
      if (++count > HEADER_COUNT_LIMIT) throw notHttp(tooManyHeaders());
      if (name.length + line.length > HEADER_LIMIT_BYTES) throw notHttp(headerTooLong());
    }
  }
}

/** With these our own side ends a stream for what the server sent (nghttp2; lib/internal/http2/core.js); either side may. */
const OWN_RESETS: ReadonlySet<string> = new Set([
  "PROTOCOL_ERROR",
  "FLOW_CONTROL_ERROR",
  "FRAME_SIZE_ERROR",
  "COMPRESSION_ERROR",
  "ENHANCE_YOUR_CALM",
]);

/** Node's errors of streams and sessions in the words of HTTP/1.1; others go to classify(). */
function faultOf(error: Error): Error {
  const [, what, code = ""] =
    /^(Stream|Session) closed with error code (?:NGHTTP2_)?([A-Z0-9_]+)$/.exec(error.message) ?? [];
  if (what === undefined || (what === "Stream" && OWN_RESETS.has(code))) return error;
  const words = `The server ended the HTTP/2 ${what === "Stream" ? "stream" : "connection"} before the answer was complete`;
  return new NetworkFault(
    "closed",
    /^\d+$/.test(code) ? words : `${words} (${code.toLowerCase().replaceAll("_", " ")})`,
  );
}
