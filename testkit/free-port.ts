/** Ports for servers that are started by their number. */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";

/**
 * Below what the kernel gives to connections and to port 0 (ip_local_port_range begins at 32,768): one of those could be taken between our look
 * and the server's bind, by any connection of the tests beside this one.
 */
export const FIRST_FREE_PORT = 18_000;
const END = 32_768;

const taken = new Set<number>();

/** Free for TCP and UDP on loopback, and not given before by this process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_FREE_PORT, END);
    if (taken.has(port)) continue;
    taken.add(port);
    if ((await isFreeTcp(port)) && (await isFreeUdp(port))) return port;
  }
}

function isFreeTcp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

function isFreeUdp(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    socket.once("error", () => socket.close(() => resolve(false)));
    socket.bind(port, "127.0.0.1", () => socket.close(() => resolve(true)));
  });
}
