/**
 * Standard output that holds nothing up: a reader that pauses (`| less`) stops the feeding of checks, not the thread that serves those
 * in flight, and one that goes away (`| head`) ends the run.
 */
import { write } from "node:fs";
import { Writable } from "node:stream";

export interface Output {
  write(text: string): void;
  /** Resolves when what was written is not piling up. */
  ready(): Promise<void>;
  /** Everything is written. */
  close(): Promise<void>;
}

/** Waiting for the reader, bytes. */
const HIGH_WATER = 1024 * 1024;
/** Between two tries where the reader has no room, ms. */
const FULL_PAUSE_MS = 5;

/** @param onEnd called once, when nothing more can be written: the reader has gone (EPIPE), the disk is full */
export function openOutput(descriptor: number, onEnd: (error: NodeJS.ErrnoException) => void): Output {
  // Writes to process.stdout are synchronous where it is a pipe.
  const stream = new Writable({
    decodeStrings: true,
    highWaterMark: HIGH_WATER,
    write: (chunk: Buffer, _encoding, done) => writeAll(descriptor, chunk, done),
    writev: (chunks, done) => writeAll(descriptor, Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
  });
  let isGone = false;
  let wake = (): void => {};
  stream.on("drain", () => wake());
  stream.on("error", (error) => {
    if (!isGone) onEnd(error);
    isGone = true;
    wake();
  });
  return {
    write(text) {
      if (!isGone && text !== "") stream.write(text);
    },
    async ready() {
      while (stream.writableNeedDrain && !isGone) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    close: () =>
      new Promise((resolve) => {
        if (isGone) return resolve();
        stream.once("error", () => resolve());
        stream.end(() => resolve());
      }),
  };
}

/**
 * Node makes a pipe or socket non-blocking when process.stdout is looked at; a reader that is slower than we are is then EAGAIN, for as long as
 * it likes (write(2)). fs.WriteStream gives up after the fifth.
 */
function writeAll(descriptor: number, bytes: Buffer, done: (error?: Error | null) => void): void {
  write(descriptor, bytes, (error, writtenBytes) => {
    if (error !== null && error.code !== "EAGAIN") return done(error);
    const rest = bytes.subarray(error === null ? writtenBytes : 0);
    if (rest.length === 0) return done();
    setTimeout(() => writeAll(descriptor, rest, done), error === null ? 0 : FULL_PAUSE_MS);
  });
}
