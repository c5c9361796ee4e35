/** What stands around the lab's servers on loopback: verify endpoints, pages of others, ports that are silent, reset, swallow everything. */

import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createSecureServer as createHttp2, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { createServer as createHttps } from "node:https";
import { createServer as createTcp, type Server, type Socket } from "node:net";
import { bind, listen } from "../../demo/loopback.ts";
import { openBlackHole } from "../../engine/transport/peers.suite.ts";
import { type Material, NAME } from "./proxy-material.ts";

export interface ProxyFixtures {
  /** Answer the value of the query parameter `token`. */
  readonly verifyUrl: string;
  readonly verifyTlsUrl: string;
  /** A web page for every request, plain and in TLS. */
  readonly page: number;
  readonly pageTls: number;
  /** The same over HTTP/2 alone. */
  readonly pageH2: number;
  /** Accepts, and says nothing. */
  readonly silent: number;
  /** Resets what has been accepted, after the first bytes. */
  readonly resetting: number;
  /** Its queue of connections is full: the kernel drops what comes. */
  readonly blackHole: number;
  /** Takes datagrams and says nothing. */
  readonly silentUdp: number;
  /** Tells a time that is an hour ahead (SNTP, RFC 4330). */
  readonly timeAhead: number;
  readonly closed: number;
  /** Several ports that lead to one. */
  relayUdp(port: number): Promise<readonly number[]>;
  close(): Promise<void>;
}

/** tcpmux (RFC 1078): below all that the kernel gives out, so that none of the lab's servers gets it. */
const CLOSED_PORT = 1;

export async function openFixtures(material: Material): Promise<ProxyFixtures> {
  const closers: (() => unknown)[] = [];
  const sockets = new Set<Socket>();
  const open = async (server: Server): Promise<number> => {
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    });
    const port = await listen(server);
    closers.push(() => server.close());
    return port;
  };
  const { certificate, key } = material.certificate("good");
  const tls = { cert: certificate.join("\n"), key: key.join("\n") };
  const hole = await openBlackHole();
  closers.push(hole.close);
  const udp = createSocket("udp4");
  closers.push(() => udp.close());
  return {
    verifyUrl: `http://127.0.0.1:${await open(createHttp(answerToken))}/verify#token`,
    verifyTlsUrl: `https://127.0.0.1:${await open(createHttps(tls, answerToken))}/verify#token`,
    page: await open(createHttp(answerPage)),
    pageTls: await open(createHttps(tls, answerPage)),
    pageH2: await open(createHttp2({ ...tls, allowHTTP1: false }).on("request", answerPageH2)),
    silent: await open(createTcp()),
    resetting: await open(createTcp((socket) => socket.once("data", () => socket.resetAndDestroy()))),
    blackHole: hole.port,
    silentUdp: await bind(udp),
    timeAhead: await startTimeServer(closers),
    closed: CLOSED_PORT,
    relayUdp: (port) => relay(port, closers),
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(closers.map((close) => close()));
    },
  };
}

const answerToken: RequestListener = (request, response) => {
  const { searchParams } = new URL(request.url ?? "/", `http://${NAME}`);
  response.setHeader("content-type", "text/plain");
  response.end(searchParams.get("token") ?? "no token");
};

const answerPage: RequestListener = (_, response) => {
  response.setHeader("content-type", "text/html");
  response.end("<!doctype html><title>Welcome</title><p>It works.");
};

function answerPageH2(_: Http2ServerRequest, response: Http2ServerResponse): void {
  response.setHeader("content-type", "text/html");
  response.end("<!doctype html><title>Welcome</title><p>It works.");
}

const AHEAD_MS = 3_600_000;
/** From NTP's epoch of 1900 to Unix' (RFC 868), s. */
const NTP_EPOCH_S = 2_208_988_800;

async function startTimeServer(closers: (() => unknown)[]): Promise<number> {
  const socket = createSocket("udp4");
  socket.on("message", (question, { port, address }) => {
    const answer = Buffer.alloc(48);
    const nowMs = Date.now() + AHEAD_MS;
    // Version 4, a server of stratum 1 with a precision of a microsecond; its reference, what was asked, and twice now.
    answer.set([0x24, 1, 6, 0xec]);
    answer.write("LOCL", 12, "latin1");
    writeTimestamp(answer, 16, nowMs - 1_000);
    question.copy(answer, 24, 40, 48);
    writeTimestamp(answer, 32, nowMs);
    writeTimestamp(answer, 40, nowMs);
    socket.send(answer, port, address);
  });
  closers.push(() => socket.close());
  return bind(socket);
}

function writeTimestamp(to: Buffer, at: number, ms: number): void {
  to.writeUInt32BE(Math.floor(ms / 1_000) + NTP_EPOCH_S, at);
  to.writeUInt32BE(Math.floor((ms % 1_000) * (2 ** 32 / 1_000)), at + 4);
}

const RELAYS = 4;

/** What a firewall does for a server that hops: each of our ports stands for its one port. */
async function relay(target: number, closers: (() => unknown)[]): Promise<readonly number[]> {
  const ports: number[] = [];
  for (let each = 0; each < RELAYS; each++) {
    const outer = createSocket("udp4");
    const inner = new Map<number, UdpSocket>();
    outer.on("message", (message, from) => {
      let way = inner.get(from.port);
      if (way === undefined) {
        way = createSocket("udp4").on("message", (answer) => outer.send(answer, from.port, from.address));
        way.on("error", () => {});
        inner.set(from.port, way);
      }
      way.send(message, target, "127.0.0.1");
    });
    closers.push(() => {
      outer.close();
      for (const way of inner.values()) way.close();
    });
    ports.push(await bind(outer));
  }
  return ports;
}
