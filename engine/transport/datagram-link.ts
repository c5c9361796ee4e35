/** Datagrams to and from one peer while a tunnel lives: a separate connected socket, so it receives only this peer's datagrams and ICMP errors. */
import type { DatagramSocket, DatagramSocketListener } from "../../native/datagrams.ts";
import { NetworkFault, whenAborted } from "../net/fault.ts";
import { endpointOf, ourOwnWay } from "./connect-race.ts";
import { openSocket } from "./datagram.ts";
import type { Address, DatagramLink, DatagramListener, DialContext, Transport } from "./transport.ts";

/** Open at once in one prober: below a process's usual limit of descriptors; a check that would open more is ours to answer for. */
const LINK_LIMIT = 12_000;
/** A tunnel that is being tried sees a few dozen datagrams; beyond this the peer is drowning us. */
const RECEIVED_LIMIT = 10_000;

/** Opens the socket of a link. @throws the error that the listener would get, when the machine refuses at once */
export type SocketOpener = (address: Address, port: number, listener: DatagramSocketListener) => DatagramSocket;

let openLinks = 0;

/** Bounds and the check's end are the same whatever the socket is. */
export function openLink(
  open: SocketOpener,
  address: Address,
  port: number,
  listener: DatagramListener,
  context: DialContext,
): DatagramLink {
  context.tried(endpointOf(address, port));
  if (openLinks >= LINK_LIMIT) throw new NetworkFault("unfit", "This checker has too many UDP sockets open");
  return new Link(open, address, port, listener, context);
}

export const openDatagrams: Transport["openDatagrams"] = (...options) => openLink(openNodeSocket, ...options);

class Link implements DatagramLink, DatagramSocketListener {
  readonly #listener: DatagramListener;
  readonly #address: Address;
  #socket: DatagramSocket | null = null;
  #isOpen = true;
  #received = 0;

  constructor(open: SocketOpener, address: Address, port: number, listener: DatagramListener, context: DialContext) {
    this.#listener = listener;
    this.#address = address;
    openLinks++;
    whenAborted(context, () => this.close());
    if (!this.#isOpen) return;
    try {
      this.#socket = open(address, port, this);
    } catch (error) {
      // Reported later, like errors of the network: now the caller does not have the link yet.
      queueMicrotask(() => this.onFailed(error instanceof Error ? error : new Error(String(error))));
    }
  }

  send(datagram: Uint8Array): void {
    this.#socket?.send(datagram);
  }

  localIp(): string | null {
    return this.#socket?.localIp() ?? null;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    openLinks--;
    this.#socket?.close();
    this.#socket = null;
  }

  onDatagram(bytes: Uint8Array, ageMs: number): void {
    if (!this.#isOpen) return;
    if (++this.#received > RECEIVED_LIMIT) {
      this.onFailed(new NetworkFault("protocol-error", "The server floods this checker"));
      return;
    }
    this.#listener.received(new Uint8Array(bytes), performance.now() - ageMs);
  }

  onFailed(error: Error): void {
    if (!this.#isOpen) return;
    this.close();
    this.#listener.failed(ourOwnWay(error, this.#address));
  }
}

/** Node's own, where there is no native way. */
export function openNodeSocket(address: Address, port: number, listener: DatagramSocketListener): DatagramSocket {
  const socket = openSocket(address);
  let isOpen = true;
  let isConnected = false;
  let waiting: Uint8Array[] = [];

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    waiting = [];
    socket.close();
  }
  function fail(error: Error): void {
    if (!isOpen) return;
    close();
    listener.onFailed(error);
  }
  function sendNow(datagram: Uint8Array): void {
    socket.send(datagram, (error) => {
      if (error !== null) fail(error);
    });
  }

  // Stays: an error without a listener ends the process.
  socket.on("error", fail);
  socket.on("message", (datagram) => {
    if (isOpen) listener.onDatagram(datagram, 0);
  });
  socket.connect(port, address.ip, (error?: Error) => {
    if (!isOpen) return;
    if (error !== undefined && error !== null) return fail(error);
    isConnected = true;
    for (const datagram of waiting) sendNow(datagram);
    waiting = [];
  });
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
