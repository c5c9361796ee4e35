/** A website as cheap as Node makes it, in a process of its own, so that its CPU time is not the checks'. Says its port to its parent. */
import { createServer } from "node:net";

const BODY = "all is well: 42";
const ANSWER = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${BODY.length}\r\nConnection: close\r\n\r\n${BODY}`,
);

const server = createServer({ noDelay: true }, (socket) => {
  socket.on("error", () => socket.destroy());
  socket.once("data", () => socket.write(ANSWER));
});
process.on("disconnect", () => process.exit(0));
server.listen({ host: "127.0.0.1", port: 0, backlog: 4_096 }, () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) process.send?.(address.port);
});
