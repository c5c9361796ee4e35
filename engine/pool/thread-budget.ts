/**
 * A budget of thread time for each check, so that no check delays others. A check that may hold the event loop (loop-share.ts) runs in a
 * prober set aside, one at a time, so that the processor time of each run can be measured. A check that proves light goes back; one that
 * holds the thread stays, and after each run it pauses until its share is within the budget. Pure.
 *
 *   ordinary ──charged──▶ aside ──light runs──▶ ordinary
 *                          └─held the thread─▶ aside, rests ─▶ aside …
 */

/** Charges add up over this, ms. */
const WINDOW_MS = 60_000;
/** A check that is charged this much within the window is a suspect, ms; our choice: a quarter of the silence that ends a prober. */
export const SUSPECT_MS = 500;
/** A run that takes more processor time than this is over the budget, ms; ordinary checks take a few milliseconds. */
const LIGHT_MS = 50;
/** Light runs in a row that acquit; their number doubles each time that it is charged anew. */
const ACQUITTING_RUNS = 2;
const MAX_ACQUITTING_RUNS = 64;
/** What a check over its budget may take of a thread; our choice: then fifty of them fill the one that is set aside. */
const SHARE = 0.02;
/** Longest rest, ms. */
const MAX_REST_MS = 600_000;
/** Checks that are remembered; beyond it those go that were charged first. */
const MAX_REMEMBERED = 10_000;

interface Account {
  /** Sum of charges since windowFromMs. */
  chargedMs: number;
  windowFromMs: number;
  isAside: boolean;
  /** Light runs that are still wanted of it. */
  toAcquit: number;
  /** How many are wanted when it is charged. */
  acquitting: number;
  /** null: no run of it was over the budget. */
  heldMs: number | null;
  restsUntilMs: number;
}

/** null: like any other · aside: alone, in the prober set aside · rests: not now */
export type Standing = null | "aside" | "rests";

export class ThreadBudget {
  readonly #accounts = new Map<number, Account>();
  #aside = 0;
  #over = 0;

  /** Checks that run in the prober set aside. */
  get aside(): number {
    return this.#aside;
  }

  /** The checks among them that were found to hold the thread. */
  get over(): number {
    return this.#over;
  }

  standing(specKey: number, nowMs: number): Standing {
    if (this.#aside === 0) return null;
    const account = this.#accounts.get(specKey);
    if (account === undefined || !account.isAside) return null;
    return nowMs < account.restsUntilMs ? "rests" : "aside";
  }

  /** The check may have held the event loop. @returns whether this charge sets it aside */
  charge(specKey: number, heldMs: number, nowMs: number): boolean {
    const account = this.#accountOf(specKey, nowMs);
    if (account.isAside) return false;
    if (nowMs - account.windowFromMs > WINDOW_MS) {
      account.chargedMs = 0;
      account.windowFromMs = nowMs;
    }
    account.chargedMs += heldMs;
    if (account.chargedMs < SUSPECT_MS) return false;
    account.isAside = true;
    account.toAcquit = account.acquitting;
    account.acquitting = Math.min(account.acquitting * 2, MAX_ACQUITTING_RUNS);
    this.#aside += 1;
    return true;
  }

  /**
   * @param heldMs processor time of a run in the prober set aside
   * @returns how long the check rests now, ms; 0: it is within the budget
   */
  measured(specKey: number, heldMs: number, nowMs: number): number {
    const account = this.#accounts.get(specKey);
    if (account === undefined || !account.isAside) return 0;
    if (heldMs > LIGHT_MS) {
      if (account.heldMs === null) this.#over += 1;
      account.heldMs = heldMs;
      account.toAcquit = account.acquitting;
      const restMs = Math.min(MAX_REST_MS, Math.round(heldMs / SHARE));
      account.restsUntilMs = nowMs + restMs;
      return restMs;
    }
    account.toAcquit -= 1;
    if (account.toAcquit <= 0) this.#acquit(account);
    return 0;
  }

  /** The spec is another one from now on, or none. */
  forget(specKey: number): void {
    const account = this.#accounts.get(specKey);
    if (account === undefined) return;
    this.#acquit(account);
    this.#accounts.delete(specKey);
  }

  #acquit(account: Account): void {
    if (account.isAside) this.#aside -= 1;
    if (account.heldMs !== null) this.#over -= 1;
    account.isAside = false;
    account.heldMs = null;
    account.chargedMs = 0;
    account.restsUntilMs = 0;
  }

  #accountOf(specKey: number, nowMs: number): Account {
    const known = this.#accounts.get(specKey);
    if (known !== undefined) return known;
    for (const oldest of this.#accounts.keys()) {
      if (this.#accounts.size < MAX_REMEMBERED) break;
      this.forget(oldest);
    }
    const account: Account = {
      chargedMs: 0,
      windowFromMs: nowMs,
      isAside: false,
      toAcquit: 0,
      acquitting: ACQUITTING_RUNS,
      heldMs: null,
      restsUntilMs: 0,
    };
    this.#accounts.set(specKey, account);
    return account;
  }
}
