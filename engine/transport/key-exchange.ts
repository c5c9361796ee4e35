/**
 * Reads a server's side of a TLS handshake to find a Diffie-Hellman group over a prime of its choice, because OpenSSL would compute with any
 * size up to 10,000 bits (RFC 5246 sections 6.2.1, 7.4 and 7.4.3). It stops where records are encrypted: with TLS 1.3, which has no such groups,
 * after the first message. Pure.
 */
import { DH_GROUP_BITS } from "./tls-bounds.ts";

const RECORD = { changeCipherSpec: 20, alert: 21, handshake: 22 } as const;
const RECORD_HEADER_BYTES = 5;
const MESSAGE = { serverKeyExchange: 12, serverHelloDone: 14 } as const;
const MESSAGE_HEADER_BYTES = 4;
/** Of ECParameters: a curve by name is all that OpenSSL takes. */
const NAMED_CURVE = 3;
/** Bytes of a message that are kept: of one with a group within the bound, twice. */
const KEPT_BYTES = 4_096;
const TOO_LARGE = `The server wants a Diffie-Hellman group of more than ${DH_GROUP_BITS} bits`;

export class KeyExchangeWatch {
  #record: Buffer = Buffer.alloc(0);
  /** Of a handshake record: still to come, bytes. */
  #recordLeft = 0;
  #message: Buffer = Buffer.alloc(0);
  /** Of the message that runs, header included: still to come, bytes. Null: its header is not there yet. */
  #messageLeft: number | null = null;
  #isOver = false;

  /** @returns what is wrong with the group, in words; null: nothing so far. After the end or a refusal further bytes are ignored. */
  push(bytes: Buffer): string | null {
    let rest = bytes;
    while (rest.length > 0 && !this.#isOver) {
      if (this.#recordLeft === 0) {
        rest = this.#readHeader(rest);
        continue;
      }
      const taken = rest.subarray(0, this.#recordLeft);
      rest = rest.subarray(taken.length);
      this.#recordLeft -= taken.length;
      const words = this.#read(taken);
      if (words !== null) {
        this.#isOver = true;
        return words;
      }
    }
    return null;
  }

  #readHeader(bytes: Buffer): Buffer {
    const missing = RECORD_HEADER_BYTES - this.#record.length;
    this.#record = Buffer.concat([this.#record, bytes.subarray(0, missing)]);
    if (this.#record.length < RECORD_HEADER_BYTES) return Buffer.alloc(0);
    const type = this.#record.readUInt8(0);
    this.#recordLeft = this.#record.readUInt16BE(3);
    this.#record = Buffer.alloc(0);
    // Alerts and what is no TLS end the handshake by themselves.
    if (type !== RECORD.handshake) this.#isOver = true;
    return bytes.subarray(missing);
  }

  /** Of handshake messages, which need not begin or end with their records. */
  #read(bytes: Buffer): string | null {
    let rest = bytes;
    while (rest.length > 0 && !this.#isOver) {
      const wanted = this.#messageLeft ?? MESSAGE_HEADER_BYTES - this.#message.length;
      const taken = rest.subarray(0, wanted);
      rest = rest.subarray(taken.length);
      if (this.#message.length < KEPT_BYTES) this.#message = Buffer.concat([this.#message, taken]);
      if (this.#messageLeft === null) {
        if (this.#message.length === MESSAGE_HEADER_BYTES) this.#messageLeft = this.#message.readUIntBE(1, 3);
      } else this.#messageLeft -= taken.length;
      if (this.#messageLeft === null) continue;
      const type = this.#message.readUInt8(0);
      if (type === MESSAGE.serverHelloDone) this.#isOver = true;
      else if (type === MESSAGE.serverKeyExchange) {
        const words = this.#judge(this.#message.subarray(MESSAGE_HEADER_BYTES), this.#messageLeft === 0);
        if (words !== undefined) return words;
      }
      if (this.#messageLeft > 0) continue;
      this.#message = Buffer.alloc(0);
      this.#messageLeft = null;
    }
    return null;
  }

  /** @returns undefined while more bytes are needed to decide */
  #judge(body: Buffer, isWhole: boolean): string | undefined {
    if (body.length < 2) return undefined;
    const primeBytes = body.readUInt16BE(0);
    if (8 * primeBytes <= DH_GROUP_BITS + 8) return undefined;
    if (body.readUInt8(0) !== NAMED_CURVE) return TOO_LARGE;
    // A curve, or a prime of 768 to 1,023 bytes: a message that can be read as both is taken for the latter.
    if (!isWhole && body.length < KEPT_BYTES - MESSAGE_HEADER_BYTES) return undefined;
    return isWhole && !isPrimeGroup(body) ? undefined : TOO_LARGE;
  }
}

/** Whether three lengths with as many bytes behind them fit in: prime, generator, value. */
function isPrimeGroup(body: Buffer): boolean {
  let at = 0;
  for (let part = 0; part < 3; part++) {
    if (at + 2 > body.length) return false;
    at += 2 + body.readUInt16BE(at);
  }
  return at <= body.length;
}
