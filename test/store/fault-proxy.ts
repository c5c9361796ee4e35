/** An HTTP proxy before ClickHouse that does to a request what networks, proxies and dying servers do. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { listen } from "../../demo/loopback.ts";

export const FAULTS = [
  "none",
  /** Refused with an exception's text behind a 200; nothing is done. */
  "exception-in-200",
  /** Done, and still an exception's text behind a 200. */
  "exception-after-commit",
  /** Done; the connection goes before the answer. */
  "cut-after-commit",
  /** Done; the answer never comes. */
  "silent-after-commit",
  /** The connection goes in the middle of the answer. */
  "cut-in-answer",
  /** An exception's text in the middle of the answer, which then ends properly. */
  "exception-in-answer",
  "slow",
  /** The connection goes at once. */
  "gone",
  /** A proxy's own words. */
  "bad-gateway",
] as const;
export type Fault = (typeof FAULTS)[number];

export interface FaultProxy {
  /** The given URL with our host and port. */
  readonly url: string;
  /** Asked for each request but those that the predicate leaves alone. */
  choose(next: (sql: string) => Fault): void;
  readonly met: ReadonlyMap<Fault, number>;
  close(): Promise<void>;
}

const EXCEPTION = "Code: 241. DB::Exception: Memory limit (total) exceeded: while doing this. (MEMORY_LIMIT_EXCEEDED)";
const SLOW_MS = 150;

export async function startFaultProxy(targetUrl: string): Promise<FaultProxy> {
  const target = new URL(targetUrl);
  const met = new Map<Fault, number>();
  let next: (sql: string) => Fault = () => "none";

  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const sql = new URL(incoming.url ?? "/", target).searchParams.get("query") ?? body.toString("utf8");
    const fault = next(sql);
    met.set(fault, (met.get(fault) ?? 0) + 1);
    await act(fault, incoming, body, outgoing);
  });
  async function act(fault: Fault, incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): Promise<void> {
    if (fault === "gone") return void outgoing.destroy();
    if (fault === "exception-in-200") return void outgoing.writeHead(200).end(EXCEPTION);
    if (fault === "bad-gateway") return void outgoing.writeHead(502).end("<html>502 Bad Gateway</html>");
    if (fault === "slow") await pause(SLOW_MS);
    const answer = await forward(incoming, body);
    if (fault === "silent-after-commit") return;
    if (fault === "cut-after-commit") return void outgoing.destroy();
    if (fault === "exception-after-commit") return void outgoing.writeHead(200).end(EXCEPTION);
    const half = answer.body.subarray(0, Math.floor(answer.body.length / 2));
    if (fault === "cut-in-answer") {
      outgoing.writeHead(200, { "content-length": answer.body.length + 1 });
      outgoing.write(half, () => outgoing.destroy());
    } else if (fault === "exception-in-answer") outgoing.writeHead(200).end(`${half}\n${EXCEPTION}`);
    else outgoing.writeHead(answer.status, answer.headers).end(answer.body);
  }

  function forward(incoming: IncomingMessage, body: Buffer) {
    return new Promise<{ status: number; headers: Record<string, string>; body: Buffer }>((resolve, reject) => {
      const { "transfer-encoding": _, connection: __, ...headers } = incoming.headers;
      const options = {
        host: target.hostname,
        port: target.port,
        path: incoming.url,
        method: incoming.method,
        agent: false,
      } as const;
      const sent = request({ ...options, headers: { ...headers, "content-length": body.length } }, async (response) => {
        const code = response.headers["x-clickhouse-exception-code"];
        resolve({
          status: response.statusCode ?? 500,
          headers: code === undefined ? {} : { "x-clickhouse-exception-code": String(code) },
          body: await buffer(response),
        });
      });
      sent.once("error", reject);
      sent.end(body);
    });
  }

  const url = new URL(target);
  url.port = String(await listen(server));
  return {
    url: url.href,
    choose: (fault) => {
      next = fault;
    },
    met,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
