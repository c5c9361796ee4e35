import type { Dispatcher } from "undici";

/** @param limitBytes of a body */
export function tooLarge(limitBytes: number): Error {
  return new Error(`The answer is larger than ${limitBytes} bytes`);
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
    this.#handler.onHeaders?.(...received);
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
