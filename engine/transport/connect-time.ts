/**
 * connectTime() over the native sweep: what stream.ts does with Node's sockets, at half the cost. Several addresses are tried as there: the
 * next at once when one fails, else after RFC 8305's delay; the first that connects wins.
 */
import { type ConnectAttempt, type ConnectSweep, openConnectSweep } from "../../native/connect-sweep.ts";
import { NetworkFault, whenAborted } from "./fault.ts";
import { ATTEMPT_DELAY_MS, ATTEMPT_LIMIT, endpointOf, connectTime as nodeConnectTime, ourOwnWay } from "./stream.ts";
import type { Address, ConnectTime, DialContext, Transport } from "./transport.ts";

export interface ConnectTimer {
  readonly connectTime: Transport["connectTime"];
  /** Settles when it is known which of the two ways works here; the first connect asks. */
  ready(): Promise<"native" | "node">;
  close(): void;
}

/** Native where that works on this machine; Node's own until it is known, and elsewhere. */
export function createConnectTimer(): ConnectTimer {
  let sweep: ConnectSweep | null = null;
  let opening: Promise<"native" | "node"> | undefined;
  let isOpen = true;

  async function open(): Promise<"native" | "node"> {
    const opened = await openConnectSweep();
    if (isOpen) sweep = opened;
    else opened?.close();
    return opened === null ? "node" : "native";
  }
  function ready(): Promise<"native" | "node"> {
    opening ??= open();
    return opening;
  }

  return {
    ready,
    connectTime(addresses, port, context) {
      const native = sweep;
      if (native === null) {
        void ready();
        return nodeConnectTime(addresses, port, context);
      }
      return new Promise((resolve, reject) => {
        new ConnectRace(native, addresses.slice(0, ATTEMPT_LIMIT), port, context, resolve, reject).start();
      });
    },
    close() {
      isOpen = false;
      sweep?.close();
      sweep = null;
    },
  };
}

class ConnectRace {
  readonly #sweep: ConnectSweep;
  readonly #addresses: readonly Address[];
  readonly #port: number;
  readonly #context: DialContext;
  readonly #resolve: (time: ConnectTime) => void;
  readonly #reject: (error: unknown) => void;
  readonly #running = new Set<ConnectAttempt>();
  readonly #faults: unknown[] = [];
  #next = 0;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    sweep: ConnectSweep,
    addresses: readonly Address[],
    port: number,
    context: DialContext,
    resolve: (time: ConnectTime) => void,
    reject: (error: unknown) => void,
  ) {
    this.#sweep = sweep;
    this.#addresses = addresses;
    this.#port = port;
    this.#context = context;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(): void {
    if (this.#addresses.length === 0) {
      this.#reject(new NetworkFault("unresolved", "No address to connect to"));
      return;
    }
    whenAborted(this.#context, (fault) => {
      if (this.#end()) this.#reject(fault);
    });
    this.#attempt();
  }

  #attempt(): void {
    clearTimeout(this.#timer);
    const address = this.#addresses[this.#next];
    if (address === undefined || this.#isOver) return;
    this.#next++;
    this.#context.tried(endpointOf(address, this.#port));
    if (this.#next < this.#addresses.length) this.#timer = setTimeout(() => this.#attempt(), ATTEMPT_DELAY_MS);
    let attempt: ConnectAttempt | undefined;
    try {
      attempt = this.#sweep.start(
        address.ip,
        address.family,
        this.#port,
        (connectMs) => this.#connected(address, connectMs),
        (error) => this.#failed(attempt, ourOwnWay(error, address)),
      );
      this.#running.add(attempt);
    } catch (error) {
      this.#failed(undefined, error instanceof Error ? ourOwnWay(error, address) : error);
    }
  }

  #connected(address: Address, connectMs: number): void {
    if (this.#addresses.length > 1) this.#context.tried(endpointOf(address, this.#port));
    if (this.#end()) this.#resolve({ address, connectMs });
  }

  #failed(attempt: ConnectAttempt | undefined, error: unknown): void {
    if (attempt !== undefined) this.#running.delete(attempt);
    if (this.#isOver) return;
    this.#faults.push(error);
    if (this.#next < this.#addresses.length) this.#attempt();
    else if (this.#running.size === 0 && this.#end()) {
      this.#reject(
        this.#faults.length === 1 ? error : new AggregateError(this.#faults, "no address could be connected to"),
      );
    }
  }

  /** @returns whether it was still going on */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const attempt of this.#running) attempt.cancel();
    return true;
  }
}
