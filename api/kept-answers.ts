/**
 * Answers of reads that are shown again for a second, while checks need the processors.
 *
 * Where every monitor is checked each second, an answer is out of date before a second reader asks for it. To keep answers only while they are current would
 * help nobody then. So while reads are held back, an answer may be a second old, and many readers cost as much as one. An answer from before a change of
 * the project, of a right or of a plan is never shown.
 */
import { BoundedMap } from "../model/bounded-map.ts";
import type { MaybePromise } from "../model/maybe-promise.ts";
import { tagOf } from "./etag.ts";
import type { ApiResponse } from "./http.ts";

const KEPT_MS = 1_000;
/** The first caller after this age makes the answer anew. The others get the old one meanwhile: a list of 1,000 takes 20 ms, and all of them would wait. */
const RENEWED_AFTER_MS = 900;
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
    const mostMs = this.#making.has(key) ? KEPT_MS : RENEWED_AFTER_MS;
    return ageMs >= 0 && ageMs < mostMs ? kept.answer : undefined;
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

  /** @param from the generation and the time before it was read @returns the answer, with its tag where it is a list */
  keep(
    key: string,
    from: { readonly generation: number; readonly atMs: number },
    answer: ApiResponse,
    isList: boolean,
  ) {
    if (answer.status !== 200) return answer;
    const whole = isList && answer.tag === undefined ? { ...answer, tag: tagOf(answer.body) } : answer;
    const bytes = Buffer.byteLength(answer.body) + key.length + EACH_BYTES;
    this.#drop(key);
    if (bytes > MOST_BYTES) return whole;
    this.#kept.set(key, { ...from, bytes, answer: whole });
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
