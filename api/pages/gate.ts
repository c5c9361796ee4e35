/** How often one address may ask for public pages. In memory: asking a store would cost more than the page. Pure. */
import { BoundedMap } from "../../model/bounded-map.ts";

const MINUTE_MS = 60_000;
/** Addresses of one minute; beyond it the first is counted anew. */
const MOST_ADDRESSES = 20_000;

export class AddressGate {
  readonly #most: number;
  readonly #counts = new BoundedMap<string, { minute: number; count: number }>(MOST_ADDRESSES);

  /** @param most requests of one address in a minute of UTC */
  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a request. @param network the limits' key @returns 0 when it may pass; else seconds until it may */
  waitS(network: string, nowMs: number): number {
    const minute = Math.floor(nowMs / MINUTE_MS);
    const found = this.#counts.get(network);
    if (found === undefined || found.minute !== minute) {
      this.#counts.set(network, { minute, count: 1 });
      return 0;
    }
    found.count += 1;
    return found.count <= this.#most ? 0 : Math.max(1, Math.ceil(((minute + 1) * MINUTE_MS - nowMs) / 1_000));
  }
}
