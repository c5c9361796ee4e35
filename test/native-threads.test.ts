/** The native sweep, streams and datagrams in threads and processes of their own, from dist. */
import { execFile } from "node:child_process";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen } from "../demo/loopback.ts";

let server: Server;
let echo: Socket;
let port = 0;
beforeAll(async () => {
  for (const built of ["connect-sweep.js", "tcp-stream.js", "datagrams.js"]) {
    if (!existsSync(new URL(`../dist/native/${built}`, import.meta.url))) {
      throw new Error("dist is missing: run `npm run build` first");
    }
  }
  echo = createSocket("udp4", (datagram, from) => echo.send(datagram, from.port, from.address));
  server = createServer((socket) => {
    socket.on("error", () => {}).on("data", () => socket.write("answer"));
  });
  port = await listen(server);
  // The same number, so that every fixture is told one.
  echo.bind(port, "127.0.0.1");
  await once(echo, "listening");
});
afterAll(() => {
  server.close();
  echo.close();
});

describe.each([
  ["sweep", { connectMs: expect.any(Number), pending: 0 }, { code: "EMFILE", syscall: "socket" }],
  ["stream", { answer: "answer", open: 0 }, { code: "EMFILE", syscall: "socket", open: 0 }],
  ["datagrams", { answer: "question", open: 0 }, { code: "EMFILE", syscall: "socket", open: 0 }],
])("a native %s", (name, whenWell, whenHungry) => {
  const fixture = new URL(`./fixtures/${name}-in-thread.mjs`, import.meta.url);

  it("works in several threads at once, each of which ends by itself when nothing is under way", async () => {
    const workers = Array.from({ length: 3 }, () => new Worker(fixture, { workerData: { port } }));
    const said = await Promise.all(
      workers.map((worker) => Promise.all([once(worker, "message"), once(worker, "exit")])),
    );
    for (const [[message], [code]] of said) {
      expect(message).toEqual(whenWell);
      expect(code).toBe(0);
    }
  });

  it("lets its process end by itself", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(fixture), JSON.stringify({ port })]);
    expect(JSON.parse(stdout)).toEqual(whenWell);
  });

  it("says EMFILE when the process may open nothing more", async () => {
    const given = JSON.stringify({ port, hungry: true });
    const command = `ulimit -n 64; exec "$0" "$@"`;
    const words = ["-c", command, process.execPath, fileURLToPath(fixture), given];
    const { stdout } = await promisify(execFile)("sh", words);
    expect(JSON.parse(stdout)).toEqual(whenHungry);
  });
});

it("what a terminated thread had open is closed for it, and nothing else", async () => {
  const { OwnedDescriptors }: typeof import("../native/owned-descriptors.ts") = await import(
    new URL("../dist/native/owned-descriptors.js", import.meta.url).href
  );
  const { loadLibc }: typeof import("../native/libc.ts") = await import(
    new URL("../dist/native/libc.js", import.meta.url).href
  );
  const libc = loadLibc();
  if (libc === null) throw new Error("there is no native way here");
  const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  await expect.poll(connections).toBe(0);
  const owned = new OwnedDescriptors();
  const worker = new Worker(new URL("./fixtures/stream-in-thread.mjs", import.meta.url), {
    workerData: { port, memory: owned.memory },
  });
  expect(await once(worker, "message")).toEqual([{ open: 10 }]);
  await worker.terminate();
  await expect.poll(connections).toBe(10);
  expect(owned.closeAll(libc)).toBe(10);
  await expect.poll(connections).toBe(0);
  expect(owned.closeAll(libc)).toBe(0);
});

it("datagram sockets of a terminated thread are closed for it, and the one that keeps the kernel's clock on", async () => {
  const { OwnedDescriptors }: typeof import("../native/owned-descriptors.ts") = await import(
    new URL("../dist/native/owned-descriptors.js", import.meta.url).href
  );
  const { loadLibc }: typeof import("../native/libc.ts") = await import(
    new URL("../dist/native/libc.js", import.meta.url).href
  );
  const libc = loadLibc();
  if (libc === null) throw new Error("there is no native way here");
  const owned = new OwnedDescriptors();
  const worker = new Worker(new URL("./fixtures/datagrams-in-thread.mjs", import.meta.url), {
    workerData: { port, memory: owned.memory },
  });
  expect(await once(worker, "message")).toEqual([{ open: 10 }]);
  await worker.terminate();
  expect(owned.closeAll(libc)).toBe(11);
  expect(owned.closeAll(libc)).toBe(0);
});
