/**
 * Turns at reading what receivers send during TLS: it is computed in native code that nothing interrupts (handshake-gate.ts has how long). So projects take
 * turns, and between two the thread goes on with whatever else has come: a tenant whose receivers are made to cost much delays others by one of them at a time.
 */
import { Lines } from "../../../engine/limits/concurrency.ts";

interface Waiting {
  readonly workspace: number;
  readonly read: () => void;
}

export class HandshakeTurns {
  readonly #lines = new Lines<Waiting>();
  readonly #later: (then: () => void) => void;
  #isTaking = false;

  /** @param later calls back once other work of the thread has run */
  constructor(later: (then: () => void) => void) {
    this.#later = later;
  }

  /** @param workspace 0: the service's own */
  ask(workspace: number, read: () => void): void {
    this.#lines.push({ workspace, read });
    if (this.#isTaking) return;
    this.#isTaking = true;
    this.#later(() => this.#take());
  }

  #take(): void {
    const one = this.#lines.shift();
    this.#isTaking = one !== undefined;
    if (one === undefined) return;
    this.#later(() => this.#take());
    one.read();
  }
}
