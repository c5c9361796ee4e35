/** Content codings of a body (RFC 9110 section 8.4), undone piece by piece and never further than a bound. */
import * as zlib from "node:zlib";

/** No real website stacks more codings than this. */
const CODINGS_LIMIT = 3;
/** A piece of decoded output, bytes; the bound on output is exact to the byte whatever this is. */
const PIECE_BYTES = 16 * 1024;
/**
 * What one coding may make for the next, as a multiple of the bound on output: each coding is undone by the one behind it, so what is within the bound
 * needs no more. Without it a megabyte in three codings of which the last gives nothing is a terabyte between them.
 */
const MOST_BETWEEN = 2;

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

/**
 * IANA's registry of content codings. Servers also write there what is none, such as `none` or `UTF-8`, and send the text as it is; clients pass it over
 * (Chromium, net/url_request/url_request_http_job.cc).
 */
const REGISTERED: ReadonlySet<string> = new Set(
  "aes128gcm br compress dcb dcz deflate exi gzip pack200-gzip x-compress zstd".split(" "),
);

/** @returns the codings to undo, last applied first; undefined when one of them is not known here */
export function codingsOf(contentEncoding: string | null): readonly string[] | undefined {
  if (contentEncoding === null) return [];
  const codings = contentEncoding
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim().replace(/^x-gzip$/, "gzip"))
    .filter((coding) => REGISTERED.has(coding))
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
  return new ContentDecoder(codings, limitBytes, take);
}

class ContentDecoder implements Decoder {
  readonly #codings: readonly string[];
  readonly #limitBytes: number;
  readonly #take: (piece: Buffer) => void;
  readonly #finished: Promise<void>;
  #settle: () => void = () => {};
  #streams: readonly Stream[] | undefined;
  #failure: Error | undefined;
  #takenBytes = 0;
  #isSettled = false;

  constructor(codings: readonly string[], limitBytes: number, take: (piece: Buffer) => void) {
    this.#codings = codings;
    this.#limitBytes = limitBytes;
    this.#take = take;
    this.#finished = new Promise<void>((resolve) => {
      this.#settle = resolve;
    });
  }

  push(bytes: Uint8Array): boolean {
    if (this.#isSettled || bytes.length === 0) return !this.#isSettled;
    this.#streams ??= this.#open(bytes);
    // Copied: the socket's buffer is used again, zlib reads it later on another thread.
    this.#streams[0]?.write(Buffer.from(bytes));
    return true;
  }

  async end(cut: boolean): Promise<void> {
    if (this.#streams === undefined) return;
    if (!this.#isSettled) this.#streams[0]?.end();
    await this.#finished;
    const failure = this.#failure;
    const isUnfinished =
      failure !== undefined && "code" in failure && /^(?:Z_BUF_ERROR|ERR_.*END|ZSTD_.*)$/.test(String(failure.code));
    if (failure !== undefined && !(cut && isUnfinished)) throw failure;
  }

  close(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    for (const stream of this.#streams ?? []) stream.destroy();
    this.#settle();
  }

  #fail(error: Error): void {
    if (this.#isSettled) return;
    this.#failure = error;
    this.close();
  }

  #open(first: Uint8Array): readonly Stream[] {
    const opened = this.#codings.map((coding, index) => openStream(coding, index === 0 ? first[0] : undefined));
    opened.forEach((stream, index) => {
      stream.on("error", (error: Error) => this.#fail(error));
      const next = opened[index + 1];
      if (next === undefined) return;
      this.#bound(stream);
      stream.pipe(next);
    });
    const last = opened.at(-1);
    last?.on("data", (piece: Buffer) => this.#onData(piece));
    last?.on("end", () => this.close());
    return opened;
  }

  #bound(stream: Stream): void {
    let leftBytes = MOST_BETWEEN * this.#limitBytes + PIECE_BYTES;
    stream.on("data", (piece: Buffer) => {
      leftBytes -= piece.length;
      if (leftBytes < 0) this.#fail(new Error("one coding gives too much for the next"));
    });
  }

  #onData(piece: Buffer): void {
    if (this.#isSettled) return;
    const restBytes = this.#limitBytes - this.#takenBytes;
    this.#takenBytes += Math.min(piece.length, restBytes);
    this.#take(piece.length <= restBytes ? piece : piece.subarray(0, restBytes));
    if (this.#takenBytes >= this.#limitBytes) this.close();
  }
}

/** @param firstByte of the coded bytes: distinguishes deflate's two forms, with zlib's header or none (RFC 9110 section 8.4.1.2) */
function openStream(coding: string, firstByte: number | undefined): Stream {
  const options = { chunkSize: PIECE_BYTES };
  if (coding === "gzip") return zlib.createGunzip(options);
  if (coding === "br") return zlib.createBrotliDecompress(options);
  if (coding === "zstd" && typeof createZstd === "function") return createZstd(options) as Stream;
  // The low four bits of zlib's first byte are 8, "deflate" (RFC 1950 section 2.2).
  const raw = firstByte !== undefined && (firstByte & 0x0f) !== 8;
  return (raw ? zlib.createInflateRaw(options) : zlib.createInflate(options)) as Stream;
}
