/** A check's context and local servers for tests of what speaks HTTP: names of the test's own, everything on loopback. */
import { randomBytes } from "node:crypto";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { ProbeContext } from "../engine/contract/probe.ts";
import { DeadlinePassed, NetworkFault } from "../engine/net/fault.ts";
import { createTransport } from "../engine/transport/index.ts";
import type { Resolver } from "../engine/transport/resolver.ts";
import type { Transport } from "../engine/transport/transport.ts";
import type { Phase } from "../model/result.ts";

export interface Rig {
  readonly context: ProbeContext;
  readonly phases: Phase[];
  readonly hosts: string[];
  peerAnswered: boolean;
  expire(): void;
}

/** Names below `.rig` are on loopback, `private.rig` is not; everything else does not exist. */
export function loopbackTransport(extraCaPem: string | null = null): Transport {
  const options = { allowNets: ["127.0.0.0/8", "::1/128"], ownEndpoints: [], resolvers: [], extraCaPem };
  const resolver: Resolver = {
    lookup(name, _isAbsolute, family) {
      const ip = name === "private.rig" ? "10.0.0.1" : "127.0.0.1";
      return family === 4 && name.endsWith(".rig")
        ? { addresses: [{ ip, family }], fault: null }
        : { addresses: [], fault: new NetworkFault("unresolved", `The name ${name} does not exist`) };
    },
  };
  return createTransport({ ...options, rdapBootstrapUrl: null, canaries: null }, { resolver });
}

export function makeRig(transport: Transport): Rig {
  const controller = new AbortController();
  const hosts: string[] = [];
  const phases: Phase[] = [];
  const rig: Rig = {
    hosts,
    phases,
    peerAnswered: false,
    expire: () => controller.abort(new DeadlinePassed()),
    context: {
      transport: {
        ...transport,
        resolve: (host, port, preference, context) => {
          hosts.push(`${host}:${port}`);
          return transport.resolve(host, port, preference, context);
        },
      },
      workspace: 0,
      signal: controller.signal,
      deadlineAtMs: Date.now() + 60_000,
      phase: (name) => void phases.push(name),
      tried: () => {},
      answered: () => {
        rig.peerAnswered = true;
      },
      now: () => performance.now(),
      wallNowMs: () => Date.now(),
      randomBytes: (sizeBytes) => randomBytes(sizeBytes),
    },
  };
  return rig;
}

export interface RawServer {
  readonly port: number;
  /** Connections taken so far. */
  readonly connections: () => number;
  close(): Promise<void>;
}

/** A TCP server whose connections the test answers byte by byte. */
export async function rawServer(answer: (socket: Socket, request: string) => void): Promise<RawServer> {
  let taken = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    taken++;
    open.add(socket);
    let request = "";
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
    socket.on("data", (bytes) => {
      const before = request.includes("\r\n\r\n");
      request += bytes.toString("latin1");
      if (!before && request.includes("\r\n\r\n")) answer(socket, request);
    });
  });
  const port = await listen(server);
  return {
    port,
    connections: () => taken,
    close: () => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

/** Any server on a free port of loopback. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve());
  });
  return (server.address() as AddressInfo).port;
}
