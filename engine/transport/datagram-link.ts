/** Datagrams to and from one peer for as long as a tunnel lives: a connected socket of its own, so only its peer is heard and its ICMP errors too. */
import { openSocket } from "./datagram.ts";
import { NetworkFault, whenAborted } from "./fault.ts";
import { endpointOf } from "./stream.ts";
import type { Address, DatagramLink, DatagramListener, DialContext } from "./transport.ts";

/** Open at once in one prober: below a process's usual limit of descriptors; a check that would open more is ours to answer for. */
const LINK_LIMIT = 12_000;
/** A tunnel that is being tried sees a few dozen datagrams; beyond this the peer is drowning us. */
const RECEIVED_LIMIT = 10_000;

let openLinks = 0;

export function openDatagrams(
  address: Address,
  port: number,
  listener: DatagramListener,
  context: DialContext,
): DatagramLink {
  context.tried(endpointOf(address, port));
  if (openLinks >= LINK_LIMIT) throw new NetworkFault("unfit", "This checker has too many UDP sockets open");
  const socket = openSocket(address);
  openLinks++;
  let isOpen = true;
  let isConnected = false;
  let waiting: Uint8Array[] = [];
  let received = 0;

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    openLinks--;
    waiting = [];
    socket.close();
  }
  function fail(error: Error): void {
    if (!isOpen) return;
    close();
    listener.failed(error);
  }
  function sendNow(datagram: Uint8Array): void {
    socket.send(datagram, (error) => {
      if (error !== null) fail(error);
    });
  }

  // Stays: an error without a listener ends the process.
  socket.on("error", fail);
  socket.on("message", (datagram) => {
    if (!isOpen) return;
    const atMs = performance.now();
    if (++received > RECEIVED_LIMIT) fail(new NetworkFault("protocol-error", "The server floods this checker"));
    else listener.received(datagram, atMs);
  });
  whenAborted(context, close);
  if (isOpen) {
    socket.connect(port, address.ip, (error?: Error) => {
      if (!isOpen) return;
      if (error !== undefined && error !== null) return fail(error);
      isConnected = true;
      for (const datagram of waiting) sendNow(datagram);
      waiting = [];
    });
  }
  return {
    send(datagram) {
      if (!isOpen) return;
      if (isConnected) sendNow(datagram);
      else waiting.push(datagram);
    },
    localIp: () => (isOpen && isConnected ? socket.address().address : null),
    close,
  };
}

/** After a stall Node runs timers before it reads sockets, so what had arrived is read first. */
export function after(delayMs: number, callback: () => void): () => void {
  let isWanted = true;
  const timer = setTimeout(() => {
    setImmediate(() => {
      if (!isWanted) return;
      isWanted = false;
      callback();
    });
  }, delayMs);
  return () => {
    isWanted = false;
    clearTimeout(timer);
  };
}
