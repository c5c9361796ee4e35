/**
 * One address of an IKEv2 gateway, over datagram links: the first message goes to port 500, and also to 4500 when 500 does not answer or refuses;
 * everything after it, and ESP, to 4500. Two connected sockets, because only those receive ICMP errors; a gateway takes the second
 * one's port for a NAT.
 */
import type { SecureContext } from "node:tls";
import type { ProbeContext } from "../contract/probe.ts";
import { NetworkFault, whenAborted } from "../net/fault.ts";
import type { RsaPadding } from "../protocols/ikev2/auth.ts";
import { IDENTITY, type Identity } from "../protocols/ikev2/bodies.ts";
import type { Child } from "../protocols/ikev2/child.ts";
import type { Request } from "../protocols/ikev2/ike-sa.ts";
import {
  type Answer,
  goesOnAsking,
  Initiator,
  type InitiatorSettings,
  type Talk,
  type TlsTurn,
} from "../protocols/ikev2/initiator.ts";
import { addressBytes } from "../protocols/inner/packet.ts";
import type { Address, DatagramLink } from "../transport/transport.ts";
import { EapTlsSession } from "./eap-tls-session.ts";

export const IKE_PORT = 500;
export const NAT_PORT = 4_500;

/** How long a gateway has for its first answer, ms. */
const FIRST_ANSWER_MS = 5_000;
/** And for each one behind it: strongSwan takes 2 s to refuse a password. */
const ANSWER_MS = 8_000;
/** When a request is sent again, ms after the first time. */
const RETRIES_AFTER_MS = [700, 1_800, 4_000] as const;
/** How long port 500 may be silent before 4500 is tried beside it, ms. */
const NAT_PORT_AFTER_MS = 1_000;
/** How long a farewell waits for its answer, and is sent again, ms. */
const GOODBYE_MS = 250;
const GOODBYE_AGAIN_MS = 100;
/** RFC 3948 section 2.2: what IKE begins with on port 4500, where ESP has its SPI. */
const NON_ESP_MARKER = Buffer.alloc(4);
export interface Ikev2Endpoint {
  readonly settings: Omit<InitiatorSettings, "identity" | "remote">;
  /** Of a login by EAP-TLS. */
  readonly tls: SecureContext | null;
  /** Ours; null: the address that we send from. */
  readonly identity: Identity | null;
  /** The gateway's, judged by the guard; tried in their order. */
  readonly servers: readonly Address[];
  /** 500, with 4500 beside it; any other port takes everything. */
  readonly port: number;
  /** How long the tunnel may take to come up, ms. */
  readonly withinMs: number;
  /** The gateway has taken signatures of this padding after it refused the other. */
  readonly onPadding: (padding: RsaPadding) => void;
}

/** One of the two ways to the gateway. */
interface Way {
  readonly link: DatagramLink;
  readonly isMarked: boolean;
}

export class Ikev2Attempt {
  readonly startedAtMs: number;
  readonly #end: Ikev2Endpoint;
  readonly #server: Address;
  readonly #endsAtMs: number;
  readonly #context: ProbeContext;
  readonly #initiator: Initiator;
  readonly #talk: Talk<Child>;
  #plain: Way | null = null;
  #marked: Way | null = null;
  /** The way that was answered on last. */
  #way: Way | null = null;
  #request: Request | null = null;
  #tls: EapTlsSession | null = null;
  #isSentAgain = false;
  /** The gateway has repeated itself since the present request was sent last. */
  #isRepeating = false;
  #linkFault: Error | undefined;
  #hasTriedNatPort = false;
  #timers: (() => void)[] = [];
  #settle: ((result: Child | Error) => void) | null = null;
  #onAnswer: ((answer: Answer) => void) | null = null;
  #onEsp: ((datagram: Uint8Array, atMs: number) => void) | null = null;
  #isClosed = false;

  constructor(end: Ikev2Endpoint, server: Address, withinMs: number, context: ProbeContext) {
    this.#end = end;
    this.#server = server;
    this.#context = context;
    this.startedAtMs = context.now();
    this.#endsAtMs = this.startedAtMs + withinMs;
    const { wantedIdentity, gateway, login, certificate, sharedKey, anchors } = end.settings;
    this.#initiator = new Initiator(
      {
        wantedIdentity,
        gateway,
        login,
        certificate,
        sharedKey,
        anchors,
        identity: () => end.identity ?? this.#ownAddress(),
        remote: { address: Buffer.from(addressBytes(server.ip) ?? []), port: end.port },
      },
      { randomBytes: context.randomBytes, wallNowMs: context.wallNowMs },
    );
    this.#talk = this.#initiator.open();
  }

  get hasAnswered(): boolean {
    return this.#way !== null;
  }

  /** See Initiator. */
  get mayTakeOtherPadding(): boolean {
    return this.#initiator.mayTakeOtherPadding;
  }

  open(): Promise<Child> {
    return new Promise((resolve, reject) => {
      this.#settle = (result) => {
        this.#settle = null;
        this.#onAnswer = null;
        this.#cancelTimers();
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
      this.#onAnswer = (answer) => this.#advance(() => this.#talk.next(answer));
      whenAborted(this.#context, (fault) => this.#settle?.(fault));
      if (this.#settle === null) return;
      if (this.#end.port === IKE_PORT) this.#plain = this.#openWay(IKE_PORT, false);
      else this.#marked = this.#openWay(this.#end.port, true);
      this.#advance(() => this.#talk.next());
    });
  }

  sendEsp(datagram: Uint8Array): void {
    this.#marked?.link.send(datagram);
  }

  onEsp(listener: (datagram: Uint8Array, atMs: number) => void): void {
    this.#onEsp = listener;
  }

  /** A gateway that gets no Delete keeps the address that it assigned, and one of the user's sessions, for as long as it likes. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onEsp = null;
    this.#cancelTimers();
    this.#tls?.close();
    const goodbye = this.#context.signal.aborted ? undefined : this.#initiator.goodbye();
    if (goodbye !== undefined) await this.#say(goodbye);
    this.#plain?.link.close();
    this.#marked?.link.close();
  }

  #say(goodbye: Request): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#onAnswer = null;
        this.#cancelTimers();
        resolve();
      };
      this.#onAnswer = end;
      whenAborted(this.#context, end);
      this.#request = goodbye;
      this.#sendRequest();
      this.#timer(GOODBYE_AGAIN_MS, () => this.#sendRequest());
      this.#timer(GOODBYE_MS, end);
    });
  }

  #advance(step: () => IteratorResult<Request | TlsTurn, Child>): void {
    this.#cancelTimers();
    try {
      const next = step();
      if (next.done) this.#settle?.(next.value);
      else if (next.value.stage === "tls") this.#turnTls(next.value.records);
      else this.#ask(next.value);
    } catch (error) {
      this.#settle?.(error instanceof Error ? error : new Error("the handshake failed"));
    }
  }

  /** It takes no time but the processor's, so only the check's end bounds it. */
  #turnTls(records: Buffer): void {
    const { tls } = this.#end;
    if (tls === null) throw new Error("a login by EAP-TLS without a context");
    this.#tls ??= new EapTlsSession(tls);
    this.#tls.turn(records, (result) => {
      if (this.#settle === null) return;
      this.#advance(() => (result instanceof Error ? this.#talk.throw(result) : this.#talk.next(result)));
    });
  }

  #ask(request: Request): void {
    this.#request = request;
    this.#isSentAgain = false;
    if (request.stage !== "init") this.#marked ??= this.#openWay(NAT_PORT, true);
    this.#sendRequest();
    const leftMs = this.#endsAtMs - this.#context.now();
    const waitMs = Math.max(1, Math.min(request.stage === "init" ? FIRST_ANSWER_MS : ANSWER_MS, leftMs));
    for (const afterMs of RETRIES_AFTER_MS) {
      if (afterMs < waitMs) this.#timer(afterMs, () => this.#sendAgain());
    }
    if (request.stage === "init" && this.#plain !== null && NAT_PORT_AFTER_MS < waitMs) {
      this.#timer(NAT_PORT_AFTER_MS, () => this.#tryNatPort());
    }
    this.#timer(waitMs, () => this.#advance(() => this.#talk.throw(this.#silence(request, waitMs))));
  }

  #sendAgain(): void {
    this.#isSentAgain = true;
    this.#sendRequest();
  }

  #sendRequest(): void {
    this.#isRepeating = false;
    const { stage, datagrams } = this.#request ?? { stage: "init", datagrams: [] };
    const ways =
      stage === "init" ? [this.#way ?? this.#plain, this.#way === null ? this.#marked : null] : [this.#marked];
    for (const way of ways) {
      for (const datagram of datagrams) if (way !== null) sendBy(way, datagram);
    }
  }

  /** The same bytes: a gateway that gets them twice takes the second for a retransmission. */
  #tryNatPort(): void {
    if (this.#hasTriedNatPort) return;
    this.#hasTriedNatPort = true;
    try {
      this.#marked = this.#openWay(NAT_PORT, true);
      for (const datagram of this.#request?.datagrams ?? []) sendBy(this.#marked, datagram);
    } catch (error) {
      this.#settle?.(error instanceof Error ? error : new Error("no socket"));
    }
  }

  #openWay(port: number, isMarked: boolean): Way {
    const link = this.#context.transport.openDatagrams(
      this.#server,
      port,
      {
        received: (datagram, atMs) => this.#receive(way, datagram, atMs),
        failed: (error) => this.#lose(way, error),
      },
      this.#context,
    );
    const way: Way = { link, isMarked };
    return way;
  }

  #receive(way: Way, datagram: Uint8Array, atMs: number): void {
    if (!way.isMarked) this.#hear(way, datagram);
    // One byte of ones keeps a NAT's mapping alive (RFC 3948 section 2.3); four zeros are no SPI.
    else if (datagram.length > NON_ESP_MARKER.length) {
      if (NON_ESP_MARKER.equals(datagram.subarray(0, NON_ESP_MARKER.length))) {
        this.#hear(way, datagram.subarray(NON_ESP_MARKER.length));
      } else this.#onEsp?.(datagram, atMs);
    }
  }

  #hear(way: Way, message: Uint8Array): void {
    try {
      const heard = this.#initiator.hear(message);
      if (heard.kind === "repeated") this.#isRepeating = true;
      if (heard.kind === "repeated" || heard.kind === "ignored") return;
      this.#context.answered();
      this.#way = way;
      if (heard.kind === "answer") this.#onAnswer?.(heard);
      else {
        for (const reply of heard.reply) sendBy(way, reply);
        if (heard.isOver)
          this.#settle?.(new NetworkFault("closed", "The gateway ended the tunnel at once", { peerAnswered: true }));
      }
    } catch (error) {
      this.#settle?.(error instanceof Error ? error : new Error("a message cannot be read"));
    }
  }

  /** One port that refuses does not end it while the other may answer. */
  #lose(way: Way, error: Error): void {
    this.#linkFault ??= error;
    if (this.#request?.stage === "init" && this.#way === null && this.#end.port === IKE_PORT) {
      const isLast = way.isMarked ? this.#plain === null : this.#marked === null && this.#hasTriedNatPort;
      if (way.isMarked) this.#marked = null;
      else this.#plain = null;
      if (isLast) this.#settle?.(error);
      else if (!way.isMarked) this.#tryNatPort();
      return;
    }
    // Once it has moved on, a late word about port 500 says nothing.
    if (way.isMarked || !this.#hasMovedOn) this.#settle?.(this.#hasMovedOn ? closedNatPort(error) : error);
  }

  get #hasMovedOn(): boolean {
    return this.#way !== null && !this.#way.isMarked;
  }

  #silence(request: Request, afterMs: number): Error {
    const seconds = Math.round(afterMs / 100) / 10;
    // A path repeats what it has; what comes long after that is the gateway's word about the present request.
    if (this.#isRepeating && this.#isSentAgain) return goesOnAsking();
    if (this.#way === null) {
      // That a port is closed says more than that the other one is silent.
      if (this.#linkFault !== undefined) return this.#linkFault;
      const ports = this.#end.port === IKE_PORT ? "500 and 4500" : String(this.#end.port);
      return new NetworkFault("timeout", `No answer on UDP port ${ports} in ${seconds} s`, {
        hint: "The gateway is down, a firewall drops UDP, or it has had too many half-open attempts from this address",
      });
    }
    return new NetworkFault("timeout", `The gateway answered the first message and is silent since (${seconds} s)`, {
      peerAnswered: true,
      hint: this.#silenceHint(request),
    });
  }

  #silenceHint({ stage }: Request): string {
    if (stage === "init")
      return "It asked for another first message, with a cookie or another group, and did not answer it";
    return this.#hasMovedOn
      ? "UDP port 4500 or fragments of large datagrams may be blocked on the way"
      : "Fragments of large datagrams may be blocked on the way";
  }

  #ownAddress(): Identity {
    const text = (this.#way ?? this.#plain ?? this.#marked)?.link.localIp() ?? "0.0.0.0";
    const data = Buffer.from(addressBytes(text) ?? [0, 0, 0, 0]);
    return { type: data.length === 4 ? IDENTITY.ipv4 : IDENTITY.ipv6, data };
  }

  #timer(afterMs: number, act: () => void): void {
    this.#timers.push(this.#context.transport.after(afterMs, act));
  }

  #cancelTimers(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers = [];
  }
}

function sendBy({ link, isMarked }: Way, datagram: Uint8Array): void {
  link.send(isMarked ? Buffer.concat([NON_ESP_MARKER, datagram]) : datagram);
}

/** The first message was answered on port 500, where nothing more can be said (RFC 7296 section 2.23). */
function closedNatPort(error: Error): NetworkFault {
  return new NetworkFault("refused", "The gateway answers on UDP port 500, but its port 4500 is closed", {
    peerAnswered: true,
    hint: "IKEv2 through NAT needs UDP port 4500",
    cause: error,
  });
}
