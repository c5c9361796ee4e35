/** Servers on loopback with certificates of one authority, for tests of probes that speak TLS. Importing it closes them after each test. */
import type { Socket } from "node:net";
import { afterEach, expect } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { loopbackTransport, openTcpPeer, type Peer } from "../transport/peers.suite.ts";

export const authority = makeAuthority();
export const valid = makeCertificate({ commonName: "localhost", names: ["localhost"], issuer: authority });
/** Trusts the authority. */
export const transport = loopbackTransport({
  allowNets: ["127.0.0.0/8", "::1"],
  resolvers: [],
  extraCaPem: authority.certPem,
});

const peers: Peer[] = [];
/** The servers' ends of connections that are not closed. */
const open = new Set<Socket>();
afterEach(async () => {
  // The servers keep every connection open, so the check has closed them.
  await expect.poll(() => open.size).toBe(0);
  for (const peer of peers.splice(0)) await peer.close();
});

/** @returns its port */
export async function serveTcp(serve: (socket: Socket) => void = (socket) => void socket.resume()): Promise<number> {
  const peer = await openTcpPeer((socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    serve(socket);
  });
  peers.push(peer);
  return peer.port;
}
