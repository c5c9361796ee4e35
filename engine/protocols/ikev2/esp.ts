/** ESP in UDP: RFC 4303 and RFC 3948. Pure; random bytes come in as an argument. */
import type { DirectionKeys } from "./keys.ts";
import { bufferOf } from "./message.ts";
import { counterIv, protect, unprotect } from "./protect.ts";

const NEXT_HEADER_IPV4 = 4;
const NEXT_HEADER_IPV6 = 41;
/** SPI and sequence number. */
const PREFIX_BYTES = 8;
/** Pad length and next header. */
const TRAILER_BYTES = 2;
/** Packets that come later than this many others are dropped (RFC 4303 section 3.4.3 wants at least 32). */
const WINDOW_PACKETS = 64n;
const WINDOW_MASK = (1n << WINDOW_PACKETS) - 1n;

/** Encrypts what goes to the gateway. */
export class EspSender {
  readonly #keys: DirectionKeys;
  readonly #spi: Buffer;
  readonly #random: (sizeBytes: number) => Uint8Array;
  #sequence = 0;

  constructor(keys: DirectionKeys, spi: Buffer, random: (sizeBytes: number) => Uint8Array) {
    this.#keys = keys;
    this.#spi = spi;
    this.#random = random;
  }

  /** @param packet an IPv4 or IPv6 packet */
  seal(packet: Uint8Array): Buffer {
    const { encryption } = this.#keys;
    this.#sequence += 1;
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.set(this.#spi, 0);
    prefix.writeUInt32BE(this.#sequence, 4);
    const block = encryption.blockBytes;
    const padBytes = (block - ((packet.length + TRAILER_BYTES) % block)) % block;
    const nextHeader = versionOf(packet) === 6 ? NEXT_HEADER_IPV6 : NEXT_HEADER_IPV4;
    // Padding counts 1, 2, 3 … (RFC 4303 section 2.4).
    const padding = Array.from({ length: padBytes }, (_, index) => index + 1);
    const plaintext = Buffer.concat([packet, Buffer.from([...padding, padBytes, nextHeader])]);
    const iv = encryption.tagBytes > 0 ? counterIv(this.#sequence) : Buffer.from(this.#random(encryption.ivBytes));
    return protect(this.#keys, prefix, plaintext, iv);
  }
}

/** Decrypts what comes from the gateway, each packet once. */
export class EspReceiver {
  readonly #keys: DirectionKeys;
  readonly #spi: Buffer;
  #highest = 0;
  /** Bit n: the packet n before the highest was seen. */
  #seen = 0n;

  constructor(keys: DirectionKeys, spi: Buffer) {
    this.#keys = keys;
    this.#spi = spi;
  }

  /** @returns the packet inside; undefined for what is not of this SA, forged, replayed, or no IP */
  open(datagram: Uint8Array): Buffer | undefined {
    const bytes = bufferOf(datagram);
    if (bytes.length < PREFIX_BYTES || !bytes.subarray(0, 4).equals(this.#spi)) return undefined;
    const sequence = bytes.readUInt32BE(4);
    if (!this.#isNew(sequence)) return undefined;
    const plaintext = unprotect(this.#keys, bytes, PREFIX_BYTES);
    if (plaintext === undefined) return undefined;
    this.#remember(sequence);
    return packetIn(plaintext);
  }

  #isNew(sequence: number): boolean {
    if (sequence === 0) return false;
    const age = BigInt(this.#highest - sequence);
    return age < 0n || (age < WINDOW_PACKETS && (this.#seen & (1n << age)) === 0n);
  }

  #remember(sequence: number): void {
    const ahead = sequence - this.#highest;
    if (ahead <= 0) {
      this.#seen |= 1n << BigInt(-ahead);
      return;
    }
    this.#seen = BigInt(ahead) >= WINDOW_PACKETS ? 1n : ((this.#seen << BigInt(ahead)) & WINDOW_MASK) | 1n;
    this.#highest = sequence;
  }
}

/** Without padding; what is left of traffic flow padding stays behind the packet's own length and is cut off with it. */
function packetIn(plaintext: Buffer): Buffer | undefined {
  if (plaintext.length < TRAILER_BYTES) return undefined;
  const nextHeader = plaintext.readUInt8(plaintext.length - 1);
  const padBytes = plaintext.readUInt8(plaintext.length - 2);
  const sizeBytes = plaintext.length - TRAILER_BYTES - padBytes;
  if (sizeBytes < 1 || !isCounting(plaintext.subarray(sizeBytes, sizeBytes + padBytes))) return undefined;
  const packet = plaintext.subarray(0, sizeBytes);
  const version = versionOf(packet);
  if (nextHeader === NEXT_HEADER_IPV4 && version === 4) return packet;
  return nextHeader === NEXT_HEADER_IPV6 && version === 6 ? packet : undefined;
}

function isCounting(padding: Buffer): boolean {
  return padding.every((byte, index) => byte === index + 1);
}

function versionOf(packet: Uint8Array): number {
  return (packet[0] ?? 0) >> 4;
}
