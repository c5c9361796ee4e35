/** One core process and its open outbounds: the process ends when the last outbound is closed. */

import type { Engine } from "./core.ts";
import type { CoreLog } from "./core-log.ts";
import { type CoreProcess, isGone, residentBytes } from "./core-process.ts";

/** What is open in a core. */
export interface Resident {
  readonly tag: string;
  /** The core ended under it. */
  died(): void;
}

/** Time after which a core that does not end on request is killed, ms: to close its sessions at servers takes a round trip. */
const GRACE_MS = 1_000;
/** How the end of a killed process is reported (signal(7)). */
const KILLED = "SIGKILL";
/** A core with 1,000 configs at work takes 60 to 150 MB; far beyond that it is replaced, bytes. */
const HEAVIEST_BYTES = 768 * 1024 * 1024;

export class RunningCore {
  readonly engine: Engine;
  readonly #process: CoreProcess;
  readonly #residents = new Map<string, Resident>();
  readonly #onEnded: (core: RunningCore, hasCrashed: boolean, how: string) => void;
  #isEnding = false;
  #isSuspected = false;
  #hasEnded = false;

  constructor(
    engine: Engine,
    process: CoreProcess,
    residents: readonly Resident[],
    onEnded: (core: RunningCore, hasCrashed: boolean, how: string) => void,
  ) {
    this.engine = engine;
    this.#process = process;
    this.#onEnded = onEnded;
    for (const resident of residents) this.#residents.set(resident.tag, resident);
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

  get isTooHeavy(): boolean {
    return this.residentBytes > HEAVIEST_BYTES;
  }

  close(tag: string): void {
    this.#residents.delete(tag);
    if (this.#residents.size === 0) this.end();
  }

  /** Graceful: the core closes its sessions at the servers. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#process.end();
    const killer = setTimeout(() => this.#process.kill(), GRACE_MS);
    void this.#process.ended.then(() => clearTimeout(killer));
  }

  /** It is too heavy: what is open in it hears that it died. */
  kill(): void {
    this.#process.kill();
  }

  /** Called when a check got no answer at the core's port: a core that hangs is killed. */
  async suspect(): Promise<void> {
    this.#isSuspected = true;
    this.#isSuspected = !(await this.#process.answers());
    if (this.#isSuspected) this.#process.kill();
  }

  #ended(how: string): void {
    this.#hasEnded = true;
    const residents = [...this.#residents.values()];
    this.#residents.clear();
    for (const resident of residents) resident.died();
    // A core that ends on request does not hang, even when it was suspected.
    this.#onEnded(this, !this.#isEnding || (this.#isSuspected && how === KILLED), how);
  }
}
