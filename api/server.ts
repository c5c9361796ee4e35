/**
 * uWebSockets.js before the API: the only file that knows it. Imported when it is asked for, because it does not load everywhere
 * (Node 24 on an older glibc). It bounds headers by itself (4 KiB when they come in pieces, its
 * receive buffer when at once, and their number), refuses HTTP/1.0 and ends connections idle for 10 s.
 */

import type { HttpRequest, HttpResponse, us_listen_socket } from "uWebSockets.js";
import uws from "uWebSockets.js";
import { STATUS_CODES } from "node:http";
import type { ApiRequest, ApiResponse, HttpServer, ListenOptions } from "./http.ts";
import { isBodiless, ListenError, listenFailure, MAX_BODY_BYTES, MAX_DISCARDED_BYTES } from "./http.ts";

/** LIBUS_LISTEN_EXCLUSIVE_PORT of libusockets.h: without it two processes would share a port in silence (SO_REUSEPORT). */
const LISTEN_EXCLUSIVE_PORT = 1;
const TEXT = new TextDecoder();
const STATUS_LINES = new Map(Object.entries(STATUS_CODES).map(([code, words]) => [Number(code), `${code} ${words}`]));

export async function listenUws(options: ListenOptions): Promise<HttpServer> {
  const app = uws.App();
  const flights = createFlights();
  const connections = createCount();
  // The types lack it: 1 when a connection opens, -1 when it is gone.
  type Filter = (onChange: (res: HttpResponse, change: number) => void) => void;
  (app as unknown as { filter: Filter }).filter((_res, change) => connections.add(change));
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
      await connections.none(options.lingerMs);
      await flights.none(options.drainTimeoutMs - (performance.now() - startedMs));
      // An answer given in the turn that read its request leaves uWS's buffer only at the end of that turn.
      await new Promise((settle) => setImmediate(settle));
      app.close();
    },
  };
}

interface Count {
  add(change: number): void;
  /** Resolves when there are none, or after this long. */
  none(timeoutMs: number): Promise<void>;
}

function createCount(): Count {
  let count = 0;
  let onNone: (() => void) | null = null;
  return {
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
interface Flights extends Count {
  /** From now on every answer ends its connection. */
  drain(): void;
  readonly areLast: boolean;
}

function createFlights(): Flights {
  let areLast = false;
  return {
    ...createCount(),
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

function listening(app: uws.TemplatedApp, { host, port }: ListenOptions): Promise<us_listen_socket> {
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
  aborted: boolean;
  /** Lets go of what of the body is here already. */
  drop: (() => void) | null;
}

/** uWS ends `req` with this call, so everything is read here, before anything waits. */
function serve(options: ListenOptions, flights: Flights, res: HttpResponse, req: HttpRequest): void {
  const exchange: Exchange = { res, aborted: false, drop: null };
  flights.add(1);
  res.onAborted(() => {
    exchange.aborted = true;
    exchange.drop?.();
    flights.add(-1);
  });
  const path = req.getUrl();
  const request = {
    method: req.getCaseSensitiveMethod(),
    path,
    // Absent, it is undefined, whatever the types say.
    query: req.getQuery() ?? "",
    apiKey: req.getHeader("x-api-key"),
    authorization: req.getHeader("authorization"),
    projectId: req.getHeader("x-project-id"),
    forwardedFor: req.getHeader("x-forwarded-for"),
    ifNoneMatch: path.startsWith("/api/") ? "" : req.getHeader("if-none-match"),
    remoteAddress: TEXT.decode(res.getRemoteAddressAsText()),
    body: null as ApiRequest["body"],
  };
  if (req.getHeader("content-length") === "" && req.getHeader("transfer-encoding") === "") {
    answer(options, flights, exchange, request);
    return;
  }
  readBody(options, exchange, (body) => {
    request.body = body;
    answer(options, flights, exchange, request);
  });
}

function answer({ handle }: ListenOptions, flights: Flights, exchange: Exchange, request: ApiRequest): void {
  const { res } = exchange;
  const response = handle(request);
  if (!(response instanceof Promise)) {
    // uWS has corked the connection for this call.
    flights.add(-1);
    write(res, request.method, response, flights.areLast);
    return;
  }
  void response.then((answered) => {
    if (exchange.aborted) return;
    flights.add(-1);
    res.cork(() => write(res, request.method, answered, flights.areLast));
  });
}

function readBody(
  { bodyTimeoutMs }: ListenOptions,
  exchange: Exchange,
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
    if (size > MAX_BODY_BYTES) chunks = [];
    // uWS takes the chunk's memory back when this returns.
    else if (chunk.byteLength > 0) chunks.push(new Uint8Array(chunk.slice(0)));
    if (isLast) {
      const body = size === 0 ? null : size > MAX_BODY_BYTES ? "too-large" : joined(chunks);
      stop();
      done(body);
    } else if (size > MAX_DISCARDED_BYTES) res.close();
  });
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

/** @param isLast nothing more is answered on this connection */
function write(res: HttpResponse, method: string, { status, headers, body }: ApiResponse, isLast: boolean): void {
  res.writeStatus(STATUS_LINES.get(status) ?? String(status));
  for (let index = 0; index + 1 < headers.length; index += 2)
    res.writeHeader(headers[index] ?? "", headers[index + 1] ?? "");
  if (isBodiless(status)) res.endWithoutBody();
  else if (method === "HEAD") {
    // Given the length as an argument uWS would wait for a body, and answer nothing more on this connection.
    res.writeHeader("Content-Length", String(Buffer.byteLength(body)));
    res.endWithoutBody();
  } else res.end(body, isLast);
}
