/** One question and one answer over UDP, on a separate connected socket with a random port, so it receives only from its peer. */
import { createSocket, type Socket } from "node:dgram";
import { type Abortable, DeadlinePassed, NetworkFault, whenAborted } from "../net/fault.ts";
import type { Address, UdpOptions } from "./transport.ts";

export interface ExchangeOptions extends UdpOptions {
  /** The check it ends with. */
  readonly context?: Abortable;
  /** Ends it as a time-out whatever is still to be sent. */
  readonly giveUpAfterMs?: number;
}

/** Number of datagrams that do not answer ours, after which the exchange fails: bounds our work. */
const STRAY_LIMIT = 256;

/** @param accept returns undefined for a datagram that does not answer ours; waiting goes on */
export function exchangeDatagram<Reply>(
  address: Address,
  port: number,
  datagram: Uint8Array,
  accept: (datagram: Uint8Array) => Reply | undefined,
  options: ExchangeOptions,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(address);
    const timers: NodeJS.Timeout[] = [];
    let strays = 0;
    let isOpen = true;

    function close(): boolean {
      if (!isOpen) return false;
      isOpen = false;
      for (const timer of timers) clearTimeout(timer);
      socket.close();
      return true;
    }
    function fail(error: unknown): void {
      if (close()) reject(error);
    }
    function send(): void {
      socket.send(datagram, (error) => {
        if (error !== null) fail(error);
      });
    }
    function resend(): void {
      if (options.isWanted?.() === false) fail(new DeadlinePassed());
      else send();
    }

    socket.on("error", fail);
    socket.on("message", (received) => {
      try {
        const reply = accept(received);
        if (reply !== undefined) {
          if (close()) resolve(reply);
        } else if (++strays >= STRAY_LIMIT)
          fail(new NetworkFault("protocol-error", "The server answers something else"));
      } catch (error) {
        fail(error);
      }
    });
    if (options.context !== undefined) whenAborted(options.context, fail);
    if (!isOpen) return;
    // No route, no permission: reported here; a socket that is not connected throws at the next send.
    socket.connect(port, address.ip, (error?: Error) => {
      if (!isOpen) return;
      if (error !== undefined && error !== null) return fail(error);
      send();
      for (const afterMs of options.resendAfterMs ?? []) timers.push(setTimeout(resend, afterMs));
      if (options.giveUpAfterMs !== undefined) {
        timers.push(setTimeout(() => fail(new DeadlinePassed()), options.giveUpAfterMs));
      }
    });
  });
}

/**
 * A socket for one address's family. By default dgram resolves even literals through getaddrinfo: first the local address that it
 * binds to (0.0.0.0 or ::), then the one that it connects to.
 */
export function openSocket(address: Address): Socket {
  return createSocket({
    type: address.family === 4 ? "udp4" : "udp6",
    lookup: (host, _options, callback) => callback(null, host, address.family),
  });
}
