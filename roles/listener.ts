/** A small listener of a role that has no API: its metrics and whether it works, for the operator's own monitoring. */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isLocalCall } from "../api/address.ts";
import { headOf } from "../api/head.ts";

/** How long a caller may take to ask, ms. */
const PATIENCE_MS = 5_000;

export interface RoleListenerOptions {
  readonly host: string;
  readonly port: number;
  /** SONDE_METRICS_TOKEN, as for the API's metrics; null: they are for this machine alone. */
  readonly token: string | null;
  /** Prometheus text. */
  readonly metrics: () => Promise<string>;
  /** Why it does not work; empty when all is well. */
  readonly problems: () => readonly string[];
  /** What the operator should know although it works, a line each. */
  readonly notices?: () => readonly string[];
}

export interface RoleListener {
  readonly port: number;
  close(): Promise<void>;
}

/** `host:port`, `[v6]:port` or a port of loopback. @returns undefined when it is none */
export function parseListen(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, bracketed, plain, digits] = /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  return digits === undefined || port > 65_535 ? undefined : { host: bracketed ?? plain ?? "127.0.0.1", port };
}

/** @throws an Error of one line when it cannot listen */
export async function startRoleListener({
  host,
  port,
  token,
  metrics,
  problems,
  notices = () => [],
}: RoleListenerOptions): Promise<RoleListener> {
  // Callers send little, and at once. 64 silent ones must not keep the operator out for longer than that.
  const bounds = { headersTimeout: PATIENCE_MS, requestTimeout: PATIENCE_MS, connectionsCheckingInterval: 1_000 };
  const server = createServer(bounds, (request, response) => {
    const path = request.url?.split("?")[0];
    if (request.method !== "GET") return end(response, 405, "only GET\n");
    if (path === "/health") {
      const found = problems();
      if (found.length === 0) return end(response, 200, `${["ok", ...notices()].join("\n")}\n`);
      return end(response, 503, `${found.join("\n")}\n`);
    }
    if (path !== "/metrics") return end(response, 404, "there are /metrics and /health\n");
    if (!maySee(request, host, token)) return end(response, 403, "metrics need SONDE_METRICS_TOKEN, as Bearer\n");
    metrics().then(
      (text) => end(response, 200, text),
      () => end(response, 500, "metrics could not be gathered\n"),
    );
  });
  // Also of one that reads nothing.
  server.setTimeout(2 * PATIENCE_MS);
  server.maxConnections = 64;
  await listen(server, host, port);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function maySee({ headers, rawHeaders, socket }: IncomingMessage, host: string, token: string | null): boolean {
  if (token === null) {
    const { isProxied } = headOf(rawHeaders);
    return isLocalCall(host, { remoteAddress: socket.remoteAddress ?? "", isProxied });
  }
  const sent = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? "";
  // Compares in constant time.
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(sent), digest(token));
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new Error(`cannot listen on ${host}:${port} (${error.code}): give another --metrics`)),
    );
    server.listen({ host, port, exclusive: true }, resolve);
  });
}
