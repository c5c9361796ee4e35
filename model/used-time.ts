/** Time of one thing that many share, by who used it lately: who used least is next. Pure: the clock is an argument. */

/** Half-life of used time, ms. */
const HALF_LIFE_MS = 60_000;
/** Users that are remembered; the ones that used least are forgotten first. */
const MOST_REMEMBERED = 1_000;

interface Used {
  readonly ms: number;
  readonly atMs: number;
}

export class UsedTime {
  readonly #used = new Map<number, Used>();

  /** @param nowMs monotonic, ms. @returns what this one has used, ms; older use counts less */
  of(user: number, nowMs: number): number {
    const used = this.#used.get(user);
    return used === undefined ? 0 : decayed(used, nowMs);
  }

  charge(user: number, ms: number, nowMs: number): void {
    if (!this.#used.has(user) && this.#used.size >= MOST_REMEMBERED) this.#forgetLeast(nowMs);
    this.#used.set(user, { ms: this.of(user, nowMs) + ms, atMs: nowMs });
  }

  /** @returns the place of the one that has used least, of several the first; -1: there is none */
  placeOfLeast(users: readonly number[], nowMs: number): number {
    const uses = users.map((user) => this.of(user, nowMs));
    return uses.reduce((least, ms, place) => (least < 0 || ms < (uses[least] ?? 0) ? place : least), -1);
  }

  #forgetLeast(nowMs: number): void {
    let least: { readonly user: number; readonly ms: number } | undefined;
    for (const [user, used] of this.#used) {
      const ms = decayed(used, nowMs);
      if (least === undefined || ms < least.ms) least = { user, ms };
    }
    if (least !== undefined) this.#used.delete(least.user);
  }
}

function decayed({ ms, atMs }: Used, nowMs: number): number {
  return ms * 2 ** (-(nowMs - atMs) / HALF_LIFE_MS);
}
