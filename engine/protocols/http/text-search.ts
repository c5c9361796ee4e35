/** Looks for a text in bytes that come in pieces; only as much is kept as a match can straddle. */
import { TextDecoder } from "node:util";

export interface TextSearch {
  /** Once true it stays true. */
  readonly found: boolean;
  push(bytes: Uint8Array): void;
  /** No more bytes come. */
  end(): void;
}

/** @param charset the Content-Type's, null for UTF-8 */
export function searchText(text: string, charset: string | null): TextSearch {
  const decoder = decoderFor(charset);
  return decoder === undefined ? searchBytes(Buffer.from(text, "utf8")) : searchDecoded(text, decoder);
}

/** `charset` of a Content-Type value (RFC 9110 section 8.3); null when it names none. */
export function charsetOf(contentType: string | null): string | null {
  if (contentType === null) return null;
  const match = /;[\t ]*charset[\t ]*=[\t ]*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType);
  return match?.[1] ?? match?.[2] ?? null;
}

/** UTF-8 is searched as bytes: a text occurs in it exactly where its bytes do. */
function searchBytes(needle: Buffer): TextSearch {
  let found = false;
  let tail = Buffer.alloc(0);
  return {
    get found() {
      return found;
    },
    push(bytes) {
      if (found || bytes.length === 0) return;
      const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (tail.length > 0) {
        // The seam: what was kept and as much of the new piece as a match could reach into.
        const seam = Buffer.concat([tail, piece.subarray(0, needle.length - 1)]);
        if (seam.includes(needle)) {
          found = true;
          return;
        }
      }
      found = piece.includes(needle);
      if (found || needle.length === 1) return;
      const kept = needle.length - 1;
      // Copied, because the piece belongs to the socket.
      tail = piece.length >= kept ? Buffer.from(piece.subarray(-kept)) : Buffer.concat([tail, piece]).subarray(-kept);
    },
    end() {},
  };
}

function searchDecoded(text: string, decoder: TextDecoder): TextSearch {
  let found = false;
  let tail = "";
  function look(piece: string): void {
    const window = tail + piece;
    found ||= window.includes(text);
    tail = text.length === 1 ? "" : window.slice(-(text.length - 1));
  }
  return {
    get found() {
      return found;
    },
    push(bytes) {
      if (!found) look(decoder.decode(bytes, { stream: true }));
    },
    end() {
      if (!found) look(decoder.decode());
    },
  };
}

/** @param charset the Content-Type's, null for UTF-8 */
export function textOf(bytes: Uint8Array, charset: string | null): string {
  return (decoderFor(charset) ?? new TextDecoder()).decode(bytes);
}

/** Undefined for UTF-8 and for unknown labels (Encoding Standard labels; Node's ICU has all of them). */
function decoderFor(charset: string | null): TextDecoder | undefined {
  if (charset === null) return undefined;
  try {
    const decoder = new TextDecoder(charset.trim());
    return decoder.encoding === "utf-8" ? undefined : decoder;
  } catch {
    return undefined;
  }
}
