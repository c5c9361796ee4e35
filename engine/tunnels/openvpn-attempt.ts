/** One try to bring OpenVPN up at one address of one server: reset, TLS, key method 2, the server's options. */
import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type { ProbeContext } from "../contract/probe.ts";
import { NetworkFault, whenAborted } from "../net/fault.ts";
import { ControlChannel } from "../protocols/openvpn/control-channel.ts";
import {
  type ControlText,
  ControlTextError,
  ControlTextReader,
  EXIT,
  PUSH_REQUEST,
  type Pushed,
  readPushed,
} from "../protocols/openvpn/control-text.ts";
import { DataChannel, dataCipherOf } from "../protocols/openvpn/data-channel.ts";
import {
  type ClientSecrets,
  decodeKeyMethod,
  deriveKeyBlock,
  encodeKeyMethod,
  KeyMethodError,
  PRE_MASTER_BYTES,
  peerInfo,
  RANDOM_BYTES,
  type ServerHello,
} from "../protocols/openvpn/key-method.ts";
import { isData, opcodeOf, SESSION_ID_BYTES } from "../protocols/openvpn/packet.ts";
import { createProtection } from "../protocols/openvpn/protection.ts";
import { filtered } from "../protocols/openvpn/pull-filter.ts";
import type { SessionSettings } from "../protocols/openvpn/settings.ts";
import { KEY_BLOCK_BYTES, keyBlockOf } from "../protocols/openvpn/static-key.ts";
import { subjectText } from "../protocols/openvpn/subject.ts";
import { refusalOf } from "../protocols/openvpn/verify.ts";
import { SentDatagrams } from "../protocols/sent-datagrams.ts";
import { openTlsWithin, type TlsWithin } from "../transport/tls-within.ts";
import type { OpenvpnContext } from "./openvpn-context.ts";
import { faultOfEnd, faultOfSilence, faultOfText, faultOfTls, type Stage, untrusted } from "./openvpn-faults.ts";
import type { Link, LinkListener } from "./openvpn-link.ts";
import { peerCertificateOf } from "./peer-certificates.ts";

/** How long a server has for its first answer, ms. */
const FIRST_ANSWER_MS = 5_000;
/** How long a server may leave our certificate, or what we said inside TLS, unacknowledged before it is taken for a refusal, ms. */
const REFUSED_AFTER_MS = 4_000;
/** How long a server may be silent once TLS began, ms: one that has none of our versions is. */
const TLS_ANSWER_MS = 8_000;
/** Longer than TLS takes to answer by itself, so that most acknowledgements ride on something, ms. */
const ACK_DELAY_MS = 5;
const ACKS_AT_ONCE = 4;
/** Between requests for the options, ms (stock clients: 5 s). */
const PUSH_REQUEST_MS = 2_000;
/** How long the farewell has to be taken, ms. */
const GOODBYE_MS = 100;
/** Data packets that are remembered, to know them when they come back: a check sends some dozens. */
const SENT_LIMIT = 64;
const EXPORTER = "EXPORTER-OpenVPN-datakeys";

export interface AttemptOptions {
  readonly settings: SessionSettings;
  readonly proto: "udp" | "tcp";
  readonly login: { readonly username: string; readonly password: string } | null;
  readonly tls: OpenvpnContext;
  readonly hasCertificate: boolean;
  /** Opens the way; called once. */
  readonly connect: (listener: LinkListener) => Promise<Link>;
  /** How long it may wait for the first answer, and in all, ms. */
  readonly firstAnswerMs: number;
  readonly withinMs: number;
}

export interface Established {
  readonly pushed: Pushed;
  readonly addresses: readonly string[];
  readonly handshakeMs: number;
}

export class OpenvpnAttempt {
  readonly #options: AttemptOptions;
  readonly #context: ProbeContext;
  readonly #channel: ControlChannel;
  readonly #secrets: ClientSecrets;
  readonly #texts = new ControlTextReader();
  #link: Link | null = null;
  #tls: TlsWithin | null = null;
  #socket: TLSSocket | null = null;
  #stage: Stage = "reset";
  #hello: ServerHello | null = null;
  #heard: Buffer = Buffer.alloc(0);
  #pushed: Pushed | null = null;
  #data: DataChannel | null = null;
  #settle: ((result: Established | Error) => void) | null = null;
  #resend: () => void = () => {};
  #flush: (() => void) | null = null;
  #timers: (() => void)[] = [];
  #startedAtMs = 0;
  #handshakeAtMs = 0;
  #isProof = false;
  #isClosed = false;
  #onPacket: ((packet: Uint8Array, atMs: number) => void) | null = null;
  #onProgress: () => void = () => {};
  readonly #sent = new SentDatagrams(SENT_LIMIT);
  /** Packets of the server that are not under our keys, or not framed as the profile says. */
  strayPackets = 0;

  constructor(options: AttemptOptions, context: ProbeContext) {
    this.#options = options;
    this.#context = context;
    const random = (sizeBytes: number): Buffer => Buffer.from(context.randomBytes(sizeBytes));
    this.#channel = new ControlChannel({
      protection: createProtection(options.settings.protection),
      sessionId: random(SESSION_ID_BYTES),
      isStream: options.proto === "tcp",
    });
    this.#secrets = {
      preMaster: random(PRE_MASTER_BYTES),
      random1: random(RANDOM_BYTES),
      random2: random(RANDOM_BYTES),
    };
  }

  /** Whether the server has said anything. */
  get hasAnswered(): boolean {
    return this.#stage !== "reset";
  }

  /** When the first packet went out, or the connection was begun. */
  get startedAtMs(): number {
    return this.#startedAtMs;
  }

  async open(): Promise<Established> {
    this.#startedAtMs = this.#context.now();
    const { firstAnswerMs, withinMs } = this.#options;
    const waitMs = Math.max(1, Math.min(FIRST_ANSWER_MS, firstAnswerMs));
    const link = await this.#connect(waitMs);
    this.#link = link;
    this.#handshakeAtMs = this.#context.now();
    return new Promise((resolve, reject) => {
      this.#settle = (result) => {
        this.#settle = null;
        this.#cancelTimers();
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
      whenAborted(this.#context, (fault) => this.#fail(fault));
      this.#timers.push(
        this.#context.transport.after(waitMs, () => this.#failIn(["reset"], waitMs)),
        this.#context.transport.after(Math.max(1, withinMs), () => this.#fail(this.#silence(withinMs))),
      );
      this.#channel.open();
      this.#pump();
    });
  }

  /** Bounded, so that time is left for the next server; a connection that opens later is closed. */
  #connect(waitMs: number): Promise<Link> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const cancel = this.#context.transport.after(waitMs, () => {
        isLate = true;
        const seconds = Math.round(waitMs / 100) / 10;
        reject(new NetworkFault("timeout", `No connection in ${seconds} s`, { peerAnswered: false }));
      });
      const listener: LinkListener = {
        received: (packet, atMs) => this.#receive(packet, atMs),
        failed: (error) => this.#fail(this.#ended(error)),
      };
      this.#options
        .connect(listener)
        .then((link) => {
          if (isLate) link.close();
          else resolve(link);
        }, reject)
        .finally(cancel);
    });
  }

  /** Instead of open(): whether the server answers a first packet, and nothing more. */
  async isAnswered(): Promise<boolean> {
    this.#isProof = true;
    try {
      await this.open();
    } catch {
      // What it was says nothing more than whether there was an answer.
    }
    return this.hasAnswered;
  }

  send(ipPacket: Uint8Array): void {
    if (this.#data === null) return;
    const packet = this.#data.seal(ipPacket);
    this.#sent.add(packet);
    this.#link?.send(packet);
  }

  onPacket(listener: (packet: Uint8Array, atMs: number) => void): void {
    this.#onPacket = listener;
  }

  /** A server that gets no exit notification keeps the address that it assigned until its own timeout. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#onPacket = null;
    if (this.#data !== null && !this.#context.signal.aborted) await this.#sayGoodbye(this.#data);
    this.#isClosed = true;
    this.#settle = null;
    this.#cancelTimers();
    this.#tls?.close();
    this.#link?.close();
  }

  async #sayGoodbye(data: DataChannel): Promise<void> {
    if (this.#pushed?.takesExit !== true) {
      if (this.#options.proto === "udp") this.#link?.send(data.sealExit());
      return;
    }
    await new Promise<void>((resolve) => {
      const cancel = this.#context.transport.after(GOODBYE_MS, resolve);
      this.#onProgress = () => {
        if (!this.#channel.isAcknowledged) return;
        cancel();
        resolve();
      };
      whenAborted(this.#context, () => resolve());
      this.#tls?.write(EXIT);
    });
  }

  /** @returns whether it is of this session: data is, once there are keys */
  #receive(packet: Buffer, atMs: number): boolean {
    if (this.#isClosed) return false;
    if (isData(opcodeOf(packet))) {
      this.#receiveData(packet, atMs);
      return this.#data !== null;
    }
    const heard = this.#channel.receive(packet);
    if (heard.kind === "nothing") return false;
    this.#context.answered();
    if (heard.kind === "reset" && this.#stage === "reset") {
      this.#enter("hello");
      if (this.#isProof) this.#fail(new Error("answered"));
      else this.#guarded(() => this.#startTls());
    }
    if (heard.kind === "bytes" && heard.bytes.length > 0) {
      if (this.#stage === "hello") this.#enter("certificates");
      this.#tls?.receive(heard.bytes);
    }
    this.#pump();
    this.#onProgress();
    return true;
  }

  #receiveData(packet: Buffer, atMs: number): void {
    const opened = this.#data?.open(packet);
    if (opened === undefined) return;
    if (opened.kind === "packet") this.#onPacket?.(opened.packet, atMs);
    else if (opened.kind !== "in-band" && opened.kind !== "replayed" && !this.#sent.recognise(packet)) {
      this.strayPackets++;
    }
  }

  #startTls(): void {
    this.#tls = openTlsWithin(
      { secureContext: this.#options.tls.ready() },
      {
        send: (records) => {
          if (!this.#channel.write(records)) this.#fail(new NetworkFault("protocol-error", "The server takes nothing"));
          this.#pump();
        },
        secured: (socket) => this.#guarded(() => this.#secured(socket)),
        received: (bytes) => this.#guarded(() => this.#read(bytes)),
        failed: (error) => this.#fail(faultOfTls(error, this.#stage)),
      },
    );
  }

  #secured(socket: TLSSocket): void {
    this.#socket = socket;
    const refusal = this.#refusalOf(socket);
    if (refusal !== null) throw refusal;
    this.#enter("keys");
    const { settings, login, proto } = this.#options;
    this.#tls?.write(
      encodeKeyMethod(this.#secrets, {
        options: settings.occ(proto),
        username: login?.username ?? "",
        password: login?.password ?? "",
        peerInfo: peerInfo(settings.ciphers),
      }),
    );
  }

  #refusalOf(socket: TLSSocket): NetworkFault | null {
    const { rules, tls } = this.#options.settings;
    const certificate = peerCertificateOf(socket);
    if (certificate === undefined)
      return new NetworkFault("cert-invalid", "The server has no certificate", { peerAnswered: true });
    const isJudgedByChain = rules.fingerprints.length === 0 || tls.ca !== null;
    // Node's types say Error; what it sets is the error's code (lib/_tls_wrap.js, onConnectSecure).
    if (isJudgedByChain && !socket.authorized) return untrusted(String(socket.authorizationError), certificate);
    const words = refusalOf({ certificate: certificate, issuer: () => issuerOf(socket) }, rules);
    return words === null
      ? null
      : new NetworkFault("cert-invalid", words, { peerAnswered: true, peer: subjectText(certificate.raw).toString() });
  }

  #read(bytes: Buffer): void {
    let rest = bytes;
    if (this.#hello === null) {
      this.#heard = Buffer.concat([this.#heard, bytes]);
      const hello = decodeKeyMethod(this.#heard);
      if (hello === undefined) return;
      this.#hello = hello;
      rest = this.#heard.subarray(hello.sizeBytes);
      this.#enter("options");
      this.#askForOptions();
    }
    for (const text of this.#texts.push(rest)) this.#hear(text);
  }

  /** Servers that push by themselves take it for a repetition. */
  #askForOptions(): void {
    if (this.#stage !== "options") return;
    this.#tls?.write(PUSH_REQUEST);
    this.#timers.push(this.#context.transport.after(PUSH_REQUEST_MS, () => this.#askForOptions()));
  }

  #hear(text: ControlText): void {
    if (this.#settle === null) return;
    if (text.kind === "push-reply") {
      this.#establish(readPushed(this.#taken(text.options)));
    } else if (text.kind !== "other") {
      throw faultOfText(text, {
        secrets: [this.#options.login?.password ?? ""],
        hasCipherAlone: this.#options.settings.hasCipherAlone,
      });
    }
  }

  #taken(options: readonly string[]): readonly string[] {
    const { taken, rejectedBy } = filtered(options, this.#options.settings.pullFilters);
    if (rejectedBy === null) return taken;
    throw new NetworkFault(
      "misconfigured",
      `The server pushes an option that the profile refuses: pull-filter reject in line ${rejectedBy}`,
      { peerAnswered: true },
    );
  }

  #establish(pushed: Pushed): void {
    const { settings } = this.#options;
    const name = pushed.cipher ?? settings.fallbackCipher;
    const cipher = dataCipherOf(name);
    if (cipher === undefined) {
      const words =
        pushed.cipher === null ? "The server chooses no cipher, and the profile's" : "The server chose a cipher that";
      throw new NetworkFault("misconfigured", `${words} (${name.slice(0, 32)}) is not supported`, {
        peerAnswered: true,
      });
    }
    const addresses = pushed.addresses.length > 0 ? pushed.addresses : settings.addresses;
    if (addresses.length === 0) {
      throw new NetworkFault(
        "misconfigured",
        "The server gave this client no address in the tunnel (no ifconfig was pushed)",
        { peerAnswered: true },
      );
    }
    this.#pushed = pushed;
    this.#data = new DataChannel({
      keys: keyBlockOf(this.#keyBlock(pushed)),
      cipher,
      isEpoch: pushed.isEpoch && cipher.kind === "aead",
      digest: settings.digest,
      peerId: pushed.peerId,
      compression: pushed.compression ?? settings.compression,
      hasFragments: settings.hasFragments,
      randomBytes: this.#context.randomBytes,
    });
    this.#stage = "up";
    const handshakeMs = this.#context.now() - this.#handshakeAtMs;
    this.#settle?.({ pushed, addresses, handshakeMs });
    this.#pump();
  }

  #keyBlock({ isKeyExported, isEpoch }: Pushed): Buffer {
    const server = this.#channel.remoteSessionId;
    if ((isKeyExported || isEpoch) && this.#socket !== null) {
      // Without a context: an empty one is another key in TLS 1.2 (Node's types want one).
      const exporter: { exportKeyingMaterial(length: number, label: string): Buffer } = this.#socket as never;
      return exporter.exportKeyingMaterial(KEY_BLOCK_BYTES, EXPORTER);
    }
    if (this.#hello === null || server === null)
      throw new NetworkFault("protocol-error", "The server sent options before its keys");
    return deriveKeyBlock(this.#secrets, this.#hello, { client: this.#channel.sessionId, server });
  }

  #enter(stage: Stage): void {
    this.#stage = stage;
    if (stage === "hello") {
      this.#timers.push(this.#context.transport.after(TLS_ANSWER_MS, () => this.#failIn([stage], TLS_ANSWER_MS)));
    }
    if (stage !== "certificates" && stage !== "keys") return;
    this.#timers.push(
      this.#context.transport.after(REFUSED_AFTER_MS, () => {
        if (!this.#channel.isAcknowledged) this.#failIn([stage], REFUSED_AFTER_MS);
      }),
    );
  }

  #failIn(stages: readonly Stage[], afterMs: number): void {
    if (stages.includes(this.#stage)) this.#fail(this.#silence(afterMs));
  }

  #silence(afterMs: number): NetworkFault {
    const { settings, hasCertificate, login } = this.#options;
    return faultOfSilence(this.#stage, {
      afterMs,
      isTaken: this.#channel.isAcknowledged,
      protection: settings.protection.kind,
      hasCertificate,
      hasLogin: login !== null,
    });
  }

  #ended(error: Error): Error {
    const { proto, settings } = this.#options;
    return proto === "udp" ? error : faultOfEnd(error, this.#stage, settings.protection.kind);
  }

  /** What a listener throws would end the process. */
  #guarded(step: () => void): void {
    try {
      step();
    } catch (error) {
      const isTheirs = error instanceof KeyMethodError || error instanceof ControlTextError;
      if (isTheirs) {
        this.#fail(new NetworkFault("protocol-error", `The server's messages cannot be read: ${error.message}`));
      } else this.#fail(error instanceof Error ? error : new Error("the handshake failed"));
    }
  }

  #fail(error: Error): void {
    this.#settle?.(error);
  }

  /** Sends what is due, and sees to what will be. */
  #pump(): void {
    if (this.#isClosed) return;
    const { transport, now, wallNowMs } = this.#context;
    this.#sendAll(this.#channel.due(now(), wallNowMs()));
    if (this.#channel.waitingAcks >= ACKS_AT_ONCE) this.#sendAll(this.#channel.acknowledgements(wallNowMs()));
    else if (this.#channel.waitingAcks > 0 && this.#flush === null) {
      this.#flush = transport.after(ACK_DELAY_MS, () => {
        this.#flush = null;
        this.#sendAll(this.#channel.acknowledgements(wallNowMs()));
      });
    }
    this.#resend();
    const dueMs = this.#channel.nextDueMs(now());
    this.#resend = dueMs === null ? () => {} : transport.after(dueMs, () => this.#pump());
  }

  #sendAll(packets: readonly Buffer[]): void {
    for (const packet of packets) this.#link?.send(packet);
  }

  #cancelTimers(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers = [];
    if (!this.#isClosed) return;
    this.#resend();
    this.#flush?.();
  }
}

/** Also one that the server has not sent. Dear: the chain becomes objects, half a millisecond each. */
function issuerOf(socket: TLSSocket): X509Certificate | null {
  const issuer = socket.getPeerCertificate(true).issuerCertificate?.raw;
  return issuer === undefined ? null : new X509Certificate(issuer);
}
