/** What tests of transport and probes dial: listeners with any behaviour on free ports of loopback, and a check's context. */
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { bind, listen } from "../../demo/loopback.ts";
import type { Phase } from "../../model/result.ts";
import type { EngineOptions } from "../contract/options.ts";
import type { ProbeContext } from "../contract/probe.ts";
import { DeadlinePassed } from "../net/fault.ts";
import { createTransport } from "./index.ts";
import type { Transport } from "./transport.ts";

export interface Peer {
  readonly port: number;
  close(): Promise<void>;
}

/** A transport that reaches IPv4 loopback and asks a resolver that does not answer, but for what the test changes. */
export function loopbackTransport(changes: Partial<EngineOptions> = {}): Transport {
  return createTransport({
    allowNets: ["127.0.0.0/8"],
    ownEndpoints: [],
    resolvers: ["127.0.0.1:1"],
    extraCaPem: null,
    rdapBootstrapUrl: null,
    canaries: null,
    ...changes,
  });
}

/** A TCP listener; the connections are the test's to answer. */
export async function openTcpPeer(
  onConnection: (socket: Socket) => void = () => {},
  host?: string,
  port?: number,
): Promise<Peer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  return {
    port: await listen(server, host, port),
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A port on which no process listens. */
export async function closedPort(host = "127.0.0.1"): Promise<number> {
  const peer = await openTcpPeer(undefined, host);
  await peer.close();
  return peer.port;
}

/** Sends every datagram back to where it came from, as echo (RFC 862) does. */
export async function openMirror(): Promise<Peer> {
  const socket = createSocket("udp4");
  socket.on("message", (datagram, from) => socket.send(datagram, from.port, from.address));
  return { port: await bind(socket), close: () => new Promise((resolve) => socket.close(() => resolve())) };
}

/** Its thread sleeps and never accepts, and its queue is full, so the kernel drops further attempts: connecting hangs. */
export async function openBlackHole(host = "127.0.0.1"): Promise<Peer> {
  const code = `
    const { parentPort } = require("node:worker_threads");
    const server = require("node:net").createServer().listen({ port: 0, host: ${JSON.stringify(host)}, backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
    });`;
  const worker = new Worker(code, { eval: true });
  const [port]: number[] = await once(worker, "message");
  if (port === undefined) throw new Error("the black hole did not open");
  const fillers: Socket[] = [];
  // The first attempts still find room in the queue; full is when one has not connected while another round trip was possible.
  for (let waiting = 0; waiting < 3; ) {
    const socket = connect(port, host);
    socket.on("error", () => {});
    fillers.push(socket);
    const outcome = await Promise.race([once(socket, "connect").then(() => "in"), loopbackRoundTrips()]);
    if (outcome !== "in") waiting++;
  }
  return {
    port,
    async close() {
      for (const socket of fillers) socket.destroy();
      await worker.terminate();
    },
  };
}

/** Lasts as long as several connections over loopback: what has not connected by then is not going to. */
async function loopbackRoundTrips(): Promise<string> {
  const peer = await openTcpPeer();
  for (let turn = 0; turn < 10; turn++) {
    const socket = connect(peer.port, "127.0.0.1");
    await once(socket, "connect");
    socket.destroy();
  }
  await peer.close();
  return "out";
}

export interface CheckRig {
  readonly context: ProbeContext;
  readonly phases: Phase[];
  readonly tried: string[];
  readonly answers: number;
  expire(reason?: Error): void;
}

/** A check's context that writes down what it is told. */
export function makeCheck(transport: Transport, withinMs = 10_000): CheckRig {
  const controller = new AbortController();
  const phases: Phase[] = [];
  const tried: string[] = [];
  let answers = 0;
  return {
    phases,
    tried,
    get answers() {
      return answers;
    },
    expire: (reason = new DeadlinePassed()) => controller.abort(reason),
    context: {
      transport,
      signal: controller.signal,
      deadlineAtMs: Date.now() + withinMs,
      phase: (name) => phases.push(name),
      tried: (address) => tried.push(address),
      answered: () => {
        answers++;
      },
      now: () => performance.now(),
      wallNowMs: () => Date.now(),
      randomBytes: (sizeBytes) => new Uint8Array(randomBytes(sizeBytes)),
      workspace: 0,
    },
  };
}
