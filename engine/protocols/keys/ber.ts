/** BER (X.690 section 8) to DER as far as PKCS #12 files need it: some writers leave lengths open and cut octet strings into pieces. Pure. */
import { DER, encodeDer, readDer } from "../ikev2/der.ts";
import { KeyBoundError } from "./key-bounds.ts";

const MAX_DEPTH = 24;
const MAX_VALUES = 20_000;
/** An octet string made of others. */
const CUT_OCTETS = 0x24;

/** @returns the one value that the bytes begin with; what is behind it is left out. @throws KeyBoundError */
export function toDer(bytes: Buffer): Buffer {
  const reader = new BerReader(bytes);
  return reader.value(0, 0).der;
}

class BerReader {
  readonly #bytes: Buffer;
  #values = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  value(at: number, depth: number): { readonly der: Buffer; readonly endAt: number } {
    this.#values += 1;
    if (this.#values > MAX_VALUES) throw new KeyBoundError(`a PKCS #12 file of more than ${MAX_VALUES} values`);
    if (depth > MAX_DEPTH) throw new KeyBoundError(`a PKCS #12 file nested deeper than ${MAX_DEPTH} levels`);
    const tag = this.#bytes[at];
    const { contentAt, endAt } = this.#lengthAt(at);
    if (tag === undefined || (tag & 0x1f) === 0x1f) throw unreadable();
    if ((tag & 0x20) === 0) {
      if (endAt === null) throw unreadable();
      return { der: this.#bytes.subarray(at, endAt), endAt };
    }
    const { parts, nextAt } = this.#parts(contentAt, endAt, depth);
    const der = tag === CUT_OCTETS ? encodeDer(DER.octets, joined(parts)) : encodeDer(tag, Buffer.concat(parts));
    return { der, endAt: nextAt };
  }

  #parts(contentAt: number, endAt: number | null, depth: number): { parts: Buffer[]; nextAt: number } {
    const parts: Buffer[] = [];
    let at = contentAt;
    for (;;) {
      if (endAt !== null && at === endAt) return { parts, nextAt: at };
      if (endAt === null && this.#bytes[at] === 0 && this.#bytes[at + 1] === 0) return { parts, nextAt: at + 2 };
      const next = this.value(at, depth + 1);
      if (endAt !== null && next.endAt > endAt) throw unreadable();
      parts.push(next.der);
      at = next.endAt;
    }
  }

  /** endAt null: until two zeros. */
  #lengthAt(at: number): { readonly contentAt: number; readonly endAt: number | null } {
    const first = this.#bytes[at + 1];
    if (first === undefined) throw unreadable();
    if (first === 0x80) return { contentAt: at + 2, endAt: null };
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    if (lengthBytes > 4 || at + 2 + lengthBytes > this.#bytes.length) throw unreadable();
    const length = lengthBytes === 0 ? first : this.#bytes.readUIntBE(at + 2, lengthBytes);
    const contentAt = at + 2 + lengthBytes;
    if (contentAt + length > this.#bytes.length) throw unreadable();
    return { contentAt, endAt: contentAt + length };
  }
}

/** One octet string's content of its pieces'. */
function joined(parts: readonly Buffer[]): Buffer {
  const pieces = readDer(Buffer.concat(parts)) ?? [];
  if (pieces.some(({ tag }) => tag !== DER.octets)) throw unreadable();
  return Buffer.concat(pieces.map(({ content }) => content));
}

function unreadable(): KeyBoundError {
  return new KeyBoundError("a PKCS #12 file that cannot be read", true);
}
