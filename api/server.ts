/**
 * uWebSockets.js before the API: the only file that knows it, beside the one that loads it. It bounds headers by itself (4 KiB when they come in pieces, its
 * receive buffer when at once, and their number), refuses HTTP/1.0 and ends connections idle for 10 s.
 */

import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import { Head, type HeadRefusal, REFUSAL_HEADERS } from "./head.ts";
import {
  type ApiAnswer,
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
import { CLOSED_SINK, PipedSink } from "./stream-sink.ts";
import { loadUws, type Uws } from "./uws-binary.ts";

/** LIBUS_LISTEN_EXCLUSIVE_PORT of libusockets.h: without it two processes would share a port in silence (SO_REUSEPORT). */
const LISTEN_EXCLUSIVE_PORT = 1;
const TEXT = new TextDecoder();
const STATUS_LINES = new Map(Object.entries(STATUS_CODES).map(([code, words]) => [Number(code), `${code} ${words}`]));

/** @param uws by default the package's own binary, checked */
export async function listenUws(options: ListenOptions, uws: Uws = loadUws(null)): Promise<HttpServer> {
  const app = uws.App();
  const flights = createFlights();
  const connections = createCount();
  // The types lack it: 1 when a connection opens, -1 when it is gone.
  type Filter = (onChange: (res: HttpResponse, change: number) => void) => void;
  const counted: Parameters<Filter>[0] = (res, change) => {
    connections.add(change);
    if (change > 0 && connections.count > MAX_CONNECTIONS) res.close();
  };
  (app as unknown as { filter: Filter }).filter(counted);
  app.any("/*", (res, req) => serve(options, flights, res, req));
  const socket = await listening(app, options);

  return {
    kind: "uws",
    port: uws.us_socket_local_port(socket),
    async close() {
      const startedMs = performance.now();
      // Just after the loop has looked for input: what the kernel has connected for us is accepted by then, not reset.
      await nextCheckPhase();
      uws.us_listen_socket_close(socket);
      // Only now: whose connection ends dials again at once.
      flights.drain();
      flights.endStreams();
      await connections.none(options.lingerMs);
      await flights.none(options.drainTimeoutMs - (performance.now() - startedMs));
      // An answer given in the turn that read its request leaves uWS's buffer only at the end of that turn.
      await new Promise((settle) => setImmediate(settle));
      app.close();
    },
  };
}

interface Count {
  readonly count: number;
  add(change: number): void;
  /** Resolves when there are none, or after this long. */
  none(timeoutMs: number): Promise<void>;
}

function createCount(): Count {
  let count = 0;
  let onNone: (() => void) | null = null;
  return {
    get count() {
      return count;
    },
    add(change) {
      count += change;
      if (count === 0) onNone?.();
    },
    async none(timeoutMs) {
      if (count === 0) return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((settle) => {
        onNone = settle;
        timer = setTimeout(settle, timeoutMs);
      });
      clearTimeout(timer);
    },
  };
}

/** What is being answered. */
interface Flights extends Omit<Count, "count"> {
  /** From now on every answer ends its connection. */
  drain(): void;
  readonly areLast: boolean;
  /** What has to end before the server can: by sink, what it is told. */
  readonly streams: Map<PipedSink, StreamedResponse>;
  endStreams(): void;
}

function createFlights(): Flights {
  let areLast = false;
  const { add, none } = createCount();
  const streams = new Map<PipedSink, StreamedResponse>();
  return {
    add,
    none,
    streams,
    endStreams() {
      for (const [sink, response] of streams) sink.leave(response.farewell?.() ?? "");
    },
    drain: () => {
      areLast = true;
    },
    get areLast() {
      return areLast;
    },
  };
}

function nextCheckPhase(): Promise<void> {
  return new Promise((settle) => setImmediate(() => setImmediate(settle)));
}

function listening(app: TemplatedApp, { host, port }: ListenOptions): Promise<us_listen_socket> {
  return new Promise((settle, fail) => {
    const done = (socket: us_listen_socket | false): void => {
      if (socket === false) fail(new ListenError(listenFailure("EADDRINUSE", host, port)));
      else settle(socket);
    };
    // The types lack this form.
    type Listen = (
      host: string,
      port: number,
      option: number,
      done: (socket: us_listen_socket | false) => void,
    ) => void;
    (app.listen as unknown as Listen).call(app, host, port, LISTEN_EXCLUSIVE_PORT, done);
  });
}

/** One request until it is answered or its caller is gone. */
interface Exchange {
  readonly res: HttpResponse;
  readonly flights: Flights;
  aborted: boolean;
  /** Lets go of what is held for it: of the body that is here already, or of the answer that was not read yet. */
  drop: (() => void) | null;
  /** Once, when it is answered or gone. */
  readonly end: () => void;
}

/** The one that is being read: uWS calls `readLine` for each header before anything else happens. */
let reading = new Head();
const readLine = (name: string, value: string): void => reading.add(name, value);

/** uWS ends `req` with this call, so everything is read here, before anything waits. */
function serve(options: ListenOptions, flights: Flights, res: HttpResponse, req: HttpRequest): void {
  const exchange: Exchange = { res, flights, aborted: false, drop: null, end: () => flights.add(-1) };
  flights.add(1);
  res.onAborted(() => {
    exchange.aborted = true;
    exchange.drop?.();
    exchange.end();
  });
  const head = new Head();
  reading = head;
  req.forEach(readLine);
  const method = req.getCaseSensitiveMethod();
  const refused = head.refusal(method);
  if (refused !== null) {
    later(exchange, () => refuse(exchange, refused));
    return;
  }
  const path = req.getUrl();
  const request = {
    method,
    path,
    // Absent, it is undefined, whatever the types say.
    query: req.getQuery() ?? "",
    apiKey: head.apiKey,
    authorization: head.authorization,
    projectId: head.projectId,
    forwardedFor: head.forwardedFor,
    isProxied: head.isProxied,
    ifNoneMatch: head.ifNoneMatch,
    acceptEncoding: head.acceptEncoding,
    idempotencyKey: head.idempotencyKey,
    cookie: head.cookie,
    origin: head.origin,
    host: head.host,
    secFetchSite: head.secFetchSite,
    page: head.page,
    userAgent: head.userAgent,
    remoteAddress: TEXT.decode(res.getRemoteAddressAsText()),
    body: null as ApiRequest["body"],
  };
  if (!head.hasBody) {
    answer(options, exchange, request, false);
    return;
  }
  readBody(options, exchange, mostBodyBytes(path), (body) => {
    request.body = body;
    if (!head.isChunked) answer(options, exchange, request, false);
    else later(exchange, () => answer(options, exchange, request, true));
  });
}

/**
 * Acts once uWS has read everything that came with the request. It ends a connection that brings a further request while one is not answered
 * yet, so what follows a refused head, or chunks that another server may count differently, is never taken for a request.
 */
function later(exchange: Exchange, act: () => void): void {
  setImmediate(() => {
    if (!exchange.aborted) exchange.res.cork(act);
  });
}

function refuse({ res, end }: Exchange, { status, body }: HeadRefusal): void {
  end();
  res.writeStatus(STATUS_LINES.get(status) ?? String(status));
  writeHeaders(res, REFUSAL_HEADERS);
  res.end(body, true);
}

/** @param isLast nothing more is read on this connection */
function answer(options: ListenOptions, exchange: Exchange, request: ApiRequest, isLast: boolean): void {
  const response = options.handle(request);
  if (!(response instanceof Promise)) {
    // uWS has corked the connection for this call.
    give(options, exchange, request.method, response, isLast);
    return;
  }
  void response.then((answered) => {
    if (!exchange.aborted) exchange.res.cork(() => give(options, exchange, request.method, answered, isLast));
    else if (isStream(answered)) answered.open(CLOSED_SINK)();
  });
}

function give(options: ListenOptions, exchange: Exchange, method: string, answered: ApiAnswer, isLast: boolean): void {
  if (!isStream(answered)) write(options, exchange, method, answered, isLast);
  else if (method !== "HEAD") stream(options, exchange, answered);
  else {
    answered.open(CLOSED_SINK)();
    write(options, exchange, method, { ...answered, body: "" }, true);
  }
}

function stream({ stallTimeoutMs }: ListenOptions, exchange: Exchange, response: StreamedResponse): void {
  const { res, flights } = exchange;
  res.writeStatus(STATUS_LINES.get(response.status) ?? String(response.status));
  writeHeaders(res, [...response.headers, "Connection", "close"]);
  const pipe = {
    send(bytes: string | Uint8Array) {
      let isTaken = true;
      res.cork(() => {
        isTaken = res.write(bytes);
      });
      return isTaken;
    },
    // Told to end the connection now, uWS would write that header into the body. The reader does it: its answer said so.
    end() {
      res.cork(() => void res.end());
      exchange.end();
    },
    cut: () => void res.close(),
  };
  const sink = new PipedSink(pipe, stallTimeoutMs);
  exchange.drop = () => sink.gone();
  // Also where the writer holds nothing back: without it uWS ends a connection 10 s after it was full once, whatever is written since.
  res.onWritable(() => {
    // With it uWS leaves what it keeps itself until the next write; a cork around nothing is one.
    res.cork(() => {});
    sink.writable();
    return true;
  });
  flights.streams.set(sink, response);
  const stop = response.open(sink);
  sink.onEnd(() => {
    flights.streams.delete(sink);
    stop();
  });
  if (flights.areLast) sink.leave(response.farewell?.() ?? "");
}

function readBody(
  { bodyTimeoutMs }: ListenOptions,
  exchange: Exchange,
  mostBytes: number,
  done: (body: ApiRequest["body"]) => void,
): void {
  const { res } = exchange;
  let chunks: Uint8Array[] = [];
  let size = 0;
  const timer = setTimeout(() => res.close(), bodyTimeoutMs);
  const stop = (): void => {
    clearTimeout(timer);
    exchange.drop = null;
    chunks = [];
  };
  exchange.drop = stop;
  res.onData((chunk, isLast) => {
    size += chunk.byteLength;
    if (size > mostBytes) chunks = [];
    // uWS takes the chunk's memory back when this returns.
    else if (chunk.byteLength > 0) chunks.push(new Uint8Array(chunk.slice(0)));
    if (isLast) {
      const body = size === 0 ? null : size > mostBytes ? "too-large" : joined(chunks);
      stop();
      done(body);
    } else if (size > MAX_DISCARDED_BYTES) res.close();
  });
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

/** @param isLast nothing more is read on this connection */
function write(
  options: ListenOptions,
  exchange: Exchange,
  method: string,
  { status, headers, body }: ApiResponse,
  isLast: boolean,
): void {
  const { res, flights } = exchange;
  res.writeStatus(STATUS_LINES.get(status) ?? String(status));
  writeHeaders(res, headers);
  const hasNoBody = isBodiless(status) || method === "HEAD";
  // uWS ends a connection only behind an answer with a length: here one of nothing.
  if (hasNoBody && isLast) res.end("", true);
  else if (hasNoBody) {
    // Given the length as an argument uWS would wait for a body, and answer nothing more on this connection.
    if (!isBodiless(status)) res.writeHeader("Content-Length", String(Buffer.byteLength(body)));
    res.endWithoutBody();
  } else if (isLast || flights.areLast) res.end(body, true);
  else {
    send(options, exchange, body);
    return;
  }
  exchange.end();
}

function writeHeaders(res: HttpResponse, headers: readonly string[]): void {
  for (let index = 0; index + 1 < headers.length; index += 2)
    res.writeHeader(headers[index] ?? "", headers[index + 1] ?? "");
}

/**
 * A body that its reader does not take stays here, not in uWS's buffer: while it does, uWS ends the connection at the next request, so one that
 * asks on and never reads holds one answer and not thousands. What is not taken in time ends with its connection.
 */
function send({ answerTimeoutMs }: ListenOptions, exchange: Exchange, body: string | Uint8Array): void {
  const { res } = exchange;
  const size = Buffer.byteLength(body);
  if (res.tryEnd(body, size)[1]) {
    exchange.end();
    return;
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const timer = setTimeout(() => res.close(), answerTimeoutMs);
  exchange.drop = () => clearTimeout(timer);
  res.onWritable((offset) => {
    const [isTaken, isDone] = res.tryEnd(bytes.subarray(offset), size);
    if (isDone) {
      clearTimeout(timer);
      exchange.drop = null;
      exchange.end();
    }
    return isTaken;
  });
}
