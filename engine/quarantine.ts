/** Checks that killed their prober: not run again for a while, so that one cannot hold up all others. Pure. */

/** A quarantined check is tried again after this: what killed the prober may have been the target's answer of that hour. */
const QUARANTINED_MS = 60 * 60_000;

export class Quarantine {
  readonly #held = new Map<number, { readonly untilMs: number; readonly message: string }>();

  /** @returns the message that its runs are answered with */
  add(specKey: number, reason: string, nowMs: number): string {
    const message = `This check brought its prober down and is quarantined for an hour (${reason})`;
    this.#held.set(specKey, { untilMs: nowMs + QUARANTINED_MS, message });
    return message;
  }

  release(specKey: number): void {
    this.#held.delete(specKey);
  }

  /** Why a spec must not run now; undefined when it may. */
  refusal(specKey: number, nowMs: number): string | undefined {
    const held = this.#held.get(specKey);
    if (held === undefined) return undefined;
    if (nowMs < held.untilMs) return held.message;
    this.#held.delete(specKey);
    return undefined;
  }
}
