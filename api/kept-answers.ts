/**
 * Answers of reads that are shown again for a second, while checks need the processors.
 *
 * Where every monitor is checked each second, an answer is out of date before a second reader asks for it. To keep answers only while they are current would
 * save nothing then. So while reads are held back, an answer may be a second old, and many readers cost as much as one. An answer from before a change of
 * the project, of a right or of a plan is never shown.
 */
import { setImmediate } from "node:timers/promises";
import { BoundedMap } from "../model/bounded-map.ts";
import type { MaybePromise } from "../model/maybe-promise.ts";
import { tagOf } from "./etag.ts";
import type { ApiResponse } from "./http.ts";

const KEPT_MS = 1_000;
/**
 * An answer is made anew this long before it ends, so that no reader waits for it: three times as long as it took, because others that are due in the same moment
 * come before it. Within these bounds, ms.
 */
const AHEAD_TIMES = 3;
const LEAST_AHEAD_MS = 100;
const MOST_AHEAD_MS = 400;
/** Of all bodies together. */
const MOST_BYTES = 16 * 1_048_576;
/** What one costs beside its body, about. */
const EACH_BYTES = 500;

const MOST_PROJECTS = 10_000;

/** What of a call decides its answer. */
interface Asked {
  readonly project: { readonly id: number };
  readonly role: string;
  readonly params: readonly string[];
  readonly request: { readonly query: string };
}

interface Kept {
  readonly generation: number;
  readonly atMs: number;
  /** When it is to be made anew; infinite once that was begun. */
  renewedAtMs: number;
  readonly bytes: number;
  readonly answer: ApiResponse;
}

export class KeptAnswers {
  readonly #generation: () => number;
  /** The oldest first. */
  readonly #kept = new Map<string, Kept>();
  /**
   * How often something was changed in each project. The map is bounded, so a project may be dropped and begin at 0 again; keys of before could match then,
   * but their answers are out of date after KEPT_MS.
   */
  readonly #changes = new BoundedMap<number, number>(MOST_PROJECTS);
  /** Answers that are being made: each settles when it is there, or when it has failed. */
  readonly #making = new Map<string, Promise<void>>();
  /** Settles when all that was to be made anew is. */
  #renewals = Promise.resolve();
  #bytes = 0;

  /** @param generation of the control plane, as of the latest look at the caller's rights */
  constructor(generation: () => number) {
    this.#generation = generation;
  }

  /** All that the answer depends on: these routes show everyone of a role the same. */
  keyOf(path: string, { project, role, params, request }: Asked): string {
    return `${project.id} ${this.#changes.get(project.id) ?? 0} ${role} ${path} ${params.join(" ")}?${request.query}`;
  }

  /** Something was changed in a project: what was read before is not shown any more. */
  forget(projectId: number): void {
    this.#changes.set(projectId, (this.#changes.get(projectId) ?? 0) + 1);
  }

  /** @param atMs Unix ms */
  find(key: string, atMs: number): ApiResponse | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined || kept.generation !== this.#generation()) return undefined;
    const ageMs = atMs - kept.atMs;
    return ageMs >= 0 && ageMs < KEPT_MS ? kept.answer : undefined;
  }

  /**
   * Makes it anew where that is due, while the old one is still shown: once, and if that fails, the first who finds none makes it. One is made after the other,
   * each in a later turn of the loop than it was asked for: of pages that were first asked for together all are due together, and would keep the thread from
   * everyone else for as long as all of them take.
   * @param renew never rejects
   */
  renewIfDue(key: string, atMs: number, renew: () => Promise<void>): void {
    const kept = this.#kept.get(key);
    if (kept === undefined || atMs < kept.renewedAtMs || this.#making.has(key)) return;
    kept.renewedAtMs = Number.POSITIVE_INFINITY;
    this.#renewals = this.#renewals.then(async () => {
      await setImmediate();
      if (this.#kept.get(key) === kept && !this.#making.has(key)) await renew();
    });
  }

  /** Resolves when the answer that is being made is there or has failed; undefined: none is. */
  making(key: string): Promise<void> | undefined {
    return this.#making.get(key);
  }

  /** Lets others wait for an answer that is being made. @returns the same answer */
  make<T>(key: string, answer: MaybePromise<T>): MaybePromise<T> {
    if (!(answer instanceof Promise)) return answer;
    const done = (): void => {
      if (this.#making.get(key) === settled) this.#making.delete(key);
    };
    const settled = answer.then(done, done);
    this.#making.set(key, settled);
    return answer;
  }

  /**
   * @param from the generation and the time before it was read
   * @param madeAtMs when it was there, Unix ms
   * @returns the answer, with its tag where it is a list
   */
  keep(
    key: string,
    from: { readonly generation: number; readonly atMs: number },
    answer: ApiResponse,
    isList: boolean,
    madeAtMs = from.atMs,
  ) {
    if (answer.status !== 200) return answer;
    const whole = isList && answer.tag === undefined ? { ...answer, tag: tagOf(answer.body) } : answer;
    const bytes = Buffer.byteLength(answer.body) + key.length + EACH_BYTES;
    this.#drop(key);
    if (bytes > MOST_BYTES) return whole;
    const aheadMs = Math.min(MOST_AHEAD_MS, Math.max(LEAST_AHEAD_MS, (madeAtMs - from.atMs) * AHEAD_TIMES));
    this.#kept.set(key, { ...from, renewedAtMs: from.atMs + KEPT_MS - aheadMs, bytes, answer: whole });
    this.#bytes += bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= MOST_BYTES) break;
      this.#drop(oldest);
    }
    return whole;
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= kept.bytes;
  }
}
