/**
 * Lists of a project's newest results, kept until a row comes or a monitor is changed, for a second at most: every open page of a project asks for
 * the same.
 */
import { BoundedMap } from "../model/bounded-map.ts";
import type { AuthCache } from "./auth-cache.ts";
import { tagOf } from "./listed.ts";

/** The window of a list moves with time, so it may be this old at most, ms. */
const KEPT_MS = 1_000;
/** Bounds memory: each has at most 1,000 rows, about 200 KiB. */
const MOST_KEPT = 32;

export interface ProjectPage {
  readonly body: Buffer;
  readonly tag: string;
}

export interface ProjectPagesOptions {
  readonly auth: Pick<AuthCache, "generation">;
  /** Of the rows in memory: another after each that has come. */
  readonly version: () => number;
}

interface Kept extends ProjectPage {
  readonly generation: number;
  readonly version: number;
  readonly atMs: number;
}

export class ProjectPages {
  readonly #options: ProjectPagesOptions;
  readonly #kept = new BoundedMap<string, Kept>(MOST_KEPT);

  constructor(options: ProjectPagesOptions) {
    this.#options = options;
  }

  /** @param key names it among all lists */
  find(key: string, nowMs: number): ProjectPage | undefined {
    const kept = this.#kept.use(key);
    if (kept === undefined || kept.version !== this.#options.version()) return undefined;
    const isYoung = nowMs >= kept.atMs && nowMs - kept.atMs < KEPT_MS;
    return isYoung && kept.generation === this.#options.auth.generation() ? kept : undefined;
  }

  /** Of rows that are all in memory, read without a wait. @param generation under which the names of monitors were read */
  keep(key: string, { generation, nowMs }: { generation: number; nowMs: number }, text: string): ProjectPage {
    const body = Buffer.from(text);
    const kept = { body, tag: tagOf(body), generation, version: this.#options.version(), atMs: nowMs };
    this.#kept.set(key, kept);
    return kept;
  }
}
