/**
 * How AmneziaWG lays WireGuard's messages into datagrams: junk and signature packets before an initiation, random bytes before a message,
 * other numbers in the place of its type, and in 3.x a stream cipher over its head. Pure.
 */
import { chacha20 } from "@noble/ciphers/chacha.js";
import { COOKIE_REPLY, type Framed, type Framing, RESPONSE, TRANSPORT, uint32At } from "../wireguard/message.ts";
import { type AmneziaParams, junkBytesOf, type Range } from "./params.ts";
import { encodeSignature } from "./tags.ts";

const NONCE_BYTES = 12;

export interface FramingDeps {
  readonly randomBytes: (sizeBytes: number) => Uint8Array;
  /** Unix ms. */
  readonly wallNowMs: () => number;
}

export function createFraming(params: AmneziaParams, deps: FramingDeps): Framing {
  const { padding, headers, headerProtectionKey: key } = params;
  const junkBytes = junkBytesOf(params);
  let signaturesSent = 0;

  function within({ first, last }: Range): number {
    return first + Math.floor((uint32At(deps.randomBytes(4), 0) / 0x1_0000_0000) * (last - first + 1));
  }

  /** @returns the message of this kind after `skip` bytes, with its header decoded; empty when it is another kind */
  function read(datagram: Uint8Array, kind: Framed["kind"], skip: number, sizeBytes: number, header: Range) {
    const isLongEnough = datagram.length >= skip + sizeBytes;
    const isExact = kind === "transport" || params.hasTrailers || datagram.length === skip + sizeBytes;
    if (!isLongEnough || !isExact) return [];
    const end = kind === "transport" ? datagram.length : skip + sizeBytes;
    const hidden = kind === "transport" ? TRANSPORT.headerBytes : sizeBytes;
    const message = key === null ? datagram.subarray(skip, end) : uncovered(datagram, skip, end, hidden, key);
    const type = uint32At(message, 0);
    return type >= header.first && type <= header.last ? [{ kind, message }] : [];
  }

  return {
    preamble() {
      const unixS = Math.floor(deps.wallNowMs() / 1_000);
      const signed = params.signatures.map((packet) =>
        encodeSignature(packet, params.wordBytes, {
          randomBytes: deps.randomBytes,
          unixS,
          counter: signaturesSent++,
        }),
      );
      const junk = Array.from({ length: params.junk.count }, () => deps.randomBytes(within(junkBytes)));
      return [...signed, ...junk].filter(({ length }) => length > 0);
    },
    header: (kind) => within(headers[kind]),
    wrap(kind, message) {
      const skip = padding[kind];
      const datagram = new Uint8Array(skip + message.length);
      datagram.set(deps.randomBytes(skip));
      datagram.set(message, skip);
      if (key === null) return datagram;
      const hidden = kind === "transport" ? TRANSPORT.headerBytes : message.length;
      datagram.set(uncovered(datagram, skip, skip + hidden, hidden, key), skip);
      return datagram;
    },
    /** Several types can have the same size: handshakes first, then data; the reader tries them in this order. */
    unwrap: (datagram) => [
      ...read(datagram, "response", padding.response, RESPONSE.bytes, headers.response),
      ...read(datagram, "cookie", padding.cookie, COOKIE_REPLY.bytes, headers.cookie),
      ...read(datagram, "transport", padding.transport, TRANSPORT.leastBytes, headers.transport),
    ],
    ending(datagram, sizeBytes) {
      const start = datagram.length - sizeBytes;
      const isCovered = key !== null && start >= NONCE_BYTES;
      return isCovered ? uncovered(datagram, start, datagram.length, sizeBytes, key) : datagram.subarray(-sizeBytes);
    },
    extraPadding: () => within(params.contentPadding),
  };
}

/** Covering and uncovering are the same: the first bytes under ChaCha20 with the padding's first 12 as nonce, the rest as it is. */
function uncovered(datagram: Uint8Array, start: number, end: number, hiddenBytes: number, key: Uint8Array): Uint8Array {
  // Not slice(): of a Buffer that is a view, and the datagram may be read in other ways too.
  const message = Uint8Array.from(datagram.subarray(start, end));
  message.set(chacha20(key, Uint8Array.from(datagram.subarray(0, NONCE_BYTES)), message.subarray(0, hiddenBytes)));
  return message;
}

/** Explains an answer that these settings cannot read. */
export function explainAnswer({ padding }: AmneziaParams, answer: "response" | "cookie", sizeBytes: number): string {
  const isResponse = answer === "response";
  const [name, own] = isResponse ? (["2", padding.response] as const) : (["3", padding.cookie] as const);
  const there = sizeBytes - (isResponse ? RESPONSE.bytes : COOKIE_REPLY.bytes);
  return there === own ? `H${name} is another there` : `S${name} is ${there} there, and ${own} here`;
}
