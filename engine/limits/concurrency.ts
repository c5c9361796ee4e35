/**
 * Caps on what runs at the same time. What needs a place of several limits starts when all of them have room; the first full one keeps it
 * waiting. The overall cap comes last. At each of them workspaces take turns, and within one it is first come first served: a workspace can send
 * thousands of checks to a host that another one checks too. Pure.
 *
 *   idle ──request──▶ waiting ──all limits have room──▶ running ──release──▶ over
 *                        └──────────withdraw──────────▶ over
 */

interface OfWorkspace {
  /** Workspaces take turns. */
  readonly workspace: number;
}

/** Who waits, a line for each workspace. */
export class Lines<T extends OfWorkspace> {
  /** The map's order is the order of the workspaces' turns. Made with the first that waits: there is a limit for each host, and few are ever full. */
  #lines: Map<number, T[]> | null = null;

  get isEmpty(): boolean {
    return this.#lines === null || this.#lines.size === 0;
  }

  push(one: T): void {
    this.#lines ??= new Map();
    const line = this.#lines.get(one.workspace);
    if (line === undefined) this.#lines.set(one.workspace, [one]);
    else line.push(one);
  }

  /** The next workspace's oldest; that workspace goes to the end of the round. */
  shift(): T | undefined {
    const lines = this.#lines;
    const first = lines?.entries().next();
    if (lines === null || first === undefined || first.done === true) return undefined;
    const [workspace, line] = first.value;
    const one = line.shift();
    if (line.length > 0 && lines.size === 1) return one;
    lines.delete(workspace);
    if (line.length > 0) lines.set(workspace, line);
    return one;
  }

  remove(one: T): void {
    const line = this.#lines?.get(one.workspace);
    const index = line?.indexOf(one) ?? -1;
    if (line === undefined || index < 0) return;
    line.splice(index, 1);
    if (line.length === 0) this.#lines?.delete(one.workspace);
  }
}

/** A limit on how many of its users run at the same time. */
export class ConcurrencyLimit<T extends OfWorkspace> {
  readonly limit: number;
  running = 0;
  /** Users that found it full. */
  readonly waiting = new Lines<T>();

  constructor(limit: number) {
    this.limit = limit;
  }

  get isFull(): boolean {
    return this.running >= this.limit;
  }
}

/** Limits by name, kept while anything runs or waits there. */
export class ConcurrencyLimits<T extends OfWorkspace> {
  readonly #limits = new Map<string, ConcurrencyLimit<T>>();

  /** @param limit used when the name is new; a limit of another size replaces the one before */
  of(name: string, limit: number): ConcurrencyLimit<T> {
    const known = this.#limits.get(name);
    if (known !== undefined && known.limit === limit) return known;
    const made = new ConcurrencyLimit<T>(limit);
    this.#limits.set(name, made);
    return made;
  }

  /** Forgets limits that nothing uses; called now and then. */
  sweep(inUse: ReadonlySet<ConcurrencyLimit<T>>): void {
    for (const [name, limit] of this.#limits) {
      if (limit.running === 0 && limit.waiting.isEmpty && !inUse.has(limit)) this.#limits.delete(name);
    }
  }

  get size(): number {
    return this.#limits.size;
  }
}

/** A user of limits: it needs a place of each to run. */
export interface Limited<T extends OfWorkspace> extends OfWorkspace {
  /** It needs a place of each; what is added while it waits or runs counts too. */
  limits: readonly ConcurrencyLimit<T>[];
  state: "waiting" | "running" | "over";
}

export class Admission<T extends Limited<T>> {
  /** Places of the overall limit. */
  readonly #overallLimit: number;
  /** Users whose own limits had room while the overall limit was full. */
  readonly #lines = new Lines<T>();
  #started: T[] = [];
  #running = 0;
  #waiting = 0;
  #isHeld = false;

  constructor(overallLimit: number) {
    this.#overallLimit = overallLimit;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Users that have their places and were not taken yet. */
  get untaken(): number {
    return this.#started.length;
  }

  /** It gets its places now, or waits for them; its state says which. */
  request(one: T): void {
    one.state = "waiting";
    if (!this.#place(one)) this.#waiting += 1;
  }

  /** @returns the users that got their places since the last call, in order; they hold them until release() */
  takeStarted(): readonly T[] {
    if (this.#started.length === 0) return this.#started;
    const started = this.#started;
    this.#started = [];
    return started;
  }

  /** The user has ended: gives its places back and starts users that waited for them. */
  release(one: T): void {
    one.state = "over";
    this.#running -= 1;
    for (const limit of one.limits) limit.running -= 1;
    for (const limit of one.limits) this.#wake(limit);
    this.#fill();
  }

  /** Stops waiting; without effect when the user does not wait. */
  withdraw(one: T): void {
    if (one.state !== "waiting") return;
    one.state = "over";
    this.#waiting -= 1;
    for (const limit of one.limits) limit.waiting.remove(one);
    this.#lines.remove(one);
  }

  /** Stops all starts, or allows them again. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#fill();
  }

  /** Starts the user, or queues it at the first full limit. Its state is `waiting` already. */
  #place(one: T): boolean {
    for (const limit of one.limits) {
      if (!limit.isFull) continue;
      limit.waiting.push(one);
      return false;
    }
    if (this.#isHeld || this.#running >= this.#overallLimit) {
      this.#lines.push(one);
      return false;
    }
    for (const limit of one.limits) limit.running += 1;
    this.#running += 1;
    one.state = "running";
    this.#started.push(one);
    return true;
  }

  #fill(): void {
    while (!this.#isHeld && this.#running < this.#overallLimit) {
      const one = this.#lines.shift();
      if (one === undefined) return;
      if (this.#place(one)) this.#waiting -= 1;
    }
  }

  /** Places became free: places the users again that wait at this limit. */
  #wake(limit: ConcurrencyLimit<T>): void {
    while (!limit.isFull) {
      const one = limit.waiting.shift();
      if (one === undefined) return;
      if (this.#place(one)) this.#waiting -= 1;
    }
  }
}
