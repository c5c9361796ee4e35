/**
 * A bare listener, in a process of its own: the limit of what an API on node:net can do. It counts the empty lines that end requests, answers each
 * with as many headers and bytes as ours, and does nothing else. Says its port to its parent; ends with it.
 */
import { type AddressInfo, createServer } from "node:net";

/** Argument: bytes of the body. */
const BODY = "x".repeat(Number(process.argv[2] ?? 700));
const HEADERS = [
  "HTTP/1.1 200 OK",
  "Content-Type: application/json",
  "X-RateLimit-Limit: 1000000000",
  "X-RateLimit-Remaining: 1000000000",
  "X-RateLimit-Reset: 1795282830",
  "Cache-Control: no-store",
  `Content-Length: ${BODY.length}`,
];
const ANSWER = `${HEADERS.join("\r\n")}\r\n\r\n${BODY}`;
const REQUEST_END = "\r\n\r\n";

const server = createServer({ noDelay: true }, (socket) => {
  // The load sends whole requests in one piece.
  socket.on("data", (bytes) => socket.write(ANSWER.repeat(bytes.toString("latin1").split(REQUEST_END).length - 1)));
  socket.on("error", () => {});
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit(0));
