/** Accepts and hangs up, in a process of its own, so that its CPU time is not the checks'. Says its port, and when asked how many came. */
import { createServer } from "node:net";

let accepted = 0;
const server = createServer({ pauseOnConnect: true }, (socket) => {
  accepted++;
  socket.on("error", () => {});
  socket.destroy();
});
process.on("message", () => process.send?.(accepted));
process.on("disconnect", () => process.exit(0));
server.listen({ host: "127.0.0.1", port: 0, backlog: 4_096 }, () => {
  const address = server.address();
  if (typeof address === "object" && address !== null) process.send?.(address.port);
});
