/**
 * Caps on what runs at the same time. What needs a place of several limits starts when all of them have room; the first full one keeps it
 * waiting, first come first served. The overall cap comes last and is shared fairly: when it is full, workspaces take turns. Pure.
 *
 *   idle ──request──▶ waiting ──all limits have room──▶ running ──release──▶ over
 *                        └──────────withdraw──────────▶ over
 */

/** A limit on how many of its users run at the same time. */
export class ConcurrencyLimit<T> {
  readonly limit: number;
  running = 0;
  /** Users that found it full, oldest first. */
  readonly waiting: T[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  get isFull(): boolean {
    return this.running >= this.limit;
  }
}

/** Limits by name, kept while anything runs or waits there. */
export class ConcurrencyLimits<T> {
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
      if (limit.running === 0 && limit.waiting.length === 0 && !inUse.has(limit)) this.#limits.delete(name);
    }
  }

  get size(): number {
    return this.#limits.size;
  }
}

/** A user of limits: it needs a place of each to run. */
export interface Limited<T> {
  /** It needs a place of each; what is added while it waits or runs counts too. */
  limits: readonly ConcurrencyLimit<T>[];
  /** Workspaces take turns when the overall cap is full. */
  readonly workspace: number;
  state: "waiting" | "running" | "over";
}

export class Admission<T extends Limited<T>> {
  /** Places of the overall limit. */
  readonly #overallLimit: number;
  /** Users whose own limits had room while the overall limit was full, by workspace. The map's order is the order of the workspaces' turns. */
  readonly #lines = new Map<number, T[]>();
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
    for (const limit of one.limits) if (limit.waiting.length > 0) this.#wake(limit);
    this.#fill();
  }

  /** Stops waiting; without effect when the user does not wait. */
  withdraw(one: T): void {
    if (one.state !== "waiting") return;
    one.state = "over";
    this.#waiting -= 1;
    for (const limit of one.limits) remove(limit.waiting, one);
    const line = this.#lines.get(one.workspace);
    if (line !== undefined && remove(line, one) && line.length === 0) this.#lines.delete(one.workspace);
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
      this.#lineUp(one);
      return false;
    }
    for (const limit of one.limits) limit.running += 1;
    this.#running += 1;
    one.state = "running";
    this.#started.push(one);
    return true;
  }

  #lineUp(one: T): void {
    const line = this.#lines.get(one.workspace);
    if (line === undefined) this.#lines.set(one.workspace, [one]);
    else line.push(one);
  }

  /** The next workspace's oldest; that workspace goes to the end of the round. */
  #takeNext(): T | undefined {
    const first = this.#lines.entries().next();
    if (first.done === true) return undefined;
    const [workspace, line] = first.value;
    const one = line.shift();
    this.#lines.delete(workspace);
    if (line.length > 0) this.#lines.set(workspace, line);
    return one;
  }

  #fill(): void {
    if (this.#lines.size === 0) return;
    while (!this.#isHeld && this.#running < this.#overallLimit) {
      const one = this.#takeNext();
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
      else if (limit.waiting.at(-1) === one) return;
    }
  }
}

function remove<T>(all: T[], one: T): boolean {
  const index = all.indexOf(one);
  if (index >= 0) all.splice(index, 1);
  return index >= 0;
}
