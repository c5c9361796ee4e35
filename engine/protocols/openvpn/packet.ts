/**
 * OpenVPN's outer framing: opcodes, control packets, and packets in a stream (openvpn ssl_pkt.h; wire protocol draft, "Packet formats"). Pure.
 * Bytes are untrusted: what does not match its own lengths is no packet.
 */

export const OPCODE = {
  softReset: 3,
  control: 4,
  ack: 5,
  dataV1: 6,
  clientReset: 7,
  serverReset: 8,
  dataV2: 9,
  clientResetV3: 10,
  controlWithKey: 11,
} as const;

export const SESSION_ID_BYTES = 8;
/** Opcode with key id, then the session id: what stays readable under every protection. */
export const CONTROL_HEADER_BYTES = 1 + SESSION_ID_BYTES;
/** A packet from the network of 2.6's `tls-mtu` and more; a stream's length field allows no more than this. */
const MAX_PACKET_BYTES = 65_535;
const MAX_ACKS = 255;

export interface ControlPacket {
  readonly opcode: number;
  readonly keyId: number;
  readonly sessionId: Buffer;
  readonly acks: readonly number[];
  /** Whose packets are acknowledged; null when none are. */
  readonly remoteSessionId: Buffer | null;
  /** null in packets that only acknowledge. */
  readonly messageId: number | null;
  readonly payload: Buffer;
}

/** Of any packet, by its first byte. */
export function opcodeOf(packet: Uint8Array): number {
  return (packet[0] ?? 0) >>> 3;
}

function keyIdOf(packet: Uint8Array): number {
  return (packet[0] ?? 0) & 7;
}

export function isData(opcode: number): boolean {
  return opcode === OPCODE.dataV1 || opcode === OPCODE.dataV2;
}

export function encodeControlHeader(opcode: number, sessionId: Buffer): Buffer {
  return Buffer.concat([Buffer.of(opcode << 3), sessionId]);
}

/** What follows the header, and is what tls-crypt encrypts. */
export function encodeControlBody({
  acks,
  remoteSessionId,
  messageId,
  payload,
}: Pick<ControlPacket, "acks" | "remoteSessionId" | "messageId" | "payload">): Buffer {
  const parts: Buffer[] = [Buffer.of(acks.length), ...acks.map(uint32)];
  if (acks.length > 0 && remoteSessionId !== null) parts.push(remoteSessionId);
  if (messageId !== null) parts.push(uint32(messageId), payload);
  return Buffer.concat(parts);
}

/** @returns undefined when it is none */
export function decodeControl(header: Buffer, body: Buffer): ControlPacket | undefined {
  if (header.length !== CONTROL_HEADER_BYTES || body.length < 1) return undefined;
  const opcode = opcodeOf(header);
  const count = body.readUInt8(0);
  const hasMessage = opcode !== OPCODE.ack;
  const acksEnd = 1 + 4 * count;
  const bodyEnd = acksEnd + (count > 0 ? SESSION_ID_BYTES : 0);
  if (count > MAX_ACKS || body.length < bodyEnd + (hasMessage ? 4 : 0)) return undefined;
  return {
    opcode,
    keyId: keyIdOf(header),
    sessionId: header.subarray(1),
    acks: Array.from({ length: count }, (_, index) => body.readUInt32BE(1 + 4 * index)),
    remoteSessionId: count > 0 ? body.subarray(acksEnd, bodyEnd) : null,
    messageId: hasMessage ? body.readUInt32BE(bodyEnd) : null,
    payload: hasMessage ? body.subarray(bodyEnd + 4) : Buffer.alloc(0),
  };
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

/** Over TCP each packet has its length before it. */
export function encodeFrame(packet: Uint8Array): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Math.min(packet.length, MAX_PACKET_BYTES));
  return Buffer.concat([length, packet]);
}

/** Cuts a stream into packets, whatever pieces it comes in. Holds no more than one packet and one piece. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  push(piece: Uint8Array): readonly Buffer[] {
    this.#rest = this.#rest.length === 0 ? Buffer.from(piece) : Buffer.concat([this.#rest, piece]);
    const packets: Buffer[] = [];
    let at = 0;
    while (this.#rest.length - at >= 2) {
      const end = at + 2 + this.#rest.readUInt16BE(at);
      if (this.#rest.length < end) break;
      packets.push(this.#rest.subarray(at + 2, end));
      at = end;
    }
    this.#rest = this.#rest.subarray(at);
    return packets;
  }
}
