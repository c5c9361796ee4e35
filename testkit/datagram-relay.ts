/** A UDP path with faults: passes a client's datagrams to a server, and back, as often and as late as a test asks. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { Random } from "./random.ts";

export interface PathFaults {
  /** When a datagram is passed on, ms after it came, once for each entry: `[200]` delays, `[0, 200]` repeats late. Without it once, at once. */
  readonly passesAfterMs?: readonly number[];
  /** Up to so many ms more for each, by random: datagrams overtake each other. */
  readonly jitterMs?: number;
  /** Share of datagrams that are dropped, by random. */
  readonly lossShare?: number;
  /** The client's datagrams are sent back to it before they are passed on. */
  readonly isMirror?: boolean;
}

/** What a tunnel must come up through. */
export const FAULTY_PATHS = {
  "sends every datagram twice": { passesAfterMs: [0, 0] },
  "repeats every datagram 200 ms later": { passesAfterMs: [0, 200] },
  "delays every datagram by 200 ms": { passesAfterMs: [200] },
  "reorders datagrams": { jitterMs: 60 },
  "repeats and reorders datagrams": { passesAfterMs: [0, 30, 200], jitterMs: 60 },
  "drops a tenth of the datagrams": { lossShare: 0.1 },
  "sends our own datagrams back": { isMirror: true },
} as const satisfies Readonly<Record<string, PathFaults>>;

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

export interface RelayOptions {
  readonly server: Endpoint;
  readonly faults: PathFaults;
  /** Where clients send to: an address of loopback; by default 127.0.0.1 and any free port. */
  readonly listen?: Partial<Endpoint>;
  /** What is dropped and overtaken follows from it. By default one of which a tenth is dropped soon: each way within four datagrams. */
  readonly seed?: number;
}

export interface DatagramRelay extends Endpoint {
  /** Datagrams that came, of clients and of the server. */
  readonly relayed: number;
  /** Datagrams that are still on their way are lost. */
  close(): Promise<void>;
}

export async function openDatagramRelay(options: RelayOptions): Promise<DatagramRelay> {
  const relay = new Relay(options);
  await relay.open();
  return relay;
}

/** IPv4. Each client has a socket of its own towards the server, as behind address translation. */
class Relay implements DatagramRelay {
  readonly #options: RelayOptions;
  /** One for each direction, so that neither changes what the other loses. */
  readonly #toServer: Random;
  readonly #toClient: Random;
  readonly #listener = createSocket("udp4");
  readonly #upstreams = new Map<string, Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  relayed = 0;

  constructor(options: RelayOptions) {
    this.#options = options;
    const { seed = 5 } = options;
    this.#toServer = new Random(seed);
    this.#toClient = new Random(seed + 1);
  }

  get host(): string {
    return this.#listener.address().address;
  }

  get port(): number {
    return this.#listener.address().port;
  }

  async open(): Promise<void> {
    const { host = "127.0.0.1", port = 0 } = this.#options.listen ?? {};
    this.#listener.on("message", (datagram, client) => {
      const back = (bytes: Buffer): void => this.#listener.send(bytes, client.port, client.address);
      if (this.#options.faults.isMirror === true) back(datagram);
      const upstream = this.#upstreamOf(`${client.address}:${client.port}`, back);
      const { server } = this.#options;
      this.#pass(this.#toServer, () => upstream.send(datagram, server.port, server.host));
    });
    this.#listener.bind(port, host);
    await once(this.#listener, "listening");
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    const sockets = [this.#listener, ...this.#upstreams.values()];
    await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))));
  }

  #upstreamOf(client: string, back: (datagram: Buffer) => void): Socket {
    const known = this.#upstreams.get(client);
    if (known !== undefined) return known;
    const socket = createSocket("udp4");
    socket.on("message", (datagram) => this.#pass(this.#toClient, () => back(datagram)));
    this.#upstreams.set(client, socket);
    return socket;
  }

  #pass(random: Random, send: () => void): void {
    this.relayed++;
    const { passesAfterMs = [0], jitterMs = 0, lossShare = 0 } = this.#options.faults;
    if (share(random) < lossShare) return;
    for (const afterMs of passesAfterMs) {
      const inMs = afterMs + share(random) * jitterMs;
      if (inMs === 0) send();
      else this.#later(inMs, send);
    }
  }

  #later(inMs: number, send: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      send();
    }, inMs);
    this.#timers.add(timer);
  }
}

/** At least 0, less than 1. */
function share(random: Random): number {
  return random.next() / 2 ** 32;
}
