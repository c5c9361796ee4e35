/**
 * The reliable control channel of one session: messages are numbered, acknowledged, sent again and delivered in order, in packets that are
 * protected as the profile says (openvpn reliable.c, ssl_pkt.c). Pure: time, random and bytes come in, packets go out.
 */
import {
  type ControlPacket,
  decodeControl,
  encodeControlBody,
  encodeControlHeader,
  OPCODE,
  SESSION_ID_BYTES,
} from "./packet.ts";
import type { Protection } from "./protection.ts";

/** reliable.h: TLS_RELIABLE_N_SEND_BUFFERS, TLS_RELIABLE_N_REC_BUFFERS. */
const SEND_WINDOW = 6;
const RECEIVE_WINDOW = 12;
/** ssl_pkt.h CONTROL_SEND_ACK_MAX, reliable.h RELIABLE_ACK_SIZE; SoftEther drops packets with more. */
const MAX_ACKS_BESIDE = 4;
const MAX_ACKS_ALONE = 8;
/** Duplicates of a peer that is drowning us are not acknowledged for ever. */
const MAX_WAITING_ACKS = 64;
/** Below `tls-mtu` 1250 with every protection and header. */
const MAX_PAYLOAD_BYTES = 1_100;
/** What is written and not sent yet, bytes: a client's flight is a few kB. */
const MAX_QUEUED_BYTES = 262_144;
/** When a message is sent again, ms after its last time: longer from time to time, and often enough that four are sent before silence means a refusal. */
const FIRST_RETRY_MS = 700;
const RETRY_GROWTH = 1.5;
const MAX_RETRY_MS = 3_000;
/** Of the flags that a server's first answer carries (doc/tls-crypt-v2.txt). */
const TLV_EARLY_NEGOTIATION = 1;
const FLAG_RESEND_KEY = 1;

interface Message {
  readonly id: number;
  readonly opcode: number;
  readonly payload: Buffer;
  sentAtMs: number;
  retryMs: number;
}

export type Heard =
  /** Not for this session, or not under its keys. */
  | { readonly kind: "nothing" }
  | { readonly kind: "acknowledged" }
  /** The server's answer to our first packet. */
  | { readonly kind: "reset" }
  /** Bytes of TLS, in order; may be none yet. */
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  /** It wants to renegotiate keys; a check is over before it must. */
  | { readonly kind: "soft-reset" };

export interface ControlChannelOptions {
  readonly protection: Protection;
  readonly sessionId: Buffer;
  /** Streams lose nothing. */
  readonly isStream: boolean;
}

export class ControlChannel {
  readonly sessionId: Buffer;
  readonly #protection: Protection;
  readonly #isStream: boolean;
  #remoteSessionId: Buffer | null = null;
  #nextId = 0;
  #unsent: { readonly opcode: number; readonly payload: Buffer }[] = [];
  #unacknowledged: Message[] = [];
  #expected = 0;
  readonly #held = new Map<number, Buffer>();
  #acks: number[] = [];
  /** Acknowledged last, and repeated with the next messages: the packet may be lost, and a server without state still needs it (2.6). */
  #acknowledged: readonly number[] = [];
  /** The next message that carries TLS carries the wrapped key too. */
  #resendsKey = false;
  #queuedBytes = 0;

  constructor({ protection, sessionId, isStream }: ControlChannelOptions) {
    this.#protection = protection;
    this.sessionId = sessionId;
    this.#isStream = isStream;
  }

  get remoteSessionId(): Buffer | null {
    return this.#remoteSessionId;
  }

  /** Whether the peer has taken everything that was sent. */
  get isAcknowledged(): boolean {
    return this.#unsent.length === 0 && this.#unacknowledged.length === 0;
  }

  /** How many messages of the peer wait for their acknowledgement. */
  get waitingAcks(): number {
    return this.#acks.length;
  }

  /** The first packet. */
  open(): void {
    const opcode = this.#protection.wrappedKey === null ? OPCODE.clientReset : OPCODE.clientResetV3;
    this.#unsent.push({ opcode, payload: Buffer.alloc(0) });
  }

  /** @returns false when the peer takes nothing any more and too much is waiting */
  write(bytes: Buffer): boolean {
    if (this.#queuedBytes + bytes.length > MAX_QUEUED_BYTES) return false;
    this.#queuedBytes += bytes.length;
    let rest = bytes;
    while (rest.length > 0) {
      const keyBytes = this.#resendsKey ? (this.#protection.wrappedKey?.length ?? 0) : 0;
      const size = Math.max(MAX_PAYLOAD_BYTES - keyBytes, MAX_PAYLOAD_BYTES >> 2);
      this.#unsent.push({
        opcode: this.#resendsKey ? OPCODE.controlWithKey : OPCODE.control,
        payload: rest.subarray(0, size),
      });
      this.#resendsKey = false;
      rest = rest.subarray(size);
    }
    return true;
  }

  receive(packet: Buffer): Heard {
    const opened = this.#protection.open(packet);
    const control = opened === undefined ? undefined : decodeControl(opened.header, opened.body);
    if (control === undefined || !this.#isOfSession(control)) return { kind: "nothing" };
    // Renegotiations have numbers of their own; ours is the session of key 0.
    if (control.keyId !== 0) return { kind: "soft-reset" };
    this.#takeAcks(control);
    if (control.messageId === null) return { kind: "acknowledged" };
    if (control.opcode === OPCODE.serverReset) return this.#takeReset(control, control.messageId);
    if (control.opcode === OPCODE.softReset) return { kind: "soft-reset" };
    if (control.opcode !== OPCODE.control || this.#remoteSessionId === null) return { kind: "nothing" };
    return { kind: "bytes", bytes: this.#take(control.messageId, control.payload) };
  }

  /** What is to be sent by now: new messages within the window, old ones again, acknowledgements. */
  due(nowMs: number, wallNowMs: number): readonly Buffer[] {
    const packets: Buffer[] = [];
    for (const message of this.#unacknowledged) {
      if (this.#isStream || nowMs < message.sentAtMs + message.retryMs) continue;
      message.retryMs = Math.min(MAX_RETRY_MS, message.retryMs * RETRY_GROWTH);
      message.sentAtMs = nowMs;
      packets.push(this.#packetOf(message, wallNowMs));
    }
    while (this.#unacknowledged.length < SEND_WINDOW) {
      const next = this.#unsent.shift();
      if (next === undefined) break;
      this.#queuedBytes -= next.payload.length;
      const message = { ...next, id: this.#nextId++, sentAtMs: nowMs, retryMs: FIRST_RETRY_MS };
      this.#unacknowledged.push(message);
      packets.push(this.#packetOf(message, wallNowMs));
    }
    return packets;
  }

  /** Packets that only acknowledge what no other packet has acknowledged. */
  acknowledgements(wallNowMs: number): readonly Buffer[] {
    const packets: Buffer[] = [];
    // The first message of ours must carry the first one: until then the server remembers nothing.
    while (this.#nextId > 1 && this.#acks.length > 0)
      packets.push(this.#seal(OPCODE.ack, null, Buffer.alloc(0), MAX_ACKS_ALONE, wallNowMs));
    return packets;
  }

  /** When due() has something again, ms from now; null: nothing waits. */
  nextDueMs(nowMs: number): number | null {
    if (this.#isStream || this.#unacknowledged.length === 0) return null;
    return Math.max(0, Math.min(...this.#unacknowledged.map(({ sentAtMs, retryMs }) => sentAtMs + retryMs)) - nowMs);
  }

  #isOfSession({ opcode, sessionId, remoteSessionId }: ControlPacket): boolean {
    if (remoteSessionId !== null && !remoteSessionId.equals(this.sessionId)) return false;
    if (this.#remoteSessionId === null) return opcode === OPCODE.serverReset;
    return this.#remoteSessionId.equals(sessionId);
  }

  #takeAcks({ acks }: ControlPacket): void {
    if (acks.length === 0) return;
    this.#unacknowledged = this.#unacknowledged.filter(({ id }) => !acks.includes(id));
  }

  #takeReset({ sessionId, payload }: ControlPacket, messageId: number): Heard {
    if (this.#remoteSessionId === null) {
      this.#remoteSessionId = Buffer.from(sessionId.subarray(0, SESSION_ID_BYTES));
      this.#resendsKey = this.#protection.wrappedKey !== null && asksForKey(payload);
    }
    this.#take(messageId, Buffer.alloc(0));
    return { kind: "reset" };
  }

  #take(id: number, payload: Buffer): Buffer {
    if (id >= this.#expected + RECEIVE_WINDOW) return Buffer.alloc(0);
    if (this.#acks.length < MAX_WAITING_ACKS && !this.#acks.includes(id)) this.#acks.push(id);
    if (id < this.#expected || this.#held.has(id)) return Buffer.alloc(0);
    this.#held.set(id, Buffer.from(payload));
    const inOrder: Buffer[] = [];
    for (let next = this.#held.get(this.#expected); next !== undefined; next = this.#held.get(this.#expected)) {
      inOrder.push(next);
      this.#held.delete(this.#expected++);
    }
    return Buffer.concat(inOrder);
  }

  #takeWaiting(isAlone: boolean, most: number): readonly number[] {
    const fresh = this.#acks.splice(0, most);
    const again = isAlone ? [] : this.#acknowledged.filter((id) => !fresh.includes(id)).slice(0, most - fresh.length);
    this.#acknowledged = [...fresh, ...this.#acknowledged.filter((id) => !fresh.includes(id))].slice(
      0,
      MAX_ACKS_BESIDE,
    );
    return [...fresh, ...again];
  }

  #packetOf({ opcode, id, payload }: Message, wallNowMs: number): Buffer {
    const packet = this.#seal(opcode, id, payload, MAX_ACKS_BESIDE, wallNowMs);
    const { wrappedKey } = this.#protection;
    const hasKey = opcode === OPCODE.clientResetV3 || opcode === OPCODE.controlWithKey;
    return hasKey && wrappedKey !== null ? Buffer.concat([packet, wrappedKey]) : packet;
  }

  #seal(opcode: number, messageId: number | null, payload: Buffer, mostAcks: number, wallNowMs: number): Buffer {
    const acks = this.#remoteSessionId === null ? [] : this.#takeWaiting(messageId === null, mostAcks);
    return this.#protection.seal(
      encodeControlHeader(opcode, this.sessionId),
      encodeControlBody({ acks, remoteSessionId: this.#remoteSessionId, messageId, payload }),
      wallNowMs,
    );
  }
}

/** Type, length, value, each of two bytes but the last. */
function asksForKey(payload: Buffer): boolean {
  for (let at = 0; at + 4 <= payload.length; ) {
    const length = payload.readUInt16BE(at + 2);
    if (payload.readUInt16BE(at) === TLV_EARLY_NEGOTIATION && length === 2 && at + 6 <= payload.length) {
      return (payload.readUInt16BE(at + 4) & FLAG_RESEND_KEY) !== 0;
    }
    at += 4 + length;
  }
  return false;
}
