/**
 * Frames of a spool segment: one per batch, so that a torn or damaged batch is recognised and none of its rows is used.
 *
 *   magic u32 · CRC-32 u32 · payload bytes u32 · rows u32 · first sequence number u64 · payload      (little endian)
 *
 * The CRC covers everything behind it. The payload is NDJSON; the magic begins with a control byte, which JSON text never contains, so a
 * search for the next frame behind damage cannot stop inside a row.
 */
import { crc32 } from "node:zlib";

const MAGIC = Buffer.from([0x1e, 0x53, 0x70, 0x31]);
const HEADER_BYTES = 24;
const CRC_FROM = 8;
const NEWLINE = 0x0a;

export interface Frame {
  readonly firstSeq: number;
  readonly rows: number;
  /** Lines, each with its newline. */
  readonly payload: Buffer;
}

export interface DecodedSegment {
  readonly frames: readonly Frame[];
  /** End of the last whole frame. */
  readonly validBytes: number;
  /** Something between two whole frames could not be read. */
  readonly isDamaged: boolean;
}

/** Room of empty lines, bytes. */
const FIRST_BYTES = 16 * 1024;
/** Emptied lines keep this much room, bytes: a batch at full speed has 1.5 MiB. What they grew to while a store was away is given back. */
const MOST_KEPT_BYTES = 4 * 1024 ** 2;
/** UTF-8 needs this many bytes at most for a unit of UTF-16. */
const BYTES_PER_UNIT = 3;

/**
 * Lines that wait for their frame, as its bytes. Thousands of them come in a second. As strings they would outlive V8's young heap before
 * their batch is written, and be collected with the old one, which costs several times as much. Bytes in a buffer that is used again are
 * never garbage.
 */
export class FrameLines {
  /** Room for the header, then the lines, each with its newline. */
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #end = HEADER_BYTES;
  #count = 0;

  static of(lines: readonly string[]): FrameLines {
    const all = new FrameLines();
    for (const line of lines) all.add(line);
    return all;
  }

  get count(): number {
    return this.#count;
  }

  /** @param line without a newline */
  add(line: string): void {
    this.#makeRoom(line.length * BYTES_PER_UNIT + 1);
    this.#end += this.#bytes.write(line, this.#end);
    this.#bytes[this.#end] = NEWLINE;
    this.#end += 1;
    this.#count += 1;
  }

  /** As they were added: for readers that are rare. */
  texts(): string[] {
    return textsOf(this.#bytes.subarray(HEADER_BYTES, this.#end));
  }

  /**
   * A frame without its number: numberFrame() completes it. It shares the bytes of the lines, so they must not change until it is written.
   * @throws TypeError when a line holds a newline
   */
  frame(): Buffer {
    const frame = this.#bytes.subarray(0, this.#end);
    MAGIC.copy(frame, 0);
    frame.writeUInt32LE(this.#end - HEADER_BYTES, 8);
    frame.writeUInt32LE(this.#count, 12);
    if (newlinesIn(frame) !== this.#count) throw new TypeError("a line of the spool holds a newline");
    return frame;
  }

  clear(): void {
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(FIRST_BYTES);
    this.#end = HEADER_BYTES;
    this.#count = 0;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, Math.ceil(this.#bytes.length * 1.5)));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** @param lines at least one. @throws TypeError when a line holds a newline */
export function encodeFrame(firstSeq: number, lines: readonly string[]): Buffer {
  return numberFrame(FrameLines.of(lines).frame(), firstSeq);
}

function newlinesIn(frame: Buffer): number {
  let count = 0;
  for (let at = frame.indexOf(NEWLINE, HEADER_BYTES); at !== -1; at = frame.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/** @param firstSeq of its first row. @returns the same frame, complete */
export function numberFrame(frame: Buffer, firstSeq: number): Buffer {
  frame.writeBigUInt64LE(BigInt(firstSeq), 16);
  frame.writeUInt32LE(crc32(frame.subarray(CRC_FROM)), 4);
  return frame;
}

/** Every whole frame in order; what is torn or damaged is passed over. Never throws. */
export function decodeFrames(bytes: Buffer): DecodedSegment {
  const frames: Frame[] = [];
  let validBytes = 0;
  let isDamaged = false;
  let lastSeq = 0;
  for (let at = bytes.indexOf(MAGIC); at !== -1; ) {
    const frame = frameAt(bytes, at);
    if (frame === undefined || frame.firstSeq <= lastSeq) {
      at = bytes.indexOf(MAGIC, at + 1);
      continue;
    }
    if (at !== validBytes) isDamaged = true;
    frames.push(frame);
    lastSeq = frame.firstSeq + frame.rows - 1;
    validBytes = at + HEADER_BYTES + frame.payload.length;
    at = bytes.indexOf(MAGIC, validBytes);
  }
  return { frames, validBytes, isDamaged };
}

function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (at + HEADER_BYTES > bytes.length) return undefined;
  const end = at + HEADER_BYTES + bytes.readUInt32LE(at + 8);
  if (end > bytes.length) return undefined;
  if (crc32(bytes.subarray(at + CRC_FROM, end)) !== bytes.readUInt32LE(at + 4)) return undefined;
  const rows = bytes.readUInt32LE(at + 12);
  const firstSeq = Number(bytes.readBigUInt64LE(at + 16));
  if (rows === 0 || !Number.isSafeInteger(firstSeq + rows)) return undefined;
  return { firstSeq, rows, payload: bytes.subarray(at + HEADER_BYTES, end) };
}

/**
 * One after the other, moved together within the bytes that they were decoded from: a copy would be a whole segment more in memory.
 * @param frames of one decodeFrames(), whose bytes are not used any more
 */
export function joinPayloads(frames: readonly Frame[]): Buffer {
  const [first, last] = [frames[0]?.payload, frames.at(-1)?.payload];
  if (first === undefined || last === undefined) return Buffer.alloc(0);
  const all = Buffer.from(first.buffer, first.byteOffset, last.byteOffset + last.length - first.byteOffset);
  let end = 0;
  for (const { payload } of frames) end += payload.copy(all, end);
  return all.subarray(0, end);
}

export function linesOf(frame: Frame): string[] {
  return textsOf(frame.payload);
}

/** @param payload lines, each with its newline */
function textsOf(payload: Buffer): string[] {
  const lines = payload.toString("utf8").split("\n");
  lines.pop();
  return lines;
}

/** How a line says that its row changed no status. Inside a JSON string the quotes would be escaped. */
const UNCHANGED = '"changed":0';

/** Whether a row stays. */
export type Keep = (line: string, seq: number) => boolean;

/** Rows that changed a status. */
export const isChange: Keep = (line) => !line.includes(UNCHANGED);

/** The frames without some of their rows; each run of kept rows becomes a frame, so that sequence numbers stay exact. */
export function keepRows(frames: readonly Frame[], keep: Keep): { readonly bytes: Buffer; readonly rows: number } {
  const kept: Buffer[] = [];
  let rows = 0;
  for (const frame of frames) {
    let run: string[] = [];
    const endRun = (nextSeq: number) => {
      if (run.length > 0) kept.push(encodeFrame(nextSeq - run.length, run));
      rows += run.length;
      run = [];
    };
    let seq = frame.firstSeq;
    for (const line of linesOf(frame)) {
      if (keep(line, seq)) run.push(line);
      else endRun(seq);
      seq += 1;
    }
    endRun(seq);
  }
  return { bytes: Buffer.concat(kept), rows };
}
