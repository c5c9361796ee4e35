/** An OpenVPN server on a free port of loopback, for the demo and tests: real TLS and keys and a host behind it, with the words and faults a test asks for. */
import { createSocket } from "node:dgram";
import { createServer, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { createSecureContext, type SecureContextOptions, TLSSocket } from "node:tls";
import { DataChannel, dataCipherOf, digestOf } from "../../engine/protocols/openvpn/data-channel.ts";
import { deriveKeyBlock, PRE_MASTER_BYTES, RANDOM_BYTES } from "../../engine/protocols/openvpn/key-method.ts";
import {
  decodeControl,
  encodeControlBody,
  encodeControlHeader,
  encodeFrame,
  FrameReader,
  isData,
  OPCODE,
  opcodeOf,
} from "../../engine/protocols/openvpn/packet.ts";
import { createProtection, type Protection, type ProtectionKeys } from "../../engine/protocols/openvpn/protection.ts";
import { keyBlockOf } from "../../engine/protocols/openvpn/static-key.ts";
import { bind, listen } from "../loopback.ts";
import { echoHost, type Host } from "./host.ts";
import { admit, list } from "./kept.ts";

export interface ServerOptions {
  readonly proto?: "udp" | "tcp";
  readonly tls: SecureContextOptions;
  readonly protection?: () => ProtectionKeys;
  readonly cipher?: string;
  /** Options that are pushed; the cipher is added. */
  readonly push?: readonly string[];
  /** Said instead of the options. */
  readonly says?: string;
  /** Packets, counted from the first, that are lost on their way. @param session the number of the port that it came from */
  readonly loses?: (count: number, session: number) => boolean;
  /** Instead of losing them in silence, it goes on with what it had there before. */
  readonly isBabbling?: boolean;
  /** Everything is sent twice, and the last of a few at once comes first. */
  readonly isMessy?: boolean;
  /** Every packet of the client comes back beside its answer. */
  readonly isMirrored?: boolean;
  /** Messages of a client from this number on are not there for it: 1 is what TLS begins with, 2 the client's certificate. */
  readonly ignoresFrom?: number;
  readonly host?: Host;
  /** Clients are asked for a certificate, and the name in it is heard. */
  readonly asksForCertificate?: boolean;
  /** Its data goes out under other keys. */
  readonly hasOtherKeys?: boolean;
}

export interface OpenvpnServer {
  readonly port: number;
  /** What clients said inside TLS behind their keys, and in band. */
  readonly heard: readonly string[];
  readonly sessions: number;
  close(): Promise<void>;
}

const RECORD_BYTES = 900;

export async function openOpenvpnServer(options: ServerOptions): Promise<OpenvpnServer> {
  const heard: string[] = [];
  let sessions = 0;
  let received = 0;
  const begin = (send: (packet: Buffer) => void): Session => {
    const number = sessions++;
    return new Session(options, { send, heard, loses: () => options.loses?.(received++, number) === true });
  };
  const common = {
    heard,
    get sessions() {
      return sessions;
    },
  };
  if (options.proto === "tcp") {
    const open = new Set<Socket>();
    const server = createServer((socket) => {
      open.add(socket);
      const reader = new FrameReader();
      const session = begin((packet) => socket.write(encodeFrame(packet)));
      socket.on("error", () => {});
      socket.on("data", (piece) => {
        for (const packet of reader.push(piece)) if (!session.receive(packet)) socket.destroy();
      });
      socket.on("close", () => session.close());
    });
    const port = await listen(server);
    return Object.assign(common, {
      port,
      close: () => {
        for (const socket of open) socket.destroy();
        return new Promise<void>((resolve) => server.close(() => resolve()));
      },
    });
  }
  const socket = createSocket("udp4");
  const clients = new Map<number, Session>();
  socket.on("message", (packet, from) => {
    let session = clients.get(from.port);
    if (session === undefined) {
      session = begin((reply) => socket.send(reply, from.port, from.address));
      admit(clients, from.port, session)?.close();
    }
    session.receive(packet);
  });
  const port = await bind(socket);
  return Object.assign(common, {
    port,
    close: () => {
      for (const session of clients.values()) session.close();
      return new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  });
}

interface SessionEnds {
  readonly send: (packet: Buffer) => void;
  readonly heard: string[];
  /** Whether the packet that has come is to be lost. */
  readonly loses: () => boolean;
}

class Session {
  readonly #options: ServerOptions;
  readonly #ends: SessionEnds;
  readonly #protection: Protection;
  readonly #ownId = Buffer.alloc(8, 0x5e);
  #clientId: Buffer = Buffer.alloc(8);
  #nextId = 0;
  #expected = 0;
  readonly #held = new Map<number, Buffer>();
  readonly #random1 = Buffer.alloc(RANDOM_BYTES, 1);
  readonly #random2 = Buffer.alloc(RANDOM_BYTES, 2);
  #carrier: Duplex | null = null;
  #tls: TLSSocket | null = null;
  #hello: Buffer = Buffer.alloc(0);
  #data: DataChannel | null = null;
  #waiting: Buffer[] = [];

  constructor(options: ServerOptions, ends: SessionEnds) {
    this.#options = options;
    this.#ends = ends;
    this.#protection = createProtection(options.protection?.() ?? { kind: "none" });
  }

  /** @returns false for a packet that is not under its keys */
  receive(packet: Buffer): boolean {
    if (this.#options.isMirrored === true) this.#ends.send(packet);
    if (this.#ends.loses()) {
      if (this.#options.isBabbling === true) this.#babble();
      return true;
    }
    if (isData(opcodeOf(packet))) {
      this.#receiveData(packet);
      return true;
    }
    const opened = this.#protection.open(packet);
    const control = opened === undefined ? undefined : decodeControl(opened.header, opened.body);
    if (control === undefined) return false;
    if (control.opcode === OPCODE.clientReset) {
      this.#clientId = Buffer.from(control.sessionId);
      if (this.#carrier === null) this.#startTls();
    }
    const { ignoresFrom = Number.POSITIVE_INFINITY } = this.#options;
    if (control.messageId === null || control.messageId >= ignoresFrom) return true;
    this.#take(control.messageId, control.payload);
    this.#control(
      control.opcode === OPCODE.clientReset ? OPCODE.serverReset : OPCODE.ack,
      Buffer.alloc(0),
      control.messageId,
    );
    return true;
  }

  close(): void {
    this.#tls?.destroy();
  }

  /** Data, and a message of the control channel, of a session that is not the client's. */
  #babble(): void {
    this.#ends.send(Buffer.concat([Buffer.of(OPCODE.dataV2 << 3), Buffer.alloc(60, 7)]));
    this.#control(OPCODE.control, Buffer.from("of before"), 1);
  }

  #startTls(): void {
    const carrier = new Duplex({
      read() {},
      write: (records: Buffer, _encoding, done) => {
        for (let at = 0; at < records.length; at += RECORD_BYTES) {
          this.#control(OPCODE.control, records.subarray(at, at + RECORD_BYTES), null);
        }
        done();
      },
    });
    carrier.on("error", () => {});
    const tls = new TLSSocket(carrier, {
      isServer: true,
      secureContext: createSecureContext(this.#options.tls),
      ...(this.#options.asksForCertificate === true && { requestCert: true, rejectUnauthorized: false }),
    });
    tls.on("secure", () => {
      const name = tls.getPeerCertificate().subject?.CN;
      if (typeof name === "string") list(this.#ends.heard, `certificate of ${name}`);
    });
    tls.on("error", () => {});
    tls.on("data", (bytes: Buffer) => this.#hear(bytes));
    this.#carrier = carrier;
    this.#tls = tls;
  }

  #take(id: number, payload: Buffer): void {
    if (id >= this.#expected) this.#held.set(id, Buffer.from(payload));
    for (let next = this.#held.get(this.#expected); next !== undefined; next = this.#held.get(this.#expected)) {
      this.#held.delete(this.#expected++);
      if (next.length > 0) this.#carrier?.push(next);
    }
  }

  #hear(bytes: Buffer): void {
    if (this.#hello.length > 0) {
      list(this.#ends.heard, ...bytes.toString().split("\0").filter(Boolean));
      return;
    }
    this.#hello = Buffer.from(bytes);
    list(
      this.#ends.heard,
      ...bytes
        .subarray(5 + PRE_MASTER_BYTES + 2 * RANDOM_BYTES)
        .toString("latin1")
        .split("\0"),
    );
    const options = Buffer.from("V4,dev-type tun\0");
    const head = Buffer.from([0, 0, 0, 0, 2]);
    this.#tls?.write(Buffer.concat([head, this.#random1, this.#random2, Buffer.of(0, options.length), options]));
    const { says, push = PUSH, cipher = "AES-256-GCM" } = this.#options;
    const reply = ["PUSH_REPLY", ...push, `cipher ${cipher}`];
    this.#tls?.write(`${says ?? reply.join(",")}\0`);
    if (says === undefined) this.#data = this.#channel(push, cipher);
  }

  #channel(push: readonly string[], cipher: string): DataChannel {
    const flags = push.find((option) => option.startsWith("protocol-flags")) ?? "";
    const exporter: { exportKeyingMaterial(length: number, label: string): Buffer } = this.#tls as never;
    const [one, two] = keyBlockOf(
      flags.includes("tls-ekm") ? exporter.exportKeyingMaterial(256, "EXPORTER-OpenVPN-datakeys") : this.#derived(),
    );
    const known = dataCipherOf(cipher);
    const digest = digestOf("SHA1");
    if (known === undefined || digest === undefined) throw new Error("unknown cipher");
    return new DataChannel({
      keys: this.#options.hasOtherKeys === true ? [one, two] : [two, one],
      cipher: known,
      isEpoch: flags.includes("aead-epoch"),
      digest,
      peerId: push.includes("peer-id 0") ? 0 : null,
      compression: "none",
      hasFragments: false,
      randomBytes: (size) => Buffer.alloc(size, 5),
    });
  }

  #derived(): Buffer {
    const secrets = this.#hello.subarray(5);
    const random1At = PRE_MASTER_BYTES;
    return deriveKeyBlock(
      {
        preMaster: secrets.subarray(0, random1At),
        random1: secrets.subarray(random1At, random1At + RANDOM_BYTES),
        random2: secrets.subarray(random1At + RANDOM_BYTES, random1At + 2 * RANDOM_BYTES),
      },
      { random1: this.#random1, random2: this.#random2 },
      { client: this.#clientId, server: this.#ownId },
    );
  }

  #receiveData(packet: Buffer): void {
    if (this.#options.hasOtherKeys === true) {
      if (this.#data !== null) this.#ends.send(this.#data.seal(Buffer.alloc(60, 0x45)));
      return;
    }
    const opened = this.#data?.open(packet);
    if (opened?.kind === "in-band") list(this.#ends.heard, "in-band");
    if (opened?.kind !== "packet") return;
    const answer = (this.#options.host ?? echoHost)(opened.packet);
    if (answer !== undefined && this.#data !== null) this.#ends.send(this.#data.seal(answer));
  }

  #control(opcode: number, payload: Buffer, acknowledged: number | null): void {
    const body = encodeControlBody({
      acks: acknowledged === null ? [] : [acknowledged],
      remoteSessionId: this.#clientId,
      messageId: opcode === OPCODE.ack ? null : opcode === OPCODE.serverReset ? 0 : ++this.#nextId,
      payload,
    });
    const packet = this.#protection.seal(encodeControlHeader(opcode, this.#ownId), body, 0);
    if (this.#options.isMessy !== true) {
      this.#ends.send(packet);
      return;
    }
    if (this.#waiting.push(packet, packet) > 2) return;
    setImmediate(() => {
      for (const each of this.#waiting.splice(0).reverse()) this.#ends.send(each);
    });
  }
}

const PUSH = ["ifconfig 10.8.0.2 255.255.255.0", "peer-id 0", "protocol-flags cc-exit tls-ekm"];
