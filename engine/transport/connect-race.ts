/**
 * Tries several addresses of one name: the next one starts at once when one fails, else after RFC 8305's delay; the first that connects wins.
 * The sockets are the caller's: native ones, or Node's (stream.ts).
 */
import { NetworkFault, whenAborted } from "../net/fault.ts";
import { localAddresses } from "./local-addresses.ts";
import type { Address, DialContext } from "./transport.ts";

/** RFC 8305 section 5, "Connection Attempt Delay". */
const ATTEMPT_DELAY_MS = 250;
/** More addresses of one name are not tried in one check. */
const ATTEMPT_LIMIT = 8;

/** What connecting gives when this machine has no way to the address's family at all (connect(2)). */
const NO_ROUTE_CODES = new Set(["ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"]);

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

/** A machine without IPv6 proves nothing about an IPv6 target. */
export function ourOwnWay(error: Error, { family }: Address): Error {
  if (family === 4 || !("code" in error) || !NO_ROUTE_CODES.has(String(error.code)) || localAddresses().hasIpv6)
    return error;
  return new NetworkFault("unsupported", "This checker has no IPv6", { cause: error });
}

export function endpointOf({ ip, family }: Address, port: number): string {
  return family === 4 ? `${ip}:${port}` : `[${ip}]:${port}`;
}
