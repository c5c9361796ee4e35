/** Targets on loopback that a test can turn: what they answer, whether they listen, and how often they were asked. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
  createServer as createHttp,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from "node:net";
import dnsPacket from "dns-packet";
import type { MadeCertificate } from "../demo/certificates.ts";
import { bind, LOOPBACK } from "../demo/loopback.ts";

export interface Listener {
  readonly port: number;
  /** Refuses connections from now on, and drops the open ones. */
  close(): Promise<void>;
  /** Listens again on the same port. */
  reopen(): Promise<void>;
}

export interface Website extends Listener {
  readonly url: string;
  /** Requests taken so far, of one path or of all. */
  requests(path?: string): number;
  /** Status and body of the next answers; `null` takes the request and says nothing. */
  answer(status: number | null, body?: string): void;
}

/** Answers after a delay, so that latencies have something to show. */
export async function startWebsite(
  options: { readonly certificate?: MadeCertificate; readonly delayMs?: number } = {},
): Promise<Website> {
  const { certificate, delayMs = 0 } = options;
  const counts = new Map<string, number>();
  let status: number | null = 200;
  let page = "all is well";
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? "/";
    counts.set(path, (counts.get(path) ?? 0) + 1);
    if (status === null) return;
    const [code, body] = [status, page];
    setTimeout(() => response.writeHead(code, { "content-type": "text/plain" }).end(body), delayMs);
  };
  const server: HttpServer =
    certificate === undefined
      ? createHttp(handle)
      : createHttps({ cert: certificate.certPem, key: certificate.keyPem }, handle);
  const listener = await openListener(server);
  return {
    ...listener,
    url: `${certificate === undefined ? "http" : "https"}://${LOOPBACK}:${listener.port}/`,
    requests: (path) =>
      path === undefined ? [...counts.values()].reduce((a, b) => a + b, 0) : (counts.get(path) ?? 0),
    answer(nextStatus, body = "all is well") {
      status = nextStatus;
      page = body;
    },
  };
}

export interface TcpTarget extends Listener {
  connections(): number;
}

/** Takes connections; what happens then is the test's, by default a greeting and the end. */
export async function startTcp(
  onSocket = (socket: Socket): unknown => socket.end("220 ready\r\n"),
): Promise<TcpTarget> {
  let taken = 0;
  const server = createTcp((socket) => {
    taken += 1;
    socket.on("error", () => {});
    onSocket(socket);
  });
  return { ...(await openListener(server)), connections: () => taken };
}

export interface DnsTarget {
  readonly port: number;
  /** What is asked for A from now on; null for silence. */
  answer(address: string | null): void;
  questions(): number;
  close(): void;
}

export async function startDns(first: string | null): Promise<DnsTarget> {
  let address = first;
  let asked = 0;
  const socket = createSocket("udp4");
  socket.on("message", (datagram, from) => {
    asked += 1;
    const { id = 0, questions = [] } = dnsPacket.decode(datagram);
    const [question] = questions;
    if (address === null || question === undefined) return;
    const answers = question.type === "A" ? [{ type: "A" as const, name: question.name, ttl: 0, data: address }] : [];
    const reply = { type: "response" as const, id, flags: dnsPacket.AUTHORITATIVE_ANSWER, questions, answers };
    socket.send(dnsPacket.encode(reply), from.port, from.address);
  });
  const port = await bind(socket);
  return {
    port,
    answer: (next) => {
      address = next;
    },
    questions: () => asked,
    close: () => socket.close(),
  };
}

async function openListener(server: Server): Promise<Listener> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const open = async (port: number): Promise<number> => {
    server.listen({ port, host: LOOPBACK, backlog: 4_096 });
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const port = await open(0);
  return {
    port,
    async close() {
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    reopen: async () => void (await open(port)),
  };
}
