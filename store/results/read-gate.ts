/**
 * Reads of the result store from the API: a few at once, because more are not answered sooner and take the processors from the checks. The same
 * question asked again within a second gets the same answer. When too many wait, a read is refused at once.
 */
import { BoundedMap } from "../../model/bounded-map.ts";
import { StoreError } from "../errors.ts";

/** The embedded engine answers about 150 a second, whatever their number; each uses up to two threads. */
const AT_ONCE = 2;
/** Waiting ones that are answered within about a second. */
const MOST_WAITING = 64;
/** One that waits longer is refused, ms: the store is slow or silent, and each read may take 12 s until it is given up. */
const LONGEST_WAIT_MS = 5_000;
/** How long an answer is given again, ms. */
const KEPT_MS = 1_000;
/** Answers that are kept: each of at most 1,000 rows. */
const MOST_KEPT = 32;

interface Kept {
  readonly atMs: number;
  readonly answer: Promise<unknown>;
}

export class ReadGate {
  readonly #kept = new BoundedMap<string, Kept>(MOST_KEPT);
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #refused = 0;

  /** Reads that found too many waiting. */
  get refused(): number {
    return this.#refused;
  }

  /** @param question names it among all @param nowMs of the caller's clock @throws StoreError when too many wait, and what the read throws */
  ask<T>(question: string, nowMs: number, read: () => Promise<T>): Promise<T> {
    const kept = this.#kept.get(question);
    if (kept !== undefined && nowMs >= kept.atMs && nowMs - kept.atMs < KEPT_MS) return kept.answer as Promise<T>;
    const answer = this.run(read);
    const entry = { atMs: nowMs, answer };
    this.#kept.set(question, entry);
    answer.catch(() => {
      if (this.#kept.get(question) === entry) this.#kept.delete(question);
    });
    return answer;
  }

  /** One that is not asked again. @throws as ask() */
  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) await this.#place();
    else this.#running += 1;
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** Resolves when a read that ends hands its place on. */
  #place(): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = (words: string): void => {
        this.#refused += 1;
        reject(new StoreError(words, { store: "results" }));
      };
      if (this.#waiting.length >= MOST_WAITING) return refuse("too many reads of the result store wait already");
      const begin = (): void => {
        clearTimeout(late);
        resolve();
      };
      const late = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        refuse("reads of the result store take too long");
      }, LONGEST_WAIT_MS);
      this.#waiting.push(begin);
    });
  }
}
