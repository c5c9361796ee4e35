/** Servers on a free port of loopback, for the demo and tests. */
import type { Socket } from "node:dgram";
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

export const LOOPBACK = "127.0.0.1";

/** @param port 0: one that the kernel chooses @returns the port */
export async function listen(server: Server, host: string = LOOPBACK, port = 0): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** @returns the port that the kernel chose */
export async function bind(socket: Socket, host: string = LOOPBACK): Promise<number> {
  socket.bind(0, host);
  await once(socket, "listening");
  return socket.address().port;
}
