/** A check's context and local servers for tests of what speaks HTTP: names of the test's own, everything on loopback. */
import type { Socket } from "node:net";
import { NetworkFault } from "../engine/net/fault.ts";
import { createTransport } from "../engine/transport/index.ts";
import { type CheckRig, makeCheck, openTcpPeer, type Peer } from "../engine/transport/peers.suite.ts";
import type { Resolver } from "../engine/transport/resolver.ts";
import type { Transport } from "../engine/transport/transport.ts";

/** Longer than any test of a website may take, ms. */
const WITHIN_MS = 60_000;

export interface Rig extends CheckRig {
  /** What was resolved, each with its port. */
  readonly hosts: string[];
}

/** Names below `.rig` are on loopback, `private.rig` is not; everything else does not exist. */
export function rigTransport(extraCaPem: string | null = null): Transport {
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
  const hosts: string[] = [];
  const watched: Transport = {
    ...transport,
    resolve: (host, port, preference, context) => {
      hosts.push(`${host}:${port}`);
      return transport.resolve(host, port, preference, context);
    },
  };
  return Object.assign(makeCheck(watched, WITHIN_MS), { hosts });
}

export interface RawServer extends Peer {
  /** Connections taken so far. */
  readonly connections: () => number;
}

/** A TCP server whose connections the test answers byte by byte. */
export async function rawServer(answer: (socket: Socket, request: string) => void): Promise<RawServer> {
  let taken = 0;
  const peer = await openTcpPeer((socket) => {
    taken++;
    let request = "";
    socket.on("data", (bytes) => {
      const before = request.includes("\r\n\r\n");
      request += bytes.toString("latin1");
      if (!before && request.includes("\r\n\r\n")) answer(socket, request);
    });
  });
  return { ...peer, connections: () => taken };
}
