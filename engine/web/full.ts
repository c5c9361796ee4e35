/**
 * The same exchange through undici: for servers that speak only HTTP/2. It can do HTTP/1.1 as well, and the tests hold both paths to
 * the same suite.
 */
import type { Socket } from "node:net";
import { Client, type Dispatcher, errors } from "undici";
import { faultOfAbort, NetworkFault } from "../net/fault.ts";
import {
  HEADER_COUNT_LIMIT,
  HEADER_LIMIT_BYTES,
  headerTooLong,
  type ResponseHead,
  tooManyHeaders,
} from "../protocols/http/head.ts";
import type { Hop } from "../protocols/http/hop.ts";
import { BODY_LIMIT_BYTES, HEAD_LIMIT_BYTES, type ResponseListener } from "../protocols/http/response.ts";
import type { DialContext } from "../transport/transport.ts";
import { notHttp } from "./fast.ts";

export async function exchangeFull(
  socket: Socket,
  hop: Hop,
  listener: ResponseListener,
  context: DialContext,
): Promise<void> {
  const client = new Client(hop.url.origin, {
    // Later, as a real connect would: undici waits for ever when it is called back at once.
    connect: (_options, callback) => queueMicrotask(() => callback(null, socket)),
    allowH2: true,
    maxHeaderSize: HEAD_LIMIT_BYTES,
    // The check's deadline is the only clock.
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
  });
  // `readable` is also emitted at an end without a byte.
  socket.once("readable", () => {
    if (socket.bytesRead > 0) context.answered();
  });
  context.phase("request");
  try {
    const answer = new AnswerHandler(listener, context.signal);
    const { method, body } = hop.parts;
    const wanted = { path: hop.target, method: method as Dispatcher.HttpMethod, headers: hop.headers, body };
    client.dispatch({ ...wanted, reset: true }, answer);
    await answer.done;
  } catch (error) {
    throw faultOf(error, context.signal);
  } finally {
    await client.destroy().catch(() => undefined);
    socket.destroy();
  }
}

type HeaderFields = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Hands the answer to the listener piece by piece. It never pauses the connection: undici 7 throws out of its reach, and so ends the
 * thread, when a server closes a connection that is paused (https://github.com/nodejs/undici/issues/5360). A body is bounded by
 * BODY_LIMIT_BYTES instead, and a piece is searched before the next is read.
 */
class AnswerHandler implements Dispatcher.DispatchHandler {
  /** Settles with the end of the exchange. */
  readonly done: Promise<void>;
  readonly #listener: ResponseListener;
  readonly #signal: AbortSignal;
  readonly #settle: { resolve(): void; reject(error: unknown): void };
  #bodyBytes = 0;

  constructor(listener: ResponseListener, signal: AbortSignal) {
    this.#listener = listener;
    this.#signal = signal;
    let resolve = (): void => {};
    let reject = (_error: unknown): void => {};
    this.done = new Promise<void>((resolved, rejected) => {
      resolve = resolved;
      reject = rejected;
    });
    this.#settle = { resolve, reject };
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const abort = (): void => controller.abort(faultOfAbort(this.#signal));
    if (this.#signal.aborted) abort();
    else this.#signal.addEventListener("abort", abort, { once: true });
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: HeaderFields): void {
    // 100 to 199 come before the answer.
    if (status < 200) return;
    boundHeaders(headers);
    if (!this.#listener.head(headOf(status, headers))) this.#stop(controller);
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (controller.aborted) return;
    const taken = piece.subarray(0, BODY_LIMIT_BYTES - this.#bodyBytes);
    this.#bodyBytes += taken.length;
    if (!this.#listener.body(taken) || this.#bodyBytes >= BODY_LIMIT_BYTES) this.#stop(controller);
  }

  onResponseEnd(): void {
    this.#settle.resolve();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle.reject(error);
  }

  /** The rest of the answer is not wanted. */
  #stop(controller: Dispatcher.DispatchController): void {
    this.#settle.resolve();
    controller.abort(new Error("The rest of the answer is not wanted"));
  }
}

/** As our own reader bounds them. @throws NetworkFault */
function boundHeaders(headers: HeaderFields): void {
  let count = 0;
  for (const [name, value] of Object.entries(headers)) {
    for (const line of Array.isArray(value) ? value : [value ?? ""]) {
      if (++count > HEADER_COUNT_LIMIT) throw notHttp(tooManyHeaders());
      if (name.length + line.length > HEADER_LIMIT_BYTES) throw notHttp(headerTooLong());
    }
  }
}

function headOf(status: number, headers: HeaderFields): ResponseHead {
  return {
    status,
    location: first(headers.location),
    contentType: first(headers["content-type"]),
    contentEncoding: headers["content-encoding"]?.toString() ?? null,
  };
}

function first(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

const ENDED_STREAM = "The server ended the HTTP/2 stream before the answer was complete";
/** With these our own side ends a stream for what the server sent (nghttp2; lib/internal/http2/core.js); either side may. */
const OWN_RESETS: ReadonlySet<string> = new Set([
  "PROTOCOL_ERROR",
  "FLOW_CONTROL_ERROR",
  "FRAME_SIZE_ERROR",
  "COMPRESSION_ERROR",
  "ENHANCE_YOUR_CALM",
]);

/** undici's errors in the words of the fast path; what it does not know goes to classify(). */
function faultOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return faultOfAbort(signal);
  if (error instanceof errors.HeadersOverflowError) {
    return new NetworkFault("protocol-error", "The answer is not valid HTTP: headers are larger than 64 KiB");
  }
  if (error instanceof errors.HTTPParserError) {
    return error.code === "HPE_INVALID_EOF_STATE"
      ? new NetworkFault("closed", "The server closed the connection before the body was complete")
      : new NetworkFault("protocol-error", `The answer is not valid HTTP: ${error.message}`);
  }
  // The peer reset the stream, or went away (GOAWAY). A reset of our own has settled the answer before.
  if (error instanceof errors.InformationalError) {
    return new NetworkFault("closed", ENDED_STREAM);
  }
  const code = /^Stream closed with error code NGHTTP2_([A-Z0-9_]+)$/.exec(
    error instanceof Error ? error.message : "",
  )?.[1];
  if (code !== undefined && !OWN_RESETS.has(code)) {
    return new NetworkFault("closed", `${ENDED_STREAM} (${code.toLowerCase().replaceAll("_", " ")})`);
  }
  if (error instanceof errors.SocketError) {
    return new NetworkFault("closed", "The server closed the connection before the answer was complete");
  }
  return error;
}
