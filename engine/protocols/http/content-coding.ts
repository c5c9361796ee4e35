/** Content codings of a body (RFC 9110 section 8.4), undone piece by piece and never further than a bound. */
import * as zlib from "node:zlib";

/** No real website stacks more codings than this. */
const CODINGS_LIMIT = 3;
/** A piece of decoded output, bytes; the bound on output is exact to the byte whatever this is. */
const PIECE_BYTES = 16 * 1024;

export interface Decoder {
  /** @returns whether more is wanted */
  push(bytes: Uint8Array): boolean;
  /**
   * Waits until everything pushed is decoded.
   * @param cut whether the input was cut by us, so that an unfinished stream is no fault
   * @throws zlib's error when the input is not what its coding says
   */
  end(cut: boolean): Promise<void>;
  /** Frees the native state; safe at any time. */
  close(): void;
}

type Stream = zlib.Gunzip;

/** Node 22.15 and later; absent from Node 20. */
const createZstd: unknown = Reflect.get(zlib, "createZstdDecompress");

export const ACCEPT_ENCODING = typeof createZstd === "function" ? "gzip, deflate, br, zstd" : "gzip, deflate, br";

/** @returns the codings to undo, last applied first; undefined when one of them is not known */
export function codingsOf(contentEncoding: string | null): readonly string[] | undefined {
  if (contentEncoding === null) return [];
  const codings = contentEncoding
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim().replace(/^x-gzip$/, "gzip"))
    .filter((coding) => coding !== "" && coding !== "identity")
    .reverse();
  const known = (coding: string) =>
    /^(?:gzip|deflate|br)$/.test(coding) || (coding === "zstd" && typeof createZstd === "function");
  return codings.length <= CODINGS_LIMIT && codings.every(known) ? codings : undefined;
}

/**
 * @param codings at least one, from codingsOf()
 * @param take gets the decoded pieces, together at most `limitBytes`
 */
export function decodeContent(codings: readonly string[], limitBytes: number, take: (piece: Buffer) => void): Decoder {
  let streams: readonly Stream[] | undefined;
  let failure: Error | undefined;
  let taken = 0;
  let settled = false;
  let settle: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    settle = resolve;
  });

  function finish(): void {
    if (settled) return;
    settled = true;
    for (const stream of streams ?? []) stream.destroy();
    settle();
  }

  function fail(error: Error): void {
    if (settled) return;
    failure = error;
    finish();
  }

  function open(first: Uint8Array): readonly Stream[] {
    const opened = codings.map((coding, index) => openStream(coding, index === 0 ? first[0] : undefined));
    opened.forEach((stream, index) => {
      stream.on("error", fail);
      const next = opened[index + 1];
      if (next !== undefined) stream.pipe(next);
    });
    const last = opened.at(-1);
    last?.on("data", (piece: Buffer) => {
      if (settled) return;
      const rest = limitBytes - taken;
      taken += Math.min(piece.length, rest);
      take(piece.length <= rest ? piece : piece.subarray(0, rest));
      if (taken >= limitBytes) finish();
    });
    last?.on("end", finish);
    return opened;
  }

  return {
    push(bytes) {
      if (settled || bytes.length === 0) return !settled;
      streams ??= open(bytes);
      // Copied: the socket's buffer is used again, zlib reads it later on another thread.
      streams[0]?.write(Buffer.from(bytes));
      return true;
    },
    async end(cut) {
      if (streams === undefined) return;
      if (!settled) streams[0]?.end();
      await finished;
      const unfinished =
        failure !== undefined && "code" in failure && /^(?:Z_BUF_ERROR|ERR_.*END|ZSTD_.*)$/.test(String(failure.code));
      if (failure !== undefined && !(cut && unfinished)) throw failure;
    },
    close: finish,
  };
}

/** @param firstByte of the coded bytes: tells deflate's two forms apart, zlib's header or none (RFC 9110 section 8.4.1.2) */
function openStream(coding: string, firstByte: number | undefined): Stream {
  const options = { chunkSize: PIECE_BYTES };
  if (coding === "gzip") return zlib.createGunzip(options);
  if (coding === "br") return zlib.createBrotliDecompress(options);
  if (coding === "zstd" && typeof createZstd === "function") return createZstd(options) as Stream;
  // The low four bits of zlib's first byte are 8, "deflate" (RFC 1950 section 2.2).
  const raw = firstByte !== undefined && (firstByte & 0x0f) !== 8;
  return (raw ? zlib.createInflateRaw(options) : zlib.createInflate(options)) as Stream;
}
