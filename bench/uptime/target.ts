/**
 * The target of the uptime bench, in a process of its own: answers fast, sometimes late, sometimes with 500, at random, and keeps a log
 * of what it did for every path. Its log is the truth that results are compared with.
 *
 * Path `/<n>`: monitor n. Started with the shares of failing and of slow answers (per thousand); says its port to its parent.
 */
import { createServer } from "node:net";
import { NativeListener } from "./native-listener.ts";
import { TARGET_HOSTS } from "./target-address.ts";

/** One answer of the log: which monitor, when the request was complete and when the answer left (Unix ms), and its status. */
export type LogEntry = readonly [monitor: number, receivedAtMs: number, answeredAtMs: number, status: number];

export type FromTarget =
  | { readonly type: "listening"; readonly port: number }
  | { readonly type: "log"; readonly entries: Float64Array };
export type ToTarget =
  | { readonly type: "log" }
  /** From now on so many answers of a thousand are 500. */
  | { readonly type: "fail"; readonly perMille: number }
  | { readonly type: "close" };

const FIELDS = 4;
const OK = Buffer.from(
  "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 15\r\nConnection: close\r\n\r\nall is well: 42",
);
const FAILED = Buffer.from("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\nConnection: close\r\n\r\nsorry");
/** A slow answer comes after 5 to 50 ms. */
const SLOW_FROM_MS = 5;
const SLOW_SPAN_MS = 45;

let failingPerMille = Number(process.argv[2] ?? 10);
const slowPerMille = Number(process.argv[3] ?? 20);
let log = new Float64Array(FIELDS * 1_000_000);
let length = 0;

function note(monitor: number, receivedAtMs: number, status: number): void {
  if (length + FIELDS > log.length) {
    const larger = new Float64Array(log.length * 2);
    larger.set(log);
    log = larger;
  }
  log[length] = monitor;
  log[length + 1] = receivedAtMs;
  log[length + 2] = performance.timeOrigin + performance.now();
  log[length + 3] = status;
  length += FIELDS;
}

/** The number after `GET /`, without making strings. */
function monitorOf(request: Buffer): number {
  let monitor = 0;
  for (let i = 5; i < request.length; i++) {
    const digit = (request[i] ?? 0) - 48;
    if (digit < 0 || digit > 9) break;
    monitor = monitor * 10 + digit;
  }
  return monitor;
}

/** @param send called once, at once or later */
function serve(request: Buffer, send: (answer: Buffer) => void): void {
  const receivedAtMs = performance.timeOrigin + performance.now();
  const monitor = monitorOf(request);
  const answer = (): void => {
    const isFailing = Math.random() * 1_000 < failingPerMille;
    note(monitor, receivedAtMs, isFailing ? 500 : 200);
    send(isFailing ? FAILED : OK);
  };
  if (Math.random() * 1_000 >= slowPerMille) answer();
  else setTimeout(answer, SLOW_FROM_MS + Math.random() * SLOW_SPAN_MS);
}

/** On Node's own sockets, where there is no native way. @param port 0: a free one · @returns the port */
function listenByNode(host: string, port: number): Promise<number> {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (request: Buffer) => serve(request, (answer) => void socket.end(answer)));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog: 4_096 }, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

function tell(message: FromTarget): void {
  process.send?.(message);
}

process.on("message", (message: ToTarget) => {
  if (message.type === "fail") failingPerMille = message.perMille;
  else if (message.type === "log") tell({ type: "log", entries: log.slice(0, length) });
  else process.exit(0);
});
process.on("disconnect", () => process.exit(0));
const native = await NativeListener.open((connection, request) =>
  serve(request, (answer) => native?.answer(connection, answer)),
);
const listen = (host: string, at: number): number | Promise<number> =>
  native?.listen(host, at) ?? listenByNode(host, at);
const [first = "127.0.0.1", ...others] = TARGET_HOSTS;
const port = await listen(first, 0);
for (const host of others) await listen(host, port);
tell({ type: "listening", port });
