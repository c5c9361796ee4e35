/** Asynchronous acts one after another, in the order of the calls. An act that fails does not stop those behind it. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** @returns what the act returns; rejects with what it throws */
  run<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#last.then(act);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
