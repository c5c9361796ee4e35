/** Connections that are slow on purpose: in what they send, in what they read, in going away. Others are answered beside them. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { MOST_HELD_BYTES } from "../../api/held-bytes.ts";
import type { HttpServer, ListenOptions } from "../../api/http.ts";

const CROWD = 300;
/** More than the kernel keeps for a connection, so that an answer which the client does not read stays with the server. */
const LONG = new Uint8Array(8 * 2 ** 20).fill(120);
/** What is silent for 10 s ends. */
const PATIENCE_MS = 40_000;
/** No body ends for its slowness in such a case, ms. */
const SLOW_BODIES = 60_000;

/** @param listen one of the two servers */
export function slowSuite(listen: (options: ListenOptions) => Promise<HttpServer>): void {
  describe("slow connections", () => {
    /** @param work gets the port, and what it opens: that ends with it, as the server does */
    async function beside(
      work: (port: number, crowd: Socket[]) => Promise<void>,
      bodyTimeoutMs = 1_000,
    ): Promise<void> {
      const crowd: Socket[] = [];
      const server = await listen({
        host: "127.0.0.1",
        port: 0,
        bodyTimeoutMs,
        answerTimeoutMs: 1_000,
        stallTimeoutMs: 1_000,
        lingerMs: 0,
        drainTimeoutMs: 1_000,
        handle: ({ path }) => ({ status: 200, headers: [], body: path === "/long" ? LONG : "short" }),
      });
      try {
        await work(server.port, crowd);
      } finally {
        for (const socket of crowd) socket.destroy();
        await server.close();
      }
    }

    it.each([
      ["say nothing", () => ""],
      ["send half a head", () => "GET /short HTTP/1.1\r\nHost: a\r\n"],
      ["send half a body", () => "POST /short HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{"],
      ["send half a chunk", () => "POST /short HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe"],
      ["send garbage and stay", () => "GARBAGE\r\n\r\n"],
      ["are refused and stay", () => "GET /short HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
      ["ask and never read", () => "GET /long HTTP/1.1\r\nHost: a\r\n\r\n"],
      ["ask for the last time and never read", () => "GET /long HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
      ["end their side while they never read", () => "GET /long HTTP/1.1\r\nHost: a\r\n\r\n"],
    ])(
      `ends ${CROWD} that %s, and answers others meanwhile`,
      (what, bytes) =>
        beside(async (port, crowd) => {
          for (let made = 0; made < CROWD; made++) {
            const socket = await open(port, what.includes("never read"));
            crowd.push(socket);
            if (what.startsWith("end their side")) socket.end(bytes());
            else socket.write(bytes());
          }
          expect(await answered(port)).toMatch(/^HTTP\/1\.1 200 .*short$/s);
          await nothingHeld(port);
          expect(await answered(port)).toMatch(/^HTTP\/1\.1 200 .*short$/s);
        }),
      PATIENCE_MS,
    );

    it(
      "holds one answer for a connection that asks on and never reads",
      () =>
        beside(async (port, crowd) => {
          const before = process.memoryUsage.rss();
          const socket = await open(port, true);
          crowd.push(socket);
          // 200 answers of 8 MiB, asked for in one piece.
          socket.write("GET /long HTTP/1.1\r\nHost: a\r\n\r\n".repeat(200));
          expect(await answered(port)).toMatch(/^HTTP\/1\.1 200 .*short$/s);
          expect(process.memoryUsage.rss() - before).toBeLessThan(256 * 2 ** 20);
          await nothingHeld(port);
        }),
      PATIENCE_MS,
    );

    it(
      "holds no more than a bound of bodies that are not whole: those that have stalled longest end",
      () =>
        beside(async (port, crowd) => {
          const [head, body] = [
            "POST /short HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n",
            LONG.subarray(0, 1_048_575),
          ];
          const ended = new Set<Socket>();
          for (let made = 0; made < CROWD; made++) {
            const socket = await open(port, false);
            crowd.push(socket);
            for (const event of ["end", "close"]) socket.once(event, () => ended.add(socket));
            socket.on("error", () => {});
            await new Promise<void>((settle) => {
              socket.write(head);
              socket.write(body, () => settle());
            });
          }
          await until(() => ended.size >= CROWD - (MOST_HELD_BYTES / 1_048_576 + 1));
          expect(await answered(port)).toMatch(/^HTTP\/1\.1 200 .*short$/s);
          // The latest is still under way, and is answered once it is whole.
          const latest = crowd.at(-1) as Socket;
          expect(ended.has(latest)).toBe(false);
          const answer = new Promise<string>((settle) =>
            latest.once("data", (chunk) => settle(chunk.toString("latin1"))),
          );
          latest.write("x");
          expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
        }, SLOW_BODIES),
      PATIENCE_MS,
    );

    it(
      "gives a slow reader all of a long answer while it goes on",
      () =>
        beside(async (port, crowd) => {
          const socket = await open(port, false);
          crowd.push(socket);
          let size = 0;
          const whole = new Promise<void>((settle) => {
            socket.on("data", (chunk: Buffer) => {
              size += chunk.length;
              socket.pause();
              setImmediate(() => socket.resume());
              if (size > LONG.length) settle();
            });
          });
          socket.write("GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
          await whole;
          expect(size).toBeGreaterThan(LONG.length);
        }),
      PATIENCE_MS,
    );
  });
}

/** @param isSilent whether it never reads */
function open(port: number, isSilent: boolean): Promise<Socket> {
  return new Promise((settle, fail) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () => {
      if (isSilent) socket.pause();
      else socket.on("data", () => {});
      settle(socket);
    });
    socket.once("error", fail);
  });
}

/** Once this process holds no connection of that port any more on the server's side; what the kernel still has after that is its own. */
async function nothingHeld(port: number): Promise<void> {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const held = (): number =>
    readFileSync("/proc/self/net/tcp", "latin1")
      .split("\n")
      .filter((line) => line.includes(local))
      .map((line) => line.trim().split(/ +/))
      // Columns of proc(5): local address, remote address, state (0A: listening), …, the socket's inode, 0 when no process has it.
      .filter(([, address, , state, , , , , , inode]) => address === local && state !== "0A" && inode !== "0").length;
  while (held() > 0) await new Promise((settle) => setTimeout(settle, 50));
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((settle) => setTimeout(settle, 20));
}

function answered(port: number): Promise<string> {
  return new Promise((settle, fail) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () =>
      socket.write("GET /short HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
    );
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", fail);
    socket.on("close", () => settle(text));
  });
}
