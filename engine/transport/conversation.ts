/** A conversation over a stream: the client sends a command, and reads until the protocol says that the answer is whole. */
import type { Socket } from "node:net";
import { type Abortable, faultOfAbort, NetworkFault } from "../net/fault.ts";
import { AnswerFormatError, type ReadAnswer } from "../protocols/answer.ts";

/**
 * Pieces in which one answer may come. Each is read together with those before it, so their number bounds what a server that sends single bytes can
 * cost; our choice: mail servers write a reply at once, or a line at a time.
 */
const PIECES = 256;
/** The other side has ended the connection before its answer was whole. */
const ENDED = "The server closed the connection before its answer was complete";

interface Reading {
  take(): void;
  fail(error: Error): void;
}

/** One reader of a socket at a time. The socket's opener destroys it when the check ends, which ends a read with that fault. */
export class Conversation {
  readonly #socket: Socket;
  readonly #check: Abortable;
  readonly #protocol: string;
  #unread: Buffer = Buffer.alloc(0);
  #reading: Reading | null = null;
  #end: Error | null = null;
  #pieces = 0;

  /** @param protocol its name, for people */
  constructor(socket: Socket, check: Abortable, protocol: string) {
    this.#socket = socket;
    this.#check = check;
    this.#protocol = protocol;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("error", this.#onError);
    socket.on("close", this.#onEnd);
    if (socket.destroyed) this.#onEnd();
  }

  /** @throws NetworkFault `closed` when the connection ends first, `protocol-error` for what is no answer; the fault of the check when that ends */
  ask<Answer>(command: string | Uint8Array, read: ReadAnswer<Answer>): Promise<Answer> {
    if (this.#end === null && command.length > 0) this.#socket.write(command);
    return this.read(read);
  }

  /** As ask(), for what the server says by itself. */
  read<Answer>(read: ReadAnswer<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        this.#reading = null;
        reject(error);
      };
      const take = (): void => {
        try {
          const whole = this.#unread.length === 0 ? undefined : read(this.#unread);
          if (whole === undefined) {
            if (this.#end !== null) fail(this.#end);
            return;
          }
          this.#reading = null;
          this.#unread = this.#unread.subarray(whole.bytes);
          resolve(whole.answer);
        } catch (error) {
          fail(error instanceof AnswerFormatError ? this.#refuse(error.message) : (error as Error));
        }
      };
      this.#reading = { take, fail };
      this.#pieces = 0;
      take();
      // What came unasked has paused it.
      if (this.#reading !== null) this.#socket.resume();
    });
  }

  /** Stops reading and gives the socket back, for what follows in another form. */
  release(): Socket {
    this.#socket.off("data", this.#onData);
    this.#socket.off("end", this.#onEnd);
    this.#socket.off("error", this.#onError);
    this.#socket.off("close", this.#onEnd);
    this.#socket.pause();
    return this.#socket;
  }

  /**
   * As release(), for TLS that both sides have agreed on. RFC 3207 section 4.2: nothing said in the clear counts afterwards, so more than the
   * agreement is an attack on the connection.
   * @throws NetworkFault `protocol-error`
   */
  releaseForTls(): Socket {
    const socket = this.release();
    if (this.#unread.length === 0) return socket;
    socket.destroy();
    throw new NetworkFault("protocol-error", "The server sends more in the clear after it agreed to TLS", {
      peerAnswered: true,
    });
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#unread = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    // What comes unasked is not collected: it stays in the kernel until it is read.
    if (this.#reading === null) this.#socket.pause();
    else if (this.#pieces++ < PIECES) this.#reading.take();
    else this.#reading.fail(this.#refuse(`it comes in more than ${PIECES} pieces`));
    if (this.#reading !== null) this.#socket.resume();
  };

  #refuse(reason: string): NetworkFault {
    this.release().destroy();
    return new NetworkFault("protocol-error", `The answer is not ${this.#protocol}: ${reason}`, { peerAnswered: true });
  }

  readonly #onError = (error: Error): void => {
    this.#end ??= error;
    this.#reading?.fail(this.#end);
  };

  readonly #onEnd = (): void => {
    const { signal } = this.#check;
    this.#end ??= signal.aborted ? faultOfAbort(signal) : (this.#socket.errored ?? new NetworkFault("closed", ENDED));
    this.#reading?.take();
  };
}

/** RFC 5321 section 4.1.3: a client without a name of its own says its address. */
export function ownNameOf({ localAddress = "127.0.0.1", localFamily }: Socket): string {
  return localFamily === "IPv6" ? `[IPv6:${localAddress}]` : `[${localAddress}]`;
}
