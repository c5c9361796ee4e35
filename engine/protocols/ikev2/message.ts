/** IKEv2 messages: the header and the chain of payloads (RFC 7296 sections 3.1 and 3.2). Pure; what the bodies hold is in bodies.ts. */

/** Section 3.1. */
export const EXCHANGE = { init: 34, auth: 35, child: 36, informational: 37 } as const;

/** Section 3.2; SKF of RFC 7383 section 2.5. */
export const PAYLOAD = {
  none: 0,
  sa: 33,
  ke: 34,
  idInitiator: 35,
  idResponder: 36,
  cert: 37,
  certRequest: 38,
  auth: 39,
  nonce: 40,
  notify: 41,
  delete: 42,
  vendor: 43,
  selectorInitiator: 44,
  selectorResponder: 45,
  sealed: 46,
  configuration: 47,
  eap: 48,
  fragment: 53,
} as const;

/** Types that RFC 7296 defines: a critical payload outside of them must be refused (section 2.5). */
const KNOWN_TYPES = { first: 33, last: 48 } as const;

export const HEADER_BYTES = 28;
/** Generic payload header, section 3.2. */
export const PAYLOAD_HEADER_BYTES = 4;
/** Major 2, minor 0. */
const VERSION = 0x20;
const FLAG_INITIATOR = 0x08;
const FLAG_RESPONSE = 0x20;
/** A UDP datagram holds no more. */
const MESSAGE_LIMIT_BYTES = 65_535;
/** Ours: gateways send at most about twenty with a long chain of certificates. */
const PAYLOAD_LIMIT = 64;

/** Bytes that are not IKEv2. The message says what is wrong and repeats no byte. */
export class IkeFormatError extends Error {
  override readonly name = "IkeFormatError";
}

export interface Header {
  /** 8 bytes. */
  readonly initiatorSpi: Buffer;
  /** 8 bytes; zeros in the first request. */
  readonly responderSpi: Buffer;
  readonly firstPayload: number;
  readonly majorVersion: number;
  readonly exchange: number;
  readonly isFromInitiator: boolean;
  readonly isResponse: boolean;
  readonly messageId: number;
}

export interface Payload {
  readonly type: number;
  readonly isCritical: boolean;
  /** Type of the payload behind it; of SK and SKF, which come last, of the first one inside. */
  readonly next: number;
  /** Without the generic header. */
  readonly body: Buffer;
}

/** A payload of ours. */
export interface NewPayload {
  readonly type: number;
  readonly body: Uint8Array;
}

/** @throws IkeFormatError */
export function decodeHeader(bytes: Uint8Array): Header {
  if (bytes.length < HEADER_BYTES) throw new IkeFormatError("shorter than a header");
  const message = bufferOf(bytes);
  if (message.readUInt32BE(24) !== message.length) throw new IkeFormatError("the header names another length");
  const flags = message.readUInt8(19);
  return {
    initiatorSpi: message.subarray(0, 8),
    responderSpi: message.subarray(8, 16),
    firstPayload: message.readUInt8(16),
    majorVersion: message.readUInt8(17) >> 4,
    exchange: message.readUInt8(18),
    isFromInitiator: (flags & FLAG_INITIATOR) !== 0,
    isResponse: (flags & FLAG_RESPONSE) !== 0,
    messageId: message.readUInt32BE(20),
  };
}

/** @param contentBytes what follows the header */
export function encodeHeader(header: Omit<Header, "majorVersion">, contentBytes: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.set(header.initiatorSpi, 0);
  bytes.set(header.responderSpi, 8);
  bytes.writeUInt8(header.firstPayload, 16);
  bytes.writeUInt8(VERSION, 17);
  bytes.writeUInt8(header.exchange, 18);
  bytes.writeUInt8((header.isFromInitiator ? FLAG_INITIATOR : 0) | (header.isResponse ? FLAG_RESPONSE : 0), 19);
  bytes.writeUInt32BE(header.messageId, 20);
  const sizeBytes = HEADER_BYTES + contentBytes;
  if (sizeBytes > MESSAGE_LIMIT_BYTES) throw new IkeFormatError("longer than a datagram");
  bytes.writeUInt32BE(sizeBytes, 24);
  return bytes;
}

/**
 * @param first type of the first payload
 * @param chain what follows the header, or what was inside SK
 * @throws IkeFormatError also for a critical payload of an unknown type
 */
export function decodeChain(first: number, chain: Uint8Array): readonly Payload[] {
  const bytes = bufferOf(chain);
  const payloads: Payload[] = [];
  let type = first;
  let offset = 0;
  while (type !== PAYLOAD.none) {
    if (payloads.length >= PAYLOAD_LIMIT) throw new IkeFormatError("too many payloads");
    if (bytes.length - offset < PAYLOAD_HEADER_BYTES) throw new IkeFormatError("a payload is cut off");
    const next = bytes.readUInt8(offset);
    const isCritical = (bytes.readUInt8(offset + 1) & 0x80) !== 0;
    const sizeBytes = bytes.readUInt16BE(offset + 2);
    if (sizeBytes < PAYLOAD_HEADER_BYTES || sizeBytes > bytes.length - offset) {
      throw new IkeFormatError("a payload's length is wrong");
    }
    if (isCritical && !isKnown(type)) throw new IkeFormatError(`payload ${type} is critical and unknown`);
    payloads.push({
      type,
      isCritical,
      next,
      body: bytes.subarray(offset + PAYLOAD_HEADER_BYTES, offset + sizeBytes),
    });
    offset += sizeBytes;
    // Nothing may follow SK or SKF: their "next" is of the first payload inside (section 3.14).
    if (type === PAYLOAD.sealed || type === PAYLOAD.fragment) break;
    type = next;
  }
  if (offset !== bytes.length) throw new IkeFormatError("bytes behind the last payload");
  return payloads;
}

export function encodeChain(payloads: readonly NewPayload[]): Buffer {
  return Buffer.concat(
    payloads.flatMap(({ body }, index) => {
      const header = Buffer.alloc(PAYLOAD_HEADER_BYTES);
      header.writeUInt8(payloads[index + 1]?.type ?? PAYLOAD.none, 0);
      header.writeUInt16BE(PAYLOAD_HEADER_BYTES + body.length, 2);
      return [header, body];
    }),
  );
}

/** A whole message that is not encrypted. */
export function encodeMessage(
  header: Omit<Header, "majorVersion" | "firstPayload">,
  payloads: readonly NewPayload[],
): Buffer {
  const chain = encodeChain(payloads);
  const firstPayload = payloads[0]?.type ?? PAYLOAD.none;
  return Buffer.concat([encodeHeader({ ...header, firstPayload }, chain.length), chain]);
}

export function bodyOf(payloads: readonly Payload[], type: number): Buffer | undefined {
  return payloads.find((payload) => payload.type === type)?.body;
}

/** @throws IkeFormatError when there is none */
export function requiredBody(payloads: readonly Payload[], type: number, what: string): Buffer {
  const body = bodyOf(payloads, type);
  if (body === undefined) throw new IkeFormatError(`it has no ${what}`);
  return body;
}

/** The same bytes as a Buffer, not copied. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isKnown(type: number): boolean {
  return (type >= KNOWN_TYPES.first && type <= KNOWN_TYPES.last) || type === PAYLOAD.fragment;
}
