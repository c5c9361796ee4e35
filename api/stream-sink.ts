/** What of a stream waits for its reader: how much, and for how long. The same before both servers. */
import type { StreamSink } from "./http.ts";

/** What may wait for a reader, bytes; a stream with more ends. */
export const MAX_WAITING_BYTES = 1_048_576;
/** What goes to the server in one piece: beyond it, what the reader does not take would wait there, where nothing counts it. */
const MAX_PIECE_BYTES = 65_536;

/** A connection that takes a stream, as a server has it. */
export interface Pipe {
  /** @returns false when the reader takes no more; then the server calls `writable()` when it does */
  send(bytes: string | Uint8Array): boolean;
  /** Ends the answer and the connection behind what was sent. */
  end(): void;
  /** Ends the connection at once. */
  cut(): void;
}

type Phase = "open" | "ending" | "ended";

export class PipedSink implements StreamSink {
  readonly #pipe: Pipe;
  readonly #stallTimeoutMs: number;
  #phase: Phase = "open";
  #isBlocked = false;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #stalled: NodeJS.Timeout | null = null;
  #drained: (() => void) | null = null;
  #stop: (() => void) | null = null;

  constructor(pipe: Pipe, stallTimeoutMs: number) {
    this.#pipe = pipe;
    this.#stallTimeoutMs = stallTimeoutMs;
  }

  /** @param stop what open() gave: called once, when the stream has ended, which may be now */
  onEnd(stop: () => void): void {
    if (this.#phase === "ended") stop();
    else this.#stop = stop;
  }

  get full(): boolean {
    return this.#phase !== "open" || this.#isBlocked;
  }

  onDrain(drained: () => void): void {
    this.#drained = drained;
  }

  write(text: string): boolean {
    if (this.#phase !== "open" || text === "") return !this.full;
    // A third of the bound: no character is longer than three bytes of UTF-8 for each unit of the string.
    if (!this.#isBlocked && text.length * 3 <= MAX_PIECE_BYTES) {
      if (!this.#pipe.send(text)) this.#block();
      return !this.#isBlocked;
    }
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; from += MAX_PIECE_BYTES) {
      this.#waiting.push(bytes.subarray(from, from + MAX_PIECE_BYTES));
    }
    this.#waitingBytes += bytes.length;
    this.#flush();
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.cut();
    return !this.full;
  }

  end(): void {
    if (this.#phase !== "open") return;
    this.#phase = "ending";
    this.#finishIfSent();
  }

  /** The server stops. What a slow reader has not taken is lost: it asks again anyway. */
  leave(farewell: string): void {
    if (this.#phase === "open") this.write(farewell);
    this.end();
    this.cut();
  }

  /** The reader takes more. */
  writable(): void {
    if (this.#phase === "ended") return;
    this.#isBlocked = false;
    this.#flush();
    if (this.#isBlocked) return;
    if (this.#stalled !== null) clearTimeout(this.#stalled);
    this.#stalled = null;
    if (this.#phase === "ending") this.#finishIfSent();
    else this.#drained?.();
  }

  cut(): void {
    if (this.#phase === "ended") return;
    this.gone();
    this.#pipe.cut();
  }

  /** The connection has ended. */
  gone(): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    if (this.#stalled !== null) clearTimeout(this.#stalled);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#drained = null;
    const stop = this.#stop;
    this.#stop = null;
    stop?.();
  }

  #block(): void {
    this.#isBlocked = true;
    // Until everything was taken: a reader that takes a byte now and then does not catch up.
    this.#stalled ??= setTimeout(() => this.cut(), this.#stallTimeoutMs);
  }

  #flush(): void {
    let sent = 0;
    for (const piece of this.#waiting) {
      if (this.#isBlocked) break;
      if (!this.#pipe.send(piece)) this.#block();
      this.#waitingBytes -= piece.length;
      sent += 1;
    }
    this.#waiting.splice(0, sent);
  }

  #finishIfSent(): void {
    if (this.#waiting.length > 0) return;
    this.gone();
    this.#pipe.end();
  }
}

/** For a reader that is gone before its stream began. */
export const CLOSED_SINK: StreamSink = {
  write: () => false,
  full: true,
  onDrain() {},
  end() {},
};
