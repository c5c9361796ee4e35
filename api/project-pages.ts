/**
 * Lists of a project's newest results, kept until a row comes or a monitor is changed, for a second at most: every open page of a project asks for
 * the same.
 */
import { BoundedMap } from "../model/bounded-map.ts";
import type { AuthCache } from "./auth-cache.ts";
import { tagOf } from "./etag.ts";

/** The window of a list moves with time, so it may be this old at most, ms. */
const KEPT_MS = 1_000;
/** Bounds memory: each has at most 1,000 rows, about 200 KiB. */
const MOST_KEPT = 32;

export interface ProjectPage {
  readonly body: Buffer;
  readonly tag: string;
}

export interface ProjectPagesOptions {
  readonly auth: Pick<AuthCache, "generation" | "stamp">;
  /** Of the rows in memory: another after each that has come. */
  readonly version: () => number;
}

export interface Moment {
  readonly generation: number;
  readonly version: number;
  readonly stamp: number | null;
  readonly atMs: number;
}

/** When a list was read, and from where. */
export interface Origin {
  readonly moment: Moment;
  readonly isFromMemory: boolean;
}

interface Kept extends ProjectPage, Moment {
  /** Its rows are all in memory: what came to the stores since then came there first. */
  readonly isFromMemory: boolean;
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
    const { auth } = this.#options;
    const isYoung = nowMs >= kept.atMs && nowMs - kept.atMs < KEPT_MS;
    const isWhole = kept.isFromMemory || (kept.stamp !== null && kept.stamp === auth.stamp());
    return isYoung && isWhole && kept.generation === auth.generation() ? kept : undefined;
  }

  /** To be asked before anything is read: what comes meanwhile makes the list old. */
  moment(nowMs: number): Moment {
    const { auth, version } = this.#options;
    return { generation: auth.generation(), version: version(), stamp: auth.stamp(), atMs: nowMs };
  }

  keep(key: string, { moment, isFromMemory }: Origin, text: string): ProjectPage {
    const body = Buffer.from(text);
    const kept = { ...moment, isFromMemory, body, tag: tagOf(body) };
    this.#kept.set(key, kept);
    return kept;
  }
}
