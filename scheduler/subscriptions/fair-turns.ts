/**
 * One piece of heavy work at a time, in an order that is fair between workspaces: of those that wait, the workspace that has used the thread
 * least is next. Without this a workspace with many large lists would make every other one wait for all of them. Pure: the clock is an argument.
 */

/** Half-life of used time, ms. */
const HALF_LIFE_MS = 60_000;
/** Workspaces that are remembered; the ones that used least are forgotten first. */
const MOST_REMEMBERED = 1_000;

interface Used {
  readonly ms: number;
  readonly atMs: number;
}

interface Waiting {
  readonly workspaceId: number;
  readonly begin: () => void;
}

export class FairTurns {
  readonly #nowMs: () => number;
  readonly #waiting: Waiting[] = [];
  readonly #used = new Map<number, Used>();
  #isBusy = false;

  /** @param nowMs monotonic, ms */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** @returns what the work returns, once it was its turn */
  async run<T>(workspaceId: number, work: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await new Promise<void>((begin) => this.#waiting.push({ workspaceId, begin }));
    this.#isBusy = true;
    const startedAtMs = this.#nowMs();
    try {
      return await work();
    } finally {
      this.#charge(workspaceId, this.#nowMs() - startedAtMs);
      this.#isBusy = false;
      this.#beginNext();
    }
  }

  #beginNext(): void {
    let next = 0;
    for (let i = 1; i < this.#waiting.length; i++) if (this.#usedBy(i) < this.#usedBy(next)) next = i;
    const [chosen] = this.#waiting.splice(next, 1);
    if (chosen === undefined) return;
    // Set here and not when the chosen one continues: work that comes in between has to wait.
    this.#isBusy = true;
    chosen.begin();
  }

  /** Time that the workspace at a place of the queue has used, ms; older use counts less. */
  #usedBy(index: number): number {
    const used = this.#used.get(this.#waiting[index]?.workspaceId ?? -1);
    return used === undefined ? 0 : decayed(used, this.#nowMs());
  }

  #charge(workspaceId: number, ms: number): void {
    const nowMs = this.#nowMs();
    const before = this.#used.get(workspaceId);
    if (before === undefined && this.#used.size >= MOST_REMEMBERED) this.#forgetLeast(nowMs);
    this.#used.set(workspaceId, { ms: (before === undefined ? 0 : decayed(before, nowMs)) + ms, atMs: nowMs });
  }

  #forgetLeast(nowMs: number): void {
    let least: { readonly id: number; readonly ms: number } | undefined;
    for (const [id, used] of this.#used) {
      const ms = decayed(used, nowMs);
      if (least === undefined || ms < least.ms) least = { id, ms };
    }
    if (least !== undefined) this.#used.delete(least.id);
  }
}

function decayed({ ms, atMs }: Used, nowMs: number): number {
  return ms * 2 ** (-(nowMs - atMs) / HALF_LIFE_MS);
}
