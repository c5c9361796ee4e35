/**
 * Bare uWebSockets.js, in a process of its own: the limit of what an API on it can do. It reads the headers that ours reads and answers
 * with as many headers and bytes, and does nothing else. Says its port to its parent; ends with it.
 */
import uws from "uWebSockets.js";

/** Argument: bytes of the body. */
const BODY = "x".repeat(Number(process.argv[2] ?? 700));
const READ = ["x-api-key", "authorization", "x-project-id", "x-forwarded-for", "content-length"];

const app = uws.App();
app.any("/*", (res, req) => {
  for (const name of READ) req.getHeader(name);
  res.onAborted(() => {});
  res.cork(() => {
    res.writeHeader("Content-Type", "application/json");
    res.writeHeader("X-RateLimit-Limit", "1000000000");
    res.writeHeader("X-RateLimit-Remaining", "1000000000");
    res.writeHeader("X-RateLimit-Reset", "1795282830");
    res.writeHeader("Cache-Control", "no-store");
    res.end(BODY);
  });
});
app.listen("127.0.0.1", 0, (socket) => {
  if (socket === false) process.exit(1);
  process.send?.(uws.us_socket_local_port(socket));
});
process.on("disconnect", () => process.exit(0));
