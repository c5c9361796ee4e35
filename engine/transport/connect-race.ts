/**
 * Tries several addresses of one name with native sockets: the next one starts at once when one fails, else after
 * RFC 8305's delay; the first that connects wins. stream.ts does the same with Node's sockets.
 */
import { NetworkFault, whenAborted } from "./fault.ts";
import { ATTEMPT_DELAY_MS, ATTEMPT_LIMIT, endpointOf, ourOwnWay } from "./stream.ts";
import type { Address, DialContext } from "./transport.ts";

/** One connect under way. */
export interface RaceAttempt {
  close(): void;
}

export interface ConnectRaceOptions<Won> {
  readonly addresses: readonly Address[];
  readonly port: number;
  readonly context: DialContext;
  /** Calls back later, once. @throws when the machine refuses at once */
  readonly attempt: (address: Address, connected: (won: Won) => void, failed: (error: Error) => void) => RaceAttempt;
  readonly resolve: (won: Won, address: Address) => void;
  readonly reject: (error: unknown) => void;
}

export class ConnectRace<Won> {
  readonly #options: ConnectRaceOptions<Won>;
  readonly #addresses: readonly Address[];
  readonly #running = new Set<RaceAttempt>();
  readonly #faults: unknown[] = [];
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(options: ConnectRaceOptions<Won>) {
    this.#options = options;
    this.#addresses = options.addresses.slice(0, ATTEMPT_LIMIT);
  }

  start(): void {
    const { context, reject } = this.#options;
    if (this.#addresses.length === 0) {
      reject(new NetworkFault("unresolved", "No address to connect to"));
      return;
    }
    whenAborted(context, (fault) => {
      if (this.#end(null)) reject(fault);
    });
    this.#attempt();
  }

  #attempt(): void {
    clearTimeout(this.#timer);
    const address = this.#addresses[this.#next];
    if (address === undefined || this.#isOver) return;
    this.#next++;
    const { context, port } = this.#options;
    context.tried(endpointOf(address, port));
    if (this.#next < this.#addresses.length) this.#timer = setTimeout(() => this.#attempt(), ATTEMPT_DELAY_MS);
    let attempt: RaceAttempt | null = null;
    try {
      attempt = this.#options.attempt(
        address,
        (won) => this.#connected(attempt, address, won),
        (error) => this.#failed(attempt, ourOwnWay(error, address)),
      );
      this.#running.add(attempt);
    } catch (error) {
      this.#failed(null, error instanceof Error ? ourOwnWay(error, address) : error);
    }
  }

  #connected(attempt: RaceAttempt | null, address: Address, won: Won): void {
    const { addresses, context, port, resolve } = this.#options;
    // The explanation names the address that answered, not the last one tried.
    if (addresses.length > 1) context.tried(endpointOf(address, port));
    if (this.#end(attempt)) resolve(won, address);
  }

  #failed(attempt: RaceAttempt | null, error: unknown): void {
    if (attempt !== null) this.#running.delete(attempt);
    if (this.#isOver) return;
    this.#faults.push(error);
    if (this.#next < this.#addresses.length) this.#attempt();
    else if (this.#running.size === 0 && this.#end(null)) {
      this.#options.reject(
        this.#faults.length === 1 ? error : new AggregateError(this.#faults, "no address could be connected to"),
      );
    }
  }

  /** @returns whether it was still going on */
  #end(winner: RaceAttempt | null): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const attempt of this.#running) if (attempt !== winner) attempt.close();
    return true;
  }
}
