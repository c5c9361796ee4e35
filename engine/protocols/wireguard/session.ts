/**
 * One client's talk with one server: attempts, cookies, sessions. Pure: datagrams in and out, the caller has the socket and the clock.
 *
 * Every retry is a new initiation, and an answer to any of them counts. The newest answered one is what we send under, because a server
 * keeps the newest and forgets one that we have not used yet.
 */
import { SentDatagrams } from "../sent-datagrams.ts";
import { DataSession } from "./data.ts";
import { COOKIE_REPLY, type Framed, type Framing, RESPONSE, TRANSPORT, uint32At } from "./message.ts";
import { type Asked, createInitiation, isResponse, type PeerKeys, readCookie, readResponse } from "./noise.ts";

/** Attempts whose answers are still taken, and sessions that are still read. */
const ATTEMPT_LIMIT = 16;
const SESSION_LIMIT = 4;
/** Cookies that are taken: a server that goes on asking for proof is not going to talk. */
const COOKIE_LIMIT = 4;
/** Datagrams of handshakes that are remembered, to know them when they come back: more than a check sends (amneziawg/params.ts). */
const SENT_LIMIT = 256;
/** Unreadable datagrams that are remembered, for the diagnosis. */
const STRAY_LIMIT = 8;

/** A datagram that came before a handshake was complete and could not be read. */
export interface Stray {
  readonly sizeBytes: number;
  /** What its end proves to be an answer of a server that has our keys, behind padding or under numbers of its own; null: nothing. */
  readonly answer: "response" | "cookie" | null;
}

export type SessionEvent =
  /** A handshake is complete. `attempt` counts from 0. */
  | { readonly kind: "established"; readonly attempt: number }
  | { readonly kind: "preshared-key-differs" }
  /** The server is under load: the next initiation proves our address, and should go now. */
  | { readonly kind: "cookie" }
  | { readonly kind: "packet"; readonly packet: Uint8Array }
  | { readonly kind: "keepalive" }
  | { readonly kind: "ignored" };

export interface SessionDeps {
  readonly framing: Framing;
  readonly randomBytes: (sizeBytes: number) => Uint8Array;
  /** The next time stamp, TAI64N. */
  readonly timestamp: () => Uint8Array;
  /** What a padded packet may be long. */
  readonly mtuBytes: number;
}

interface Attempt {
  readonly number: number;
  readonly initiation: Asked;
}

interface Established extends Attempt {
  readonly data: DataSession;
}

const IGNORED: SessionEvent = { kind: "ignored" };

export class WireguardSession {
  readonly #peer: PeerKeys;
  readonly #deps: SessionDeps;
  #attempts: Attempt[] = [];
  #sessions: Established[] = [];
  #started = 0;
  #cookies = 0;
  #cookie: Uint8Array | null = null;
  #strays: Stray[] = [];
  readonly #sent = new SentDatagrams(SENT_LIMIT);

  constructor(peer: PeerKeys, deps: SessionDeps) {
    this.#peer = peer;
    this.#deps = deps;
  }

  /** Initiations made so far. */
  get attempts(): number {
    return this.#started;
  }

  /** Whether the server has proved to be one: it answered an initiation with a cookie. */
  get hasCookie(): boolean {
    return this.#cookies > 0;
  }

  /** The first ones; datagrams of this client that came back are left out. */
  get strays(): readonly Stray[] {
    return this.#strays;
  }

  /** Whether datagrams of this client have come back before a handshake was complete. */
  get isMirrored(): boolean {
    return this.#sent.hasReturned;
  }

  /** The datagrams of a new attempt, in their order; the initiation is the last. */
  initiate(): readonly Uint8Array[] {
    const { framing, randomBytes, timestamp } = this.#deps;
    const initiation = createInitiation(this.#peer, {
      ephemeralSeed: randomBytes(32),
      index: this.#freshIndex(),
      timestamp: timestamp(),
      header: framing.header("initiation"),
      cookie: this.#cookie,
    });
    const number = this.#started++;
    if (initiation === null) return [];
    this.#attempts = this.#attempts.slice(1 - ATTEMPT_LIMIT).concat({ number, initiation: initiation.asked });
    const datagrams = [...framing.preamble(), framing.wrap("initiation", initiation.message)];
    for (const datagram of datagrams) this.#sent.add(datagram);
    return datagrams;
  }

  /** Of no use afterwards: what comes late is nothing to it. */
  close(): void {
    this.#attempts = [];
    this.#sessions = [];
  }

  /** @returns undefined before a handshake is complete */
  seal(packet: Uint8Array): Uint8Array | undefined {
    const { framing, mtuBytes } = this.#deps;
    const message = this.#sessions
      .at(-1)
      ?.data.seal(packet, framing.header("transport"), mtuBytes, framing.extraPadding());
    return message === undefined ? undefined : framing.wrap("transport", message);
  }

  receive(datagram: Uint8Array): SessionEvent {
    const candidates = this.#deps.framing.unwrap(datagram);
    for (const framed of candidates) {
      const event = this.#read(framed);
      if (event.kind !== "ignored") return event;
    }
    // A forged or late handshake message says nothing; what cannot be one, while an answer to a handshake is awaited, may say much.
    const isStray = this.#sessions.length === 0 && candidates.every(({ kind }) => kind === "transport");
    const isTold = isStray && this.#strays.length < STRAY_LIMIT && !this.#sent.recognise(datagram);
    if (isTold) this.#strays.push({ sizeBytes: datagram.length, answer: this.#answerIn(datagram) });
    return IGNORED;
  }

  #answerIn(datagram: Uint8Array): Stray["answer"] {
    const { framing } = this.#deps;
    if (isResponse(this.#peer, framing.ending(datagram, RESPONSE.bytes))) return "response";
    const ending = framing.ending(datagram, COOKIE_REPLY.bytes);
    const isCookie = this.#attempts.some(({ initiation }) => readCookie(this.#peer, initiation, ending) !== null);
    return isCookie ? "cookie" : null;
  }

  #read({ kind, message }: Framed): SessionEvent {
    switch (kind) {
      case "response":
        return this.#readResponse(message);
      case "cookie":
        return this.#readCookie(message);
      case "transport":
        return this.#readData(message);
    }
  }

  #readResponse(message: Uint8Array): SessionEvent {
    const attempt = this.#attemptOf(uint32At(message, RESPONSE.receiver));
    if (attempt === undefined) return IGNORED;
    const response = readResponse(this.#peer, attempt.initiation, message);
    if (response.kind === "not-authentic") return IGNORED;
    // Answered once: a copy of the answer is no second session, and wrong answers without end, each of which costs two key agreements, are one.
    this.#attempts = this.#attempts.filter((other) => other !== attempt);
    if (response.kind === "void") return IGNORED;
    if (response.kind === "preshared-key-differs") return response;
    const { number, initiation } = attempt;
    const session = { number, initiation, data: new DataSession(this.#peer.crypto, response.keys) };
    this.#sessions = [...this.#sessions, session].sort((one, other) => one.number - other.number).slice(-SESSION_LIMIT);
    return { kind: "established", attempt: number };
  }

  #readCookie(message: Uint8Array): SessionEvent {
    const attempt = this.#attemptOf(uint32At(message, COOKIE_REPLY.receiver));
    if (attempt === undefined || this.#cookies >= COOKIE_LIMIT) return IGNORED;
    const cookie = readCookie(this.#peer, attempt.initiation, message);
    if (cookie === null) return IGNORED;
    // The attempt is lost: it is answered once, and not by a second cookie.
    this.#attempts = this.#attempts.filter((other) => other !== attempt);
    this.#cookies++;
    this.#cookie = cookie;
    return { kind: "cookie" };
  }

  #readData(message: Uint8Array): SessionEvent {
    const index = uint32At(message, TRANSPORT.receiver);
    const session = this.#sessions.find(({ initiation }) => initiation.index === index);
    if (session === undefined) return IGNORED;
    const opened = session.data.open(message);
    return opened.kind === "packet" || opened.kind === "keepalive" ? opened : IGNORED;
  }

  #attemptOf(index: number): Attempt | undefined {
    return this.#attempts.find(({ initiation }) => initiation.index === index);
  }

  #freshIndex(): number {
    const isUsed = (index: number) =>
      [...this.#attempts, ...this.#sessions].some(({ initiation }) => initiation.index === index);
    let index = uint32At(this.#deps.randomBytes(4), 0);
    while (isUsed(index)) index = (index + 1) >>> 0;
    return index;
  }
}
