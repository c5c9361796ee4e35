import type { Dispatcher } from "undici";

/** @param limitBytes of a body */
export function tooLarge(limitBytes: number): Error {
  return new Error(`The answer is larger than ${limitBytes} bytes`);
}

/**
 * Whether one coding is in another (RFC 9110 section 8.4). fetch() undoes up to five, and bounds nothing that one gives the next: 250 KB of three
 * codings are gigabytes between them, of which the last may give not a byte.
 *
 * @param headers names and values in turn
 */
function isCodedTwice(headers: readonly Buffer[]): boolean {
  const coded = headers.filter((_, index) => index % 2 === 1 && isContentEncoding(headers[index - 1]));
  return coded.length > 1 || coded.some((value) => value.includes(","));
}

function isContentEncoding(name: Buffer | undefined): boolean {
  return name?.toString("latin1").toLowerCase() === "content-encoding";
}

/**
 * Passes an answer on and never pauses its connection: undici 7 throws out of its caller's reach, and so ends the thread, when a server
 * closes a connection that is paused (https://github.com/nodejs/undici/issues/5360). What its reader has not taken is kept, up to a bound.
 * The methods are those that undici's fetch() has.
 */
export class NeverPaused implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #limitBytes: number;
  #abort: ((error: Error) => void) | null = null;
  #bytes = 0;

  /** @param limitBytes of the body as it is sent; the request fails beyond it */
  constructor(handler: Dispatcher.DispatchHandler, limitBytes: number) {
    this.#handler = handler;
    this.#limitBytes = limitBytes;
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    this.#handler.onConnect?.(abort);
  }

  onResponseStarted(): void {
    this.#handler.onResponseStarted?.();
  }

  onUpgrade(...received: Parameters<NonNullable<Dispatcher.DispatchHandler["onUpgrade"]>>): void {
    this.#handler.onUpgrade?.(...received);
  }

  onHeaders(...received: Parameters<NonNullable<Dispatcher.DispatchHandler["onHeaders"]>>): boolean {
    if (isCodedTwice(received[1])) this.#abort?.(new Error("The answer is packed more than once"));
    else this.#handler.onHeaders?.(...received);
    return true;
  }

  onData(piece: Buffer): boolean {
    this.#bytes += piece.length;
    if (this.#bytes > this.#limitBytes) this.#abort?.(tooLarge(this.#limitBytes));
    else this.#handler.onData?.(piece);
    return true;
  }

  onComplete(trailers: string[] | null): void {
    this.#handler.onComplete?.(trailers);
  }

  onError(error: Error): void {
    this.#handler.onError?.(error);
  }
}
