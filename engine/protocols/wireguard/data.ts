/** Packets under a session's keys (paper section 5.4.6): sealed with a counter, opened once. Pure. */
import { TAG_BYTES, type WireguardCrypto } from "./crypto.ts";
import { setUint32, TRANSPORT, uint32At } from "./message.ts";
import type { DataKeys } from "./noise.ts";

/** Packets are padded to a multiple of this, so that their length reveals less. */
const PADDING_BYTES = 16;
/** Counters that may come late, in bits; the kernel's is 8192, and a probe sees a few dozen packets. */
const WINDOW = 2_048;
/** Above it no counter of a session that lives for seconds can be; also keeps counters exact as numbers. */
const COUNTER_LIMIT = 2 ** 48;
const NOTHING = new Uint8Array(0);

export type Opened =
  | { readonly kind: "packet"; readonly packet: Uint8Array }
  | { readonly kind: "keepalive" }
  | { readonly kind: "replayed" }
  | { readonly kind: "not-authentic" };

export class DataSession {
  readonly #crypto: WireguardCrypto;
  readonly #keys: DataKeys;
  readonly #received = new ReplayWindow();
  #counter = 0;

  constructor(crypto: WireguardCrypto, keys: DataKeys) {
    this.#crypto = crypto;
    this.#keys = keys;
  }

  /** @param header the type field; @param mostBytes what the padded packet may be long, when the packet itself is not longer */
  seal(packet: Uint8Array, header: number, mostBytes: number, extraPadding = 0): Uint8Array {
    const padded = Math.ceil(packet.length / PADDING_BYTES) * PADDING_BYTES + extraPadding;
    const plain = new Uint8Array(Math.max(packet.length, Math.min(padded, mostBytes)));
    plain.set(packet);
    const message = new Uint8Array(TRANSPORT.headerBytes + plain.length + TAG_BYTES);
    setUint32(message, 0, header);
    setUint32(message, TRANSPORT.receiver, this.#keys.peerIndex);
    setUint32(message, TRANSPORT.counter, this.#counter);
    message.set(this.#crypto.seal(this.#keys.send, this.#counter, plain, NOTHING), TRANSPORT.headerBytes);
    this.#counter++;
    return message;
  }

  open(message: Uint8Array): Opened {
    const counter = uint32At(message, TRANSPORT.counter) + uint32At(message, TRANSPORT.counter + 4) * 0x1_0000_0000;
    if (message.length < TRANSPORT.leastBytes || counter >= COUNTER_LIMIT) return { kind: "not-authentic" };
    const sealed = message.subarray(TRANSPORT.headerBytes);
    const packet = this.#crypto.open(this.#keys.receive, counter, sealed, NOTHING);
    if (packet === null) return { kind: "not-authentic" };
    if (!this.#received.accept(counter)) return { kind: "replayed" };
    return packet.length === 0 ? { kind: "keepalive" } : { kind: "packet", packet };
  }
}

/** Takes each counter once, in any order within the window (RFC 6479 in spirit). */
export class ReplayWindow {
  /** Allocated with the first counter; a ring of bits. */
  #seen: Uint32Array | null = null;
  #greatest = -1;

  accept(counter: number): boolean {
    this.#seen ??= new Uint32Array(WINDOW / 32);
    if (counter <= this.#greatest - WINDOW) return false;
    // Bits of counters that were skipped are of earlier turns of the ring.
    for (let next = Math.max(this.#greatest + 1, counter - WINDOW + 1); next <= counter; next++) this.#set(next, false);
    if (counter <= this.#greatest && this.#isSet(counter)) return false;
    this.#greatest = Math.max(this.#greatest, counter);
    this.#set(counter, true);
    return true;
  }

  #isSet(counter: number): boolean {
    const bit = counter % WINDOW;
    return (((this.#seen?.[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
  }

  #set(counter: number, value: boolean): void {
    const bit = counter % WINDOW;
    const seen = this.#seen;
    if (seen === null) return;
    const mask = 1 << (bit & 31);
    const word = seen[bit >>> 5] ?? 0;
    seen[bit >>> 5] = value ? word | mask : word & ~mask;
  }
}
