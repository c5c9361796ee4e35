import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { rigTransport } from "../../test/web-rig.ts";
import { openTcpPeer } from "../transport/peers.suite.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";

const LIMIT_BYTES = 1024 * 1024;
const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** @returns the address of a server that sends this to each request and closes */
async function serve(...pieces: readonly (string | Buffer)[]): Promise<string> {
  const peer = await openTcpPeer((socket) => {
    socket.once("data", () => {
      for (const piece of pieces) socket.write(piece);
      socket.end();
    });
  });
  closers.push(peer.close);
  return `http://127.0.0.1:${peer.port}/`;
}

function guarded() {
  const made = createGuardedFetch(rigTransport(), { bodyBytes: LIMIT_BYTES, connectTimeoutMs: 5_000 });
  closers.push(() => made.close());
  return made;
}

describe("fetch through the guarded transport", () => {
  it.each([17_108, 65_536, 82_857, 200_000])("reads %i packed bytes that the server closes behind", async (size) => {
    const body = randomBytes(size);
    const packed = gzipSync(body);
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\nConnection: close\r\n\r\n`;
    const url = await serve(head, packed);
    for (let turn = 0; turn < 20; turn++) {
      const response = await guarded().fetch(url);
      expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true);
    }
  });

  it.each([
    ["as it is sent", "", Buffer.alloc(2 * LIMIT_BYTES)],
    ["as it is decoded", "Content-Encoding: gzip\r\n", gzipSync(Buffer.alloc(2 * LIMIT_BYTES))],
  ])("refuses an answer that is too large %s", async (_way, coding, body) => {
    const url = await serve(`HTTP/1.1 200 OK\r\n${coding}Connection: close\r\n\r\n`, body);
    await expect(guarded().fetch(url)).rejects.toThrow();
  });

  it.each(["Content-Encoding: gzip, gzip", "Content-Encoding: gzip\r\nContent-Encoding: gzip"])(
    "refuses an answer in two codings: %s",
    async (codings) => {
      const url = await serve(`HTTP/1.1 200 OK\r\n${codings}\r\nConnection: close\r\n\r\n`, gzipSync(gzipSync("{}")));
      await expect(guarded().fetch(url)).rejects.toMatchObject({
        cause: { message: "The answer is packed more than once" },
      });
    },
  );
});
