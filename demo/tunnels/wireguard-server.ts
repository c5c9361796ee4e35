/** A WireGuard or AmneziaWG server on a free port of loopback, for the demo and tests: real handshakes and a host behind it, with the faults a test asks for. */
import { createSocket } from "node:dgram";
import { TRANSPORT } from "../../engine/protocols/wireguard/message.ts";
import { bind } from "../loopback.ts";
import { echoHost, type Host } from "./host.ts";
import { list } from "./kept.ts";
import { Responder, type ResponderOptions } from "./wireguard-responder.ts";

export interface ServerOptions extends ResponderOptions {
  readonly host?: Host;
  /** Datagrams as they are on the wire to messages and back; by default they are the same. */
  readonly strip?: (datagram: Uint8Array) => Uint8Array | undefined;
  readonly dress?: (message: Uint8Array) => Uint8Array;
  /** Responses that are not sent, counted from the first. */
  readonly lostResponses?: number;
  /** Transport packets are dropped as long as this says so. */
  readonly isDeaf?: (handshakes: number) => boolean;
  readonly address?: string;
}

export interface WireguardServer {
  readonly port: number;
  readonly publicKey: Uint8Array;
  readonly received: readonly Uint8Array[];
  readonly handshakes: number;
  close(): Promise<void>;
}

export async function openWireguardServer(options: ServerOptions): Promise<WireguardServer> {
  const responder = new Responder(options);
  const address = options.address ?? "127.0.0.1";
  const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
  const received: Uint8Array[] = [];
  let handshakes = 0;
  socket.on("message", (datagram, from) => {
    list(received, datagram);
    const message = options.strip === undefined ? datagram : options.strip(datagram);
    if (message === undefined) return;
    const reply = replyTo(message);
    if (reply !== undefined) socket.send(options.dress?.(reply) ?? reply, from.port, from.address);
  });

  function replyTo(message: Uint8Array): Uint8Array | undefined {
    const answer = responder.answer(message);
    if (answer !== undefined) {
      handshakes++;
      return handshakes <= (options.lostResponses ?? 0) ? undefined : answer;
    }
    if (message.length < TRANSPORT.leastBytes || options.isDeaf?.(handshakes) === true) return undefined;
    const packet = responder.open(message);
    const back = packet === undefined ? undefined : (options.host ?? echoHost)(packet);
    return back === undefined ? undefined : responder.seal(message, back);
  }

  const port = await bind(socket, address);
  return {
    port,
    publicKey: responder.publicKey,
    received,
    get handshakes() {
      return handshakes;
    },
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
