/** The native sweep in threads and processes of its own, from dist. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, it } from "vitest";

const FIXTURE = new URL("./fixtures/sweep-in-thread.mjs", import.meta.url);

let server: Server;
let port = 0;
beforeAll(async () => {
  if (!existsSync(new URL("../dist/native/connect-sweep.js", import.meta.url))) {
    throw new Error("dist is missing: run `npm run build` first");
  }
  server = createServer((socket) => socket.on("error", () => {})).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address !== null && typeof address === "object") port = address.port;
});
afterAll(() => server.close());

it("works in several threads at once, each of which ends by itself when nothing is under way", async () => {
  const workers = Array.from({ length: 3 }, () => new Worker(FIXTURE, { workerData: { port } }));
  const said = await Promise.all(workers.map((worker) => Promise.all([once(worker, "message"), once(worker, "exit")])));
  for (const [[message], [code]] of said) {
    expect(message).toEqual({ connectMs: expect.any(Number), pending: 0 });
    expect(code).toBe(0);
  }
});

it("lets its process end by itself", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(FIXTURE), JSON.stringify({ port })]);
  expect(JSON.parse(stdout)).toEqual({ connectMs: expect.any(Number), pending: 0 });
});

it("says EMFILE when the process may open nothing more", async () => {
  const given = JSON.stringify({ port, hungry: true });
  const command = `ulimit -n 64; exec "$0" "$@"`;
  const { stdout } = await promisify(execFile)("sh", ["-c", command, process.execPath, fileURLToPath(FIXTURE), given]);
  expect(JSON.parse(stdout)).toEqual({ code: "EMFILE", syscall: "socket" });
});
