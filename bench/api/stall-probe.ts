/**
 * Loaded into the service (`--import`): how long its main thread, which has the API, does one thing. A connection begins a watch; when its other side
 * ends it, the longest stretches are written back and it is closed. Argument, in the module's own address: `?socket=<path>`.
 */
import { createServer } from "node:net";
import { isMainThread } from "node:worker_threads";
import { Stalls } from "../parts/stalls.ts";

const path = new URL(import.meta.url).searchParams.get("socket");

if (isMainThread && path !== null) {
  const server = createServer({ allowHalfOpen: true }, (watcher) => {
    const stalls = new Stalls();
    const over = new Promise<void>((resolve) => watcher.once("end", resolve).once("error", resolve));
    watcher.resume();
    void stalls.watch(() => over).then(() => watcher.end(JSON.stringify(stalls)));
  });
  // A child process of the service is given the same words: the first one has the path.
  server.on("error", () => {});
  server.listen(path);
  server.unref();
}
