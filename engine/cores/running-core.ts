/** One core process and its open outbounds: the process ends when the last outbound is closed. */

import type { Engine } from "../../model/subscription.ts";
import type { CoreLog } from "./core-log.ts";
import { type CoreProcess, isGone, residentBytes } from "./core-process.ts";

/** An outbound that is open in a core. */
export interface CoreOutbound {
  readonly tag: string;
  /** Called when the core ended while the outbound was open. */
  onCoreEnded(): void;
}

/** Time after which a core that does not end on request is killed, ms: to close its sessions at servers takes a round trip. */
const END_TIMEOUT_MS = 1_000;
/** How the end of a killed process is reported (signal(7)). */
const KILLED = "SIGKILL";
/** A core with 1,000 configs takes 60 to 150 MB; above this it is replaced, bytes. */
const MAX_RESIDENT_BYTES = 768 * 1024 * 1024;

export class RunningCore {
  readonly engine: Engine;
  readonly #process: CoreProcess;
  readonly #outbounds = new Map<string, CoreOutbound>();
  readonly #onEnded: (core: RunningCore, hasCrashed: boolean, how: string) => void;
  #isEnding = false;
  #isSuspected = false;
  #hasEnded = false;

  constructor(
    engine: Engine,
    process: CoreProcess,
    outbounds: readonly CoreOutbound[],
    onEnded: (core: RunningCore, hasCrashed: boolean, how: string) => void,
  ) {
    this.engine = engine;
    this.#process = process;
    this.#onEnded = onEnded;
    for (const outbound of outbounds) this.#outbounds.set(outbound.tag, outbound);
    void process.ended.then((how) => this.#ended(how));
  }

  get log(): CoreLog {
    return this.#process.log;
  }

  get port(): number {
    return this.#process.port;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Looks at the process too: a broken connection is often seen before the process' end is reported. */
  get isDead(): boolean {
    return this.#hasEnded || isGone(this.#process.pid);
  }

  get ended(): Promise<unknown> {
    return this.#process.ended;
  }

  get residentBytes(): number {
    return residentBytes(this.#process.pid);
  }

  get isOverMemory(): boolean {
    return this.residentBytes > MAX_RESIDENT_BYTES;
  }

  close(tag: string): void {
    this.#outbounds.delete(tag);
    if (this.#outbounds.size === 0) this.end();
  }

  /** Graceful: the core closes its sessions at the servers. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#process.end();
    const killer = setTimeout(() => this.#process.kill(), END_TIMEOUT_MS);
    void this.#process.ended.then(() => clearTimeout(killer));
  }

  /** Ends a core that takes too much memory; its open outbounds get onCoreEnded(). */
  kill(): void {
    this.#process.kill();
  }

  /** Called when a check got no answer at the core's port: a core that hangs is killed. */
  async checkAlive(): Promise<void> {
    this.#isSuspected = true;
    this.#isSuspected = !(await this.#process.answers());
    if (this.#isSuspected) this.#process.kill();
  }

  #ended(how: string): void {
    this.#hasEnded = true;
    const outbounds = [...this.#outbounds.values()];
    this.#outbounds.clear();
    for (const outbound of outbounds) outbound.onCoreEnded();
    // A core that ends on request does not hang, even when it was suspected.
    this.#onEnded(this, !this.#isEnding || (this.#isSuspected && how === KILLED), how);
  }
}
