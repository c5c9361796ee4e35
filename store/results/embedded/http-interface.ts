/** ClickHouse's HTTP interface before the embedded engine, as far as the official client uses it. */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, gzip, inflate } from "node:zlib";
import type { EngineAnswer } from "./engine.ts";
import { readStatement, type Statement, StatementError } from "./statement.ts";

export interface HttpInterfaceOptions {
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Bytes of a request's body, as sent and when decompressed. */
  readonly maxBodyBytes: number;
  readonly run: (statement: Statement, body: Buffer, signal: AbortSignal) => Promise<EngineAnswer>;
}

const decoders: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};
const encode = promisify(gzip);

/** Below this an answer is not worth compressing, bytes. */
const COMPRESS_FROM_BYTES = 1_024;
/** Longer than the clients keep an idle socket, ms. */
const KEEP_ALIVE_MS = 10_000;
const CODE = /^Code: (\d+)\./;

export function createHttpInterface(options: HttpInterfaceOptions): Server {
  const server = createServer((request, response) => {
    void answer(request, response, options).catch((error: unknown) => refuse(response, error));
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  return server;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: HttpInterfaceOptions,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://localhost");
  if (url.pathname === "/ping") {
    response.setHeader("content-type", "text/html; charset=UTF-8");
    response.end("Ok.\n");
    return;
  }
  if (url.pathname !== "/") return send(response, 404, "There is no handle here\n");
  if (request.method !== "GET" && request.method !== "POST")
    return send(response, 501, "Only GET and POST are known here\n");
  authenticate(request, options);
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const body = await readBody(request, options.maxBodyBytes);
  const statement = readStatement({
    method: request.method,
    search: url.searchParams,
    body,
    database: options.database,
  });
  const result = await options.run(statement, body, gone.signal);
  response.setHeader("x-clickhouse-query-id", url.searchParams.get("query_id") ?? "");
  response.setHeader("x-clickhouse-summary", summaryOf(result));
  response.setHeader("x-clickhouse-format", statement.format);
  response.setHeader("content-type", "text/plain; charset=UTF-8");
  await sendBytes(
    request,
    response,
    url,
    Buffer.from(result.bytes.buffer, result.bytes.byteOffset, result.bytes.byteLength),
  );
}

async function sendBytes(request: IncomingMessage, response: ServerResponse, url: URL, bytes: Buffer): Promise<void> {
  const accepts = String(request.headers["accept-encoding"] ?? "");
  const isWanted = url.searchParams.get("enable_http_compression") === "1" && accepts.includes("gzip");
  if (!isWanted || bytes.length < COMPRESS_FROM_BYTES) {
    response.end(bytes);
    return;
  }
  response.setHeader("content-encoding", "gzip");
  response.end(await encode(bytes, { level: 1 }));
}

function authenticate(request: IncomingMessage, { user, password }: HttpInterfaceOptions): void {
  const { headers } = request;
  const basic = /^Basic (\S+)$/i.exec(headers.authorization ?? "")?.[1];
  const sent =
    basic === undefined
      ? `${headers["x-clickhouse-user"] ?? ""}:${headers["x-clickhouse-key"] ?? ""}`
      : Buffer.from(basic, "base64").toString("utf8");
  const digest = (text: string) => createHash("sha256").update(text).digest();
  if (!timingSafeEqual(digest(sent), digest(`${user}:${password}`))) {
    throw new StatementError(
      516,
      "AUTHENTICATION_FAILED",
      "Authentication failed: password is incorrect, or there is no user with such name",
    );
  }
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk as Buffer);
  }
  const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  const encoding = request.headers["content-encoding"];
  if (encoding === undefined || encoding === "identity") return body;
  const decode = decoders[encoding];
  if (decode === undefined)
    throw new StatementError(
      89,
      "UNKNOWN_COMPRESSION_METHOD",
      `Unknown compression method ${JSON.stringify(encoding)}`,
    );
  try {
    return await decode(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes);
    throw new StatementError(354, "ZLIB_INFLATE_FAILED", "Cannot decompress the request's body");
  }
}

function tooLarge(maxBytes: number): StatementError {
  return new StatementError(307, "TOO_MANY_BYTES", `The request's body is larger than ${maxBytes} bytes`);
}

function summaryOf({ rowsRead, rowsWritten, elapsedNs }: EngineAnswer): string {
  return JSON.stringify({
    read_rows: String(rowsRead),
    read_bytes: "0",
    written_rows: String(rowsWritten),
    written_bytes: "0",
    total_rows_to_read: "0",
    result_rows: String(rowsRead),
    result_bytes: "0",
    elapsed_ns: String(elapsedNs),
  });
}

/** HTTP status by ClickHouse's code, where the server does not answer 500 (src/Server/HTTP/exceptionCodeToHTTPStatus.cpp). */
const HTTP_STATUS: Readonly<Record<string, number>> = {
  "62": 400,
  "27": 400,
  "41": 400,
  "115": 400,
  "354": 400,
  "60": 404,
  "81": 404,
  "16": 404,
  "516": 403,
  "307": 413,
  "202": 503,
  "164": 400,
  "452": 400,
};

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  const code = CODE.exec(message)?.[1] ?? "1002";
  response.setHeader("x-clickhouse-exception-code", code);
  const text = CODE.test(message) ? message : `Code: ${code}. DB::Exception: ${message}. (UNKNOWN_EXCEPTION)`;
  // The rest of a body that was not read would be taken for the next request.
  if (!response.req.complete) response.setHeader("connection", "close");
  send(response, HTTP_STATUS[code] ?? 500, `${text}\n`);
}

function send(response: ServerResponse, status: number, text: string): void {
  response.statusCode = status;
  response.setHeader("content-type", "text/plain; charset=UTF-8");
  response.end(text);
}
