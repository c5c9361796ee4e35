/** The end of a connection whose check is over. */
import type { Socket } from "node:net";

/** How long the last bytes may take to be sent, ms; our choice. A peer that takes nothing must not keep the socket. */
const SENDING_MS = 1_000;

/** Sends the last bytes and closes, whether or not the peer does. From above, where TLS is under way. Its answer is not waited for. */
export function endSocket(socket: Socket, last = ""): void {
  if (socket.destroyed) return;
  const close = (): void => void socket.destroy();
  socket.setTimeout(SENDING_MS, close);
  socket.end(last, close);
}
