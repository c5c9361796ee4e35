/** How many outbounds close in a millisecond, of late. Pure. */

/** How long a close counts: its weight falls to a third in this time, ms. A core of a list lives for some hundred. */
const KEPT_MS = 300;

export class ClosingRate {
  #closes = 0;
  #atMs = Number.NEGATIVE_INFINITY;

  closed(nowMs: number): void {
    this.#closes = this.#closesAt(nowMs) + 1;
    this.#atMs = nowMs;
  }

  perMs(nowMs: number): number {
    return this.#closesAt(nowMs) / KEPT_MS;
  }

  #closesAt(nowMs: number): number {
    return this.#closes * Math.exp((this.#atMs - nowMs) / KEPT_MS);
  }
}
