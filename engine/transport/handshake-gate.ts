/**
 * Holds back what a server sends until its handshake is over, so that OpenSSL reads it when its turn has come, and never more than a bound of it. Our own records
 * say when TLS begins, also behind words in the clear (STARTTLS), and when the server's certificates have been read. Pure.
 */
import { NetworkFault } from "../net/fault.ts";

/** Content types of records (RFC 8446 section 5.1). */
const HANDSHAKE = 22;
const APPLICATION_DATA = 23;
const HEADER_BYTES = 5;
/**
 * Of a handshake that waits for turns: certificates of real servers have 3 to 10 kB. Authorities that are made for it keep OpenSSL busy for 0.2 s with so many bytes,
 * and for 0.67 s with the 100 kB that it takes by itself.
 */
export const MOST_HELD_BYTES = 32 * 1_024;

/** Calls back once, when what a server has sent may be read. */
export type Turn = (read: () => void) => void;

export class HandshakeGate {
  readonly #turn: Turn;
  readonly #pass: (bytes: Buffer) => void;
  readonly #mostBytes: number;
  #state: "clear" | "handshake" | "over" = "clear";
  #held: Buffer[] = [];
  #heardBytes = 0;
  #afterwards: (() => void) | null = null;
  /** Of our records: the header that is not whole yet, and how much of the record is still to come. */
  #header: Buffer = Buffer.alloc(0);
  #recordLeft = 0;

  /** @param turn absent: everything is read at once, however much it is @param pass gives bytes to TLS */
  constructor(turn: Turn | undefined, pass: (bytes: Buffer) => void) {
    this.#turn = turn ?? ((read) => read());
    this.#mostBytes = turn === undefined ? Number.POSITIVE_INFINITY : MOST_HELD_BYTES;
    this.#pass = pass;
  }

  /** Of our side. Application data comes first with the end of TLS 1.3's handshake, and after that of TLS 1.2. */
  sent(bytes: Buffer): void {
    if (this.#state === "clear" && bytes[0] === HANDSHAKE) this.#state = "handshake";
    if (this.#state !== "handshake") return;
    for (let rest = bytes; rest.length > 0; ) {
      if (this.#recordLeft > 0) {
        const taken = Math.min(this.#recordLeft, rest.length);
        this.#recordLeft -= taken;
        rest = rest.subarray(taken);
        continue;
      }
      const missing = HEADER_BYTES - this.#header.length;
      this.#header = Buffer.concat([this.#header, rest.subarray(0, missing)]);
      rest = rest.subarray(missing);
      if (this.#header.length < HEADER_BYTES) return;
      if (this.#header[0] === APPLICATION_DATA) {
        this.#state = "over";
        return;
      }
      this.#recordLeft = this.#header.readUInt16BE(3);
      this.#header = Buffer.alloc(0);
    }
  }

  /** Of the server's side. @returns what is wrong with it; null: nothing */
  heard(bytes: Buffer): NetworkFault | null {
    if (this.#state === "handshake") this.#heardBytes += bytes.length;
    if (this.#heardBytes > this.#mostBytes) return tooMuch();
    if (this.#state !== "handshake" && this.#held.length === 0) {
      this.#pass(bytes);
      return null;
    }
    this.#held.push(bytes);
    if (this.#held.length === 1) this.#turn(() => this.#release());
    return null;
  }

  /** Once everything that was heard is read. */
  afterwards(then: () => void): void {
    if (this.#held.length === 0) then();
    else this.#afterwards = then;
  }

  #release(): void {
    const bytes = Buffer.concat(this.#held);
    this.#held = [];
    this.#pass(bytes);
    const then = this.#afterwards;
    this.#afterwards = null;
    then?.();
  }
}

function tooMuch(): NetworkFault {
  return new NetworkFault("protocol-error", `The server sends more than ${MOST_HELD_BYTES} bytes before TLS is there`, {
    peerAnswered: true,
  });
}
