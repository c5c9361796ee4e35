/**
 * Tries several addresses of one name: the next one starts at once when one fails, else after RFC 8305's delay; the first that connects wins.
 * The sockets are the caller's: native ones, or Node's (stream.ts).
 */
import { mostTellingOf } from "../net/classify.ts";
import { NetworkFault, whenAborted } from "../net/fault.ts";
import { type LocalAddresses, localAddresses } from "./local-addresses.ts";
import type { Address, DialContext } from "./transport.ts";

/** RFC 8305 section 5, "Connection Attempt Delay". */
const ATTEMPT_DELAY_MS = 250;
/** More addresses of one name are not tried in one check. */
const ATTEMPT_LIMIT = 8;

/** What connecting gives when this machine has no way to the address's family at all (connect(2)). Over IPv4 EADDRNOTAVAIL is a lack of ports. */
const NO_ROUTE_CODES = {
  4: ["ENETUNREACH", "EAFNOSUPPORT"],
  6: ["ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"],
} as const;

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
  /** Where each goes, the one that waits longest first. */
  readonly #running = new Map<RaceAttempt, Address>();
  readonly #faults: { readonly error: unknown; readonly address: Address }[] = [];
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
    this.#name(address);
    if (this.#next < this.#addresses.length) this.#timer = setTimeout(() => this.#attempt(), ATTEMPT_DELAY_MS);
    let attempt: RaceAttempt | null = null;
    try {
      attempt = this.#options.attempt(
        address,
        (won) => this.#connected(attempt, address, won),
        (error) => this.#failed(attempt, address, ourOwnWay(error, address)),
      );
      this.#running.set(attempt, address);
    } catch (error) {
      this.#failed(null, address, error instanceof Error ? ourOwnWay(error, address) : error);
    }
  }

  #connected(attempt: RaceAttempt | null, address: Address, won: Won): void {
    const { addresses, resolve } = this.#options;
    // The explanation names the address that answered, not the last one tried.
    if (addresses.length > 1) this.#name(address);
    if (this.#end(attempt)) resolve(won, address);
  }

  #failed(attempt: RaceAttempt | null, address: Address, error: unknown): void {
    if (attempt !== null) this.#running.delete(attempt);
    if (this.#isOver) return;
    this.#faults.push({ error, address });
    if (this.#next < this.#addresses.length) {
      this.#attempt();
      return;
    }
    // Should the deadline pass, it passes for this one.
    const [waiting] = this.#running.values();
    if (waiting !== undefined) this.#name(waiting);
    else if (this.#end(null)) this.#tell();
  }

  #tell(): void {
    const errors = this.#faults.map((fault) => fault.error);
    const telling = this.#faults[mostTellingOf(errors, "connect")];
    if (telling !== undefined && errors.length > 1) this.#name(telling.address);
    this.#options.reject(
      errors.length === 1 ? errors[0] : new AggregateError(errors, "no address could be connected to"),
    );
  }

  /** For the explanation. */
  #name(address: Address): void {
    this.#options.context.tried(endpointOf(address, this.#options.port));
  }

  /** @returns whether it was still going on */
  #end(winner: RaceAttempt | null): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const attempt of this.#running.keys()) if (attempt !== winner) attempt.close();
    return true;
  }
}

/** A machine without IPv6 proves nothing about an IPv6 target, and one that has IPv6 alone nothing about an IPv4 target. */
export function ourOwnWay(
  error: Error,
  { family }: Address,
  { has }: Pick<LocalAddresses, "has"> = localAddresses(),
): Error {
  const codes: readonly string[] = NO_ROUTE_CODES[family];
  if (!("code" in error) || !codes.includes(String(error.code))) return error;
  // Without either family the network is cut, which the canaries say.
  const isMissing = family === 6 ? !has(6) : has(6) && !has(4);
  return isMissing ? new NetworkFault("unsupported", `This checker has no IPv${family}`, { cause: error }) : error;
}

export function endpointOf({ ip, family }: Address, port: number): string {
  return family === 4 ? `${ip}:${port}` : `[${ip}]:${port}`;
}
