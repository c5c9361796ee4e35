import { connect, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { createLocalLines, lineOver, type OpenLine } from "./line.ts";

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function openPeer(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => onSocket(socket.on("error", () => {})));
  const port = await listen(server);
  closers.push(() => server.close());
  return port;
}

/** What a line tells, until it says that it is over. */
function hear(open: OpenLine, sayFirst: readonly string[] = []): Promise<readonly string[]> {
  const told: string[] = [];
  return new Promise((resolve) => {
    const line = open({
      onConnected() {
        told.push("connected");
        for (const words of sayFirst) line.send(Buffer.from(words));
      },
      onBytes: (bytes) => void told.push(bytes.toString()),
      onEnd() {
        line.close();
        resolve([...told, "end"]);
      },
      onFailed: (error) => resolve([...told, `failed ${"code" in error ? error.code : error.message}`]),
    });
    told.push("opened");
  });
}

/** By both ways: native is there once it was wanted. */
async function ways(port: number): Promise<readonly OpenLine[]> {
  const lines = createLocalLines();
  closers.push(() => lines.close());
  const [first, later] = [lines.to("127.0.0.1", port), lines.to("127.0.0.1", port)];
  return [first, later, (listener) => lineOver(connect(port, "127.0.0.1"))(listener)];
}

describe("a line", () => {
  it("says what is said, hears what comes, and that the other end has ended", async () => {
    const port = await openPeer((socket) => socket.on("data", (bytes) => socket.end(`heard ${bytes}`)));
    for (const open of await ways(port)) {
      expect(await hear(open, ["hello"])).toEqual(["opened", "connected", "heard hello", "end"]);
    }
  });

  it("fails where no process listens, and says so after it was opened", async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    for (const open of await ways(port)) expect(await hear(open)).toEqual(["opened", "failed ECONNREFUSED"]);
  });

  it("tells the error of a reset", async () => {
    const port = await openPeer((socket) => socket.on("data", () => socket.resetAndDestroy()));
    for (const open of await ways(port)) {
      expect(await hear(open, ["hello"])).toEqual(["opened", "connected", "failed ECONNRESET"]);
    }
  });

  it("sends more than the other end takes at once, whole and in order", async () => {
    const pieces = Array.from({ length: 40 }, (_, index) => String.fromCharCode(97 + (index % 26)).repeat(200_000));
    const port = await openPeer((socket) => {
      let bytes = 0;
      const said: string[] = [];
      socket.pause();
      setImmediate(() => socket.resume());
      socket.on("data", (chunk) => {
        bytes += chunk.length;
        said.push(chunk.toString("latin1"));
        if (bytes >= 8_000_000) socket.end(String(said.join("") === pieces.join("")));
      });
    });
    for (const open of await ways(port)) {
      expect(await hear(open, pieces)).toEqual(["opened", "connected", "true", "end"]);
    }
  });
});
