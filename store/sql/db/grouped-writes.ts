/**
 * Transactions that wait for their turn at the same time are committed together: a commit waits for the disk, and callers come many at once. Each is a
 * savepoint, so one that fails undoes itself alone, and none succeeds before the commit is on the disk.
 */

import { setImmediate as nextTurn } from "node:timers/promises";

/** A group that took longer has written more than the commit should wait for. */
const LONG_MS = 100;
/** Bounds how long writers of other threads wait: they begin when the group has ended. */
const MOST_AT_ONCE = 64;
const LONGEST_MS = 20;

export interface GroupedConnection {
  exec(sql: string): unknown;
  /** False: the database has undone the transaction by itself, for example because the disk is full. */
  readonly inTransaction: boolean;
}

interface Waiting {
  readonly work: () => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupedWritesOptions {
  readonly connection: GroupedConnection;
  /** Calls it when no other transaction of the file runs in this thread. */
  readonly turn: (work: () => Promise<void>) => Promise<void>;
  readonly begin: () => Promise<void>;
  /** Puts on the disk what a long group has written so far, while others have the thread: its commit, which has not, waits for the rest alone. Never rejects. */
  readonly putOnDisk?: () => Promise<void>;
  /** Turns what the database throws into an error of ours. */
  readonly run: (work: () => void) => void;
}

export class GroupedWrites {
  readonly #options: GroupedWritesOptions;
  /** The first that came first; each has a turn. */
  readonly #waiting: Waiting[] = [];

  constructor(options: GroupedWritesOptions) {
    this.#options = options;
  }

  write<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      this.#options.turn(() => this.#group()).catch(reject);
    });
  }

  async #group(): Promise<void> {
    if (this.#waiting.length === 0) return;
    // Each caller's connection is read by itself: this lets the others be read that have data in this turn of the event loop.
    await nextTurn();
    const group = this.#waiting.splice(0, MOST_AT_ONCE);
    if (group.length === 0) return;
    const { begin, putOnDisk, run, connection } = this.#options;
    const done: { readonly one: Waiting; readonly value: unknown }[] = [];
    let under: Waiting | undefined;
    try {
      [under] = group;
      await begin();
      const begunAtMs = performance.now();
      const isAlone = group.length === 1;
      for (under = group.shift(); under !== undefined; under = group.shift()) {
        const value = await (isAlone ? under.work() : this.#savepoint(under));
        if (value !== FAILED) done.push({ one: under, value });
        if (performance.now() > begunAtMs + LONGEST_MS) break;
      }
      under = undefined;
      if (performance.now() > begunAtMs + LONG_MS) await putOnDisk?.();
      run(() => connection.exec("COMMIT"));
    } catch (error) {
      if (connection.inTransaction) connection.exec("ROLLBACK");
      // What had not begun takes the turn that it has.
      this.#waiting.unshift(...group.filter((one) => one !== under));
      under?.reject(error);
      for (const { one } of done) one.reject(error);
      return;
    }
    this.#waiting.unshift(...group);
    for (const { one, value } of done) one.resolve(value);
  }

  /** @returns FAILED when it was undone alone. @throws when the whole transaction is gone */
  async #savepoint({ work, reject }: Waiting): Promise<unknown> {
    const { connection, run } = this.#options;
    run(() => connection.exec("SAVEPOINT one"));
    try {
      const value = await work();
      run(() => connection.exec("RELEASE one"));
      return value;
    } catch (error) {
      if (!connection.inTransaction) throw error;
      connection.exec("ROLLBACK TO one");
      connection.exec("RELEASE one");
      reject(error);
      return FAILED;
    }
  }
}

const FAILED = Symbol("undone");
