/** node:http before the API, for operators who prefer its parser to ours. Same limits, same suite. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { type Head, type HeadRefusal, headOf, MAX_HEADERS, REFUSAL_HEADERS } from "./head.ts";
import { HeldBytes } from "./held-bytes.ts";
import {
  type ApiRequest,
  type ApiResponse,
  type HttpServer,
  isBodiless,
  isStream,
  ListenError,
  type ListenOptions,
  listenFailure,
  MAX_CONNECTIONS,
  MAX_DISCARDED_BYTES,
  mostBodyBytes,
  type StreamedResponse,
} from "./http.ts";
import { originForm, pathOf, requestOf } from "./request.ts";
import { KeptBody } from "./request-body.ts";
import { CLOSED_SINK, PipedSink } from "./stream-sink.ts";

/** Bytes of all headers together; beyond it Node answers 431. */
const MAX_HEADER_BYTES = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 10_000;
const CLIENT_ERRORS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** Requests on one connection that wait for their answers; more end it. */
const MAX_PIPELINED = 2_000;
/** How long what was refused has to read why before its connection is cut, ms. */
const REFUSAL_LINGER_MS = 1_000;

export async function listenNode(options: ListenOptions): Promise<HttpServer> {
  let areLast = false;
  const door = createDoor(options, () => areLast);
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, options.bodyTimeoutMs),
      requestTimeout: options.bodyTimeoutMs,
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(1_000, options.bodyTimeoutMs),
    },
    door.enter,
  );
  // One more than is taken: node:http drops what is beyond it in silence.
  server.maxHeadersCount = MAX_HEADERS + 1;
  server.maxConnections = MAX_CONNECTIONS;
  server.on("clientError", door.turnAway);
  await listening(server, options);

  return {
    kind: "node",
    port: (server.address() as AddressInfo).port,
    async close() {
      areLast = true;
      const timers = [
        // node:http would end idle connections at once, also one that a request is on its way on.
        setTimeout(() => server.closeIdleConnections(), options.lingerMs),
        setTimeout(() => server.closeAllConnections(), options.drainTimeoutMs),
      ];
      const closed = new Promise((settle) => NetServer.prototype.close.call(server, settle));
      for (const [sink, response] of door.streams) sink.leave(response.farewell?.() ?? "");
      await closed;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(door.inFlight);
      // What of node:http looks for late connections.
      server.close();
    },
  };
}

function listening(server: ReturnType<typeof createServer>, { host, port }: ListenOptions): Promise<void> {
  return new Promise((settle, fail) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      fail(new ListenError(listenFailure(error.code ?? "", host, port))),
    );
    server.listen(port, host, () => settle());
  });
}

/** What has to end before the server can: by sink, what it is told. */
type Streams = Map<PipedSink, StreamedResponse>;

interface Door {
  /** What is being answered. */
  readonly inFlight: ReadonlySet<Promise<void>>;
  readonly streams: Streams;
  enter(this: void, incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** Garbage gets one line and a closed connection. */
  turnAway(this: void, error: NodeJS.ErrnoException, socket: Duplex): void;
}

/** @param areLast whether every answer is to end its connection */
function createDoor(options: ListenOptions, areLast: () => boolean): Door {
  const inFlight = new Set<Promise<void>>();
  const streams: Streams = new Map();
  /** Nothing more is read on them. node:http has parsed what came in one piece before it knows. */
  const ended = new WeakSet<Duplex>();
  const lines = new WeakMap<Duplex, Line>();
  const held = new HeldBytes();
  return {
    inFlight,
    streams,
    enter(incoming, outgoing) {
      const { socket } = incoming;
      if (ended.has(socket)) return;
      const head = headOf(incoming.rawHeaders);
      const refused = head.refusal(incoming.method ?? "", incoming.httpVersion);
      const line = lineOf(lines, incoming);
      if (refused !== null || head.isChunked) ended.add(socket);
      if (refused !== null) {
        // Behind others it gets no answer: the last of theirs ends the connection.
        if (line.length === 0) refuse(outgoing, refused);
        return;
      }
      if (line.length >= MAX_PIPELINED) {
        socket.destroy();
        return;
      }
      const isLast = (): boolean => areLast() || ended.has(socket);
      const served = { options, streams, held, head, incoming, outgoing, isLast, areLast };
      const serving = standIn(line, outgoing, () => serve(served));
      inFlight.add(serving);
      void serving.finally(() => inFlight.delete(serving));
    },
    turnAway(error, socket) {
      const line = lines.get(socket);
      // Garbage behind a request that is still being answered: that answer comes, and is the last.
      if (line !== undefined && line.length > 0 && line.latest.complete && socket.writable) {
        ended.add(socket);
        return;
      }
      const status = CLIENT_ERRORS[error.code ?? ""] ?? "400 Bad Request";
      if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      cut(socket);
    },
  };
}

/** Requests that came on one connection before their answers. node:http reads all of them at once; one at a time is answered. */
interface Line {
  length: number;
  last: Promise<void>;
  /** When the connection is. */
  readonly isGone: Promise<void>;
  /** The one that is being read. */
  latest: IncomingMessage;
}

function lineOf(lines: WeakMap<Duplex, Line>, incoming: IncomingMessage): Line {
  const { socket } = incoming;
  const known = lines.get(socket);
  if (known !== undefined) {
    known.latest = incoming;
    return known;
  }
  const isGone = new Promise<void>((settle) => socket.once("close", () => settle()));
  const line: Line = { length: 0, last: Promise.resolve(), isGone, latest: incoming };
  lines.set(socket, line);
  return line;
}

/** Serves when what came before on this connection has left, so that a connection holds one answer whatever it asks for. */
function standIn(line: Line, outgoing: ServerResponse, serve: () => Promise<void>): Promise<void> {
  line.length++;
  const { socket } = line.latest;
  const hasLeft = new Promise<void>((settle) => outgoing.once("close", () => settle()));
  const serving = line.last.then(async () => {
    if (!socket.destroyed) await serve();
  });
  const served = serving.catch(() => {
    outgoing.destroy();
  });
  // node:http reports no end of an answer that has not begun.
  line.last = Promise.all([served, Promise.race([hasLeft, line.isGone])]).then(() => {
    line.length--;
  });
  return served;
}

/** Connections that are about to end. */
const cutSockets = new WeakSet<Duplex>();

/**
 * Ends our side, and the whole connection soon after: one whose other side never ends would be half open for ever. Called for each piece that
 * comes after a refusal.
 */
function cut(socket: Duplex): void {
  if (socket.destroyed || cutSockets.has(socket)) return;
  cutSockets.add(socket);
  socket.end();
  const timer = setTimeout(() => socket.destroy(), REFUSAL_LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}

function refuse(outgoing: ServerResponse, { status, body }: HeadRefusal): void {
  const { socket } = outgoing;
  writeHeaders(outgoing, REFUSAL_HEADERS);
  outgoing.writeHead(status, { Connection: "close", "Content-Length": Buffer.byteLength(body) });
  outgoing.end(body);
  if (socket !== null) cut(socket);
}

interface Served {
  readonly options: ListenOptions;
  readonly streams: Streams;
  /** By all bodies that are on their way. */
  readonly held: HeldBytes;
  readonly head: Head;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Whether nothing more is answered on its connection. */
  isLast(): boolean;
  /** Whether the server stops. */
  areLast(): boolean;
}

async function serve({ options, streams, held, head, incoming, outgoing, isLast, areLast }: Served): Promise<void> {
  const read = { method: incoming.method ?? "GET", target: originForm(incoming.url ?? "/", head), head };
  const remoteAddress = incoming.socket.remoteAddress ?? "";
  const body = head.hasBody ? await readBody(incoming, mostBodyBytes(pathOf(read.target)), held) : null;
  const request = requestOf(read, remoteAddress, body);
  const response = await options.handle(request);
  if (isStream(response) && request.method !== "HEAD") {
    const sink = stream(options, streams, outgoing, response);
    if (areLast()) sink?.leave(response.farewell?.() ?? "");
    return;
  }
  if (isStream(response)) response.open(CLOSED_SINK)();
  if (isLast()) outgoing.setHeader("Connection", "close");
  write(outgoing, request.method, isStream(response) ? { ...response, body: "" } : response);
  endIfNotTaken(outgoing, options.answerTimeoutMs);
}

/** @returns null when the reader is gone */
function stream(
  { stallTimeoutMs, answerTimeoutMs }: ListenOptions,
  streams: Streams,
  outgoing: ServerResponse,
  response: StreamedResponse,
): PipedSink | null {
  if (outgoing.destroyed || outgoing.socket === null) {
    response.open(CLOSED_SINK)();
    return null;
  }
  writeHeaders(outgoing, response.headers);
  outgoing.setHeader("Connection", "close");
  outgoing.statusCode = response.status;
  outgoing.flushHeaders();
  const pipe = {
    send: (bytes: string | Uint8Array) => outgoing.write(bytes),
    end() {
      outgoing.end();
      endIfNotTaken(outgoing, answerTimeoutMs);
    },
    cut: () => void outgoing.destroy(),
  };
  const sink = new PipedSink(pipe, stallTimeoutMs);
  outgoing.on("drain", () => sink.writable());
  outgoing.once("close", () => sink.gone());
  streams.set(sink, response);
  const stop = response.open(sink);
  sink.onEnd(() => {
    streams.delete(sink);
    stop();
  });
  return sink;
}

/** node:http waits for a reader for ever, and holds the answer meanwhile. */
function endIfNotTaken(outgoing: ServerResponse, timeoutMs: number): void {
  if (outgoing.writableFinished || outgoing.destroyed) return;
  const timer = setTimeout(() => outgoing.destroy(), timeoutMs);
  const stop = (): void => clearTimeout(timer);
  outgoing.once("finish", stop);
  outgoing.once("close", stop);
}

/** Rejects, with the end of its connection, when others need what it holds. */
async function readBody(incoming: IncomingMessage, mostBytes: number, held: HeldBytes): Promise<ApiRequest["body"]> {
  const kept = new KeptBody(mostBytes);
  const holder = { giveUp: () => void incoming.destroy() };
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      kept.add(chunk);
      held.set(holder, kept.keptBytes);
      if (kept.size > MAX_DISCARDED_BYTES) break;
    }
  } finally {
    held.set(holder, 0);
  }
  return kept.body();
}

function write(outgoing: ServerResponse, method: string, response: ApiResponse): void {
  const body = typeof response.body === "string" ? Buffer.from(response.body) : response.body;
  writeHeaders(outgoing, response.headers);
  outgoing.statusCode = response.status;
  if (!isBodiless(response.status)) outgoing.setHeader("Content-Length", body.length);
  outgoing.end(method === "HEAD" || isBodiless(response.status) ? undefined : body);
}

function writeHeaders(outgoing: ServerResponse, headers: readonly string[]): void {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    outgoing.setHeader(headers[index] ?? "", headers[index + 1] ?? "");
  }
}
