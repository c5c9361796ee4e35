/**
 * WireGuard's messages (paper section 5.4): layouts, and how they lie in datagrams. Pure. AmneziaWG changes only the latter, so what reads
 * a message here never looks at its type: the framing has found that out.
 */

/** Integers are little-endian. */
export const INITIATION = {
  bytes: 148,
  sender: 4,
  ephemeral: 8,
  staticKey: 40,
  timestamp: 88,
  mac1: 116,
  mac2: 132,
} as const;
export const RESPONSE = { bytes: 92, sender: 4, receiver: 8, ephemeral: 12, nothing: 44, mac1: 60, mac2: 76 } as const;
export const COOKIE_REPLY = { bytes: 64, receiver: 4, nonce: 8, cookie: 32 } as const;
export const TRANSPORT = { headerBytes: 16, receiver: 4, counter: 8, leastBytes: 32 } as const;

export type MessageKind = "initiation" | "response" | "cookie" | "transport";

/** What a client may be sent, from its type field on; trailing bytes that are not the message's are cut off. */
export interface Framed {
  readonly kind: Exclude<MessageKind, "initiation">;
  readonly message: Uint8Array;
}

/** How messages lie in datagrams. */
export interface Framing {
  /** Datagrams that go before each initiation and that no server looks at. */
  preamble(): readonly Uint8Array[];
  /** The type field of a message to be sent, 32 bits: it is part of what the MACs cover. */
  header(kind: "initiation" | "transport"): number;
  wrap(kind: "initiation" | "transport", message: Uint8Array): Uint8Array;
  /** What a datagram may be, likeliest first; empty when it is none of ours. */
  unwrap(datagram: Uint8Array): readonly Framed[];
  /** Its last bytes as a message of this size, whatever number stands in the place of the type; fewer where it is shorter. */
  ending(datagram: Uint8Array, sizeBytes: number): Uint8Array;
  /** Zero bytes that go behind an inner packet, beyond the padding to 16. */
  extraPadding(): number;
}

const TYPES = { initiation: 1, response: 2, cookie: 3, transport: 4 } as const;

/**
 * WireGuard's own: a datagram is a message.
 * @param reserved three bytes that some providers want in the place of the type's zeros, put there after the MACs were made
 */
export function plainFraming(reserved: Uint8Array | null = null): Framing {
  return reserved === null ? PLAIN : framingWith(reserved);
}

const PLAIN = framingWith(null);

function framingWith(reserved: Uint8Array | null): Framing {
  return {
    preamble: () => [],
    header: (kind) => TYPES[kind],
    wrap(_kind, message) {
      if (reserved !== null) message.set(reserved, 1);
      return message;
    },
    unwrap(datagram) {
      const kind = kindOf(datagram, reserved !== null);
      if (kind === undefined) return [];
      if (reserved === null) return [{ kind, message: datagram }];
      const message = Uint8Array.from(datagram);
      message.fill(0, 1, 4);
      return [{ kind, message }];
    },
    ending: (datagram, sizeBytes) => datagram.subarray(-sizeBytes),
    extraPadding: () => 0,
  };
}

function kindOf(datagram: Uint8Array, isReservedUsed: boolean): Framed["kind"] | undefined {
  if (datagram.length < TRANSPORT.leastBytes) return undefined;
  const type = isReservedUsed ? datagram[0] : uint32At(datagram, 0);
  if (type === TYPES.transport) return "transport";
  if (type === TYPES.response && datagram.length === RESPONSE.bytes) return "response";
  if (type === TYPES.cookie && datagram.length === COOKIE_REPLY.bytes) return "cookie";
  return undefined;
}

export function uint32At(bytes: Uint8Array, offset: number): number {
  return (
    ((bytes[offset] ?? 0) |
      ((bytes[offset + 1] ?? 0) << 8) |
      ((bytes[offset + 2] ?? 0) << 16) |
      ((bytes[offset + 3] ?? 0) << 24)) >>>
    0
  );
}

export function setUint32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value & 255;
  bytes[offset + 1] = (value >>> 8) & 255;
  bytes[offset + 2] = (value >>> 16) & 255;
  bytes[offset + 3] = value >>> 24;
}
