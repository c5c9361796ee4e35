/**
 * The same exchange through undici: for servers that speak only HTTP/2. It can do HTTP/1.1 as well, and the tests hold both paths to
 * the same suite.
 */
import type { Socket } from "node:net";
import { Client, errors } from "undici";
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
  // `readable` also tells of an end without a byte.
  socket.once("readable", () => {
    if (socket.bytesRead > 0) context.answered();
  });
  context.phase("request");
  try {
    await request(client, hop, listener, context);
  } catch (error) {
    throw faultOf(error, context.signal);
  } finally {
    await client.destroy().catch(() => undefined);
    socket.destroy();
  }
}

async function request(client: Client, hop: Hop, listener: ResponseListener, { signal }: DialContext): Promise<void> {
  const response = await client.request({ path: hop.target, method: "GET", headers: hop.headers, reset: true, signal });
  // Abandoned bodies are reported as errors once the client is destroyed.
  response.body.on("error", () => undefined);
  boundHeaders(response.headers);
  if (!listener.head(headOf(response.statusCode, response.headers))) return;
  let bodyBytes = 0;
  for await (const piece of response.body as AsyncIterable<Buffer>) {
    const taken = piece.subarray(0, BODY_LIMIT_BYTES - bodyBytes);
    bodyBytes += taken.length;
    if (!listener.body(taken) || bodyBytes >= BODY_LIMIT_BYTES) return;
  }
}

/** As our own reader bounds them. @throws NetworkFault */
function boundHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): void {
  let count = 0;
  for (const [name, value] of Object.entries(headers)) {
    for (const line of Array.isArray(value) ? value : [value ?? ""]) {
      if (++count > HEADER_COUNT_LIMIT) throw notHttp(tooManyHeaders());
      if (name.length + line.length > HEADER_LIMIT_BYTES) throw notHttp(headerTooLong());
    }
  }
}

function headOf(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): ResponseHead {
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
  if (error instanceof errors.SocketError) {
    return new NetworkFault("closed", "The server closed the connection before the answer was complete");
  }
  return error;
}
