/** exchangeTcp() over native streams: less than three quarters of the cost of the same in exchange.ts, which uses Node's sockets. */
import type { OwnedDescriptors } from "../../native/owned-descriptors.ts";
import { openTcpStreams, type TcpStream, type TcpStreamListener, type TcpStreams } from "../../native/tcp-stream.ts";
import { whenAborted } from "../net/fault.ts";
import { ConnectRace, endpointOf, ourOwnWay } from "./connect-race.ts";
import { exchangeTcp as nodeExchangeTcp } from "./exchange.ts";
import { createNativeWay } from "./native-way.ts";
import type { Address, AnswerReader, DialContext, Transport } from "./transport.ts";

export interface Exchanger {
  readonly exchangeTcp: Transport["exchangeTcp"];
  /** Settles when it is known which of the two ways works here; the first exchange asks. */
  ready(): Promise<"native" | "node">;
  close(): void;
}

/** Native where that works on this machine; Node's own until it is known, and elsewhere. */
export function createExchanger(owned?: OwnedDescriptors): Exchanger {
  const way = createNativeWay(() => openTcpStreams(owned));
  return {
    ready: way.ready,
    exchangeTcp(addresses, port, request, reader, context) {
      const native = way.take();
      if (native === null) return nodeExchangeTcp(addresses, port, request, reader, context);
      return new Promise((resolve, reject) => {
        const exchange = new Exchange(request, reader, resolve, reject);
        whenAborted(context, (fault) => exchange.settle(fault));
        const [first] = addresses;
        if (first === undefined || addresses.length > 1) race(native, exchange, addresses, port, context);
        else exchange.dial(native, first, port, context);
      });
    },
    close: way.close,
  };
}

class Exchange implements TcpStreamListener {
  readonly #request: Uint8Array;
  readonly #reader: AnswerReader;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;
  #stream: TcpStream | null = null;
  /** Where it goes; null once that was said. */
  #address: Address | null = null;
  #isSettled = false;

  constructor(request: Uint8Array, reader: AnswerReader, resolve: () => void, reject: (error: unknown) => void) {
    this.#request = request;
    this.#reader = reader;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** The common case: one address, and no race. */
  dial(streams: TcpStreams, address: Address, port: number, context: DialContext): void {
    if (this.#isSettled) return;
    context.tried(endpointOf(address, port));
    this.#address = address;
    try {
      this.#stream = streams.open(address.ip, address.family, port, this);
    } catch (error) {
      this.#refused(error, address);
    }
  }

  /** The stream stands that won. */
  take(stream: TcpStream): void {
    this.#stream = stream;
    this.onConnected();
  }

  onConnected(): void {
    this.#address = null;
    try {
      this.#reader.connected();
      this.#stream?.send(this.#request);
    } catch (error) {
      this.settle(error);
    }
  }

  onBytes(bytes: Buffer): void {
    try {
      if (this.#reader.push(bytes)) this.settle(null);
    } catch (error) {
      this.settle(error);
    }
  }

  onEnd(): void {
    this.settle(this.#reader.end());
  }

  onFailed(error: Error): void {
    if (this.#address === null) this.settle(error);
    else this.#refused(error, this.#address);
  }

  /** @param error null when the answer is complete */
  settle(error: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#stream?.close();
    if (error === null) this.#resolve();
    else this.#reject(error);
  }

  #refused(error: unknown, address: Address): void {
    this.settle(error instanceof Error ? ourOwnWay(error, address) : error);
  }
}

function race(
  streams: TcpStreams,
  exchange: Exchange,
  addresses: readonly Address[],
  port: number,
  context: DialContext,
): void {
  new ConnectRace<TcpStream>({
    addresses,
    port,
    context,
    attempt(address, connected, failed) {
      let stands = false;
      const stream = streams.open(address.ip, address.family, port, {
        onConnected() {
          stands = true;
          connected(stream);
        },
        onBytes: (bytes) => exchange.onBytes(bytes),
        onEnd: () => exchange.onEnd(),
        onFailed: (error) => (stands ? exchange.onFailed(error) : failed(error)),
      });
      return stream;
    },
    resolve: (stream) => exchange.take(stream),
    reject: (error) => exchange.settle(error),
  }).start();
}
