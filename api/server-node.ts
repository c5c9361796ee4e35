/** node:http before the API: for where uWebSockets.js does not load. Same limits, same suite. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import type { ApiRequest, ApiResponse, HttpServer, ListenOptions } from "./http.ts";
import { isBodiless, ListenError, listenFailure, MAX_BODY_BYTES, MAX_DISCARDED_BYTES } from "./http.ts";

/** Bytes of all headers together; beyond it Node answers 431. */
const MAX_HEADER_BYTES = 16_384;
const MAX_HEADERS = 100;
const HEADERS_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 10_000;
const CLIENT_ERRORS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

export async function listenNode(options: ListenOptions): Promise<HttpServer> {
  const inFlight = new Set<Promise<void>>();
  let areLast = false;
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, options.bodyTimeoutMs),
      requestTimeout: options.bodyTimeoutMs,
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(1_000, options.bodyTimeoutMs),
    },
    (incoming, outgoing) => {
      const serving = serve(options, incoming, outgoing, () => areLast).catch(() => {
        outgoing.destroy();
      });
      inFlight.add(serving);
      void serving.finally(() => inFlight.delete(serving));
    },
  );
  server.maxHeadersCount = MAX_HEADERS;
  // A stranger's garbage gets one line and a closed connection.
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const status = CLIENT_ERRORS[error.code ?? ""] ?? "400 Bad Request";
    if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    else socket.destroy();
  });
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
      await new Promise((settle) => NetServer.prototype.close.call(server, settle));
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(inFlight);
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

/** @param isLast whether nothing more is answered on its connection */
async function serve(
  { handle }: ListenOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  isLast: () => boolean,
): Promise<void> {
  const url = incoming.url ?? "/";
  const mark = url.indexOf("?");
  const { headers } = incoming;
  const head = {
    method: incoming.method ?? "GET",
    path: mark < 0 ? url : url.slice(0, mark),
    query: mark < 0 ? "" : url.slice(mark + 1),
    apiKey: one(headers["x-api-key"]),
    authorization: headers.authorization ?? "",
    projectId: one(headers["x-project-id"]),
    forwardedFor: one(headers["x-forwarded-for"]),
    ifNoneMatch: headers["if-none-match"] ?? "",
    remoteAddress: incoming.socket.remoteAddress ?? "",
  };
  const hasBody = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
  const body = hasBody ? await readBody(incoming) : null;
  const request: ApiRequest = { ...head, body };
  const response = await handle(request);
  if (isLast()) outgoing.setHeader("Connection", "close");
  write(outgoing, request.method, response);
}

function one(value: string | string[] | undefined): string {
  return typeof value === "string" ? value : (value?.[0] ?? "");
}

async function readBody(incoming: IncomingMessage): Promise<ApiRequest["body"]> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    if (size > MAX_DISCARDED_BYTES) break;
  }
  if (size === 0) return null;
  return size > MAX_BODY_BYTES ? "too-large" : Buffer.concat(chunks);
}

function write(outgoing: ServerResponse, method: string, response: ApiResponse): void {
  const body = typeof response.body === "string" ? Buffer.from(response.body) : response.body;
  for (let index = 0; index + 1 < response.headers.length; index += 2) {
    outgoing.setHeader(response.headers[index] ?? "", response.headers[index + 1] ?? "");
  }
  outgoing.statusCode = response.status;
  if (!isBodiless(response.status)) outgoing.setHeader("Content-Length", body.length);
  outgoing.end(method === "HEAD" || isBodiless(response.status) ? undefined : body);
}
