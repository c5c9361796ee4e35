/**
 * A run that uses an account waits until no other scheduler or API uses it, and holds the account's lease until its outcome is there. The
 * lease is renewed meanwhile. When the scheduler dies, the lease ends when the run must have ended; a lease that Redis lost comes back with the next renewal.
 */
import type { CheckRun } from "../../engine/contract/messages.ts";
import { unrunOutcome } from "../../engine/pool/probers.ts";
import type { CheckOutcome } from "../../model/result.ts";
import type { AccountLeases } from "../../store/state/accounts.ts";

/** How often leases are renewed, ms. */
export const RENEW_MS = 5_000;

const BUSY_MESSAGE = "The check was not run: another check used its account";
const STOPPING_MESSAGE = "The check was cancelled because the scheduler is stopping";

export interface AccountTurnsOptions {
  readonly leases: AccountLeases;
  /** This scheduler's unique name. */
  readonly scheduler: string;
  /** Begins runs; each has its outcome later. */
  readonly run: (runs: readonly CheckRun[]) => void;
  readonly onOutcomes: (outcomes: readonly CheckOutcome[]) => void;
  /** A run is over in any case this long after its start plus its time-out, ms. */
  readonly marginMs: number;
  readonly wallNowMs: () => number;
}

type Account = NonNullable<NonNullable<CheckRun["place"]>["account"]>;

interface Use {
  readonly run: CheckRun;
  readonly account: Account;
  readonly token: string;
}

/** Runs that wait for their accounts, and those that use them. */
export class AccountTurns {
  readonly #options: AccountTurnsOptions;
  /** By check, oldest first. */
  readonly #waiting = new Map<number, Use>();
  readonly #held = new Map<number, Use>();
  #looking: Promise<void> | undefined;

  constructor(options: AccountTurnsOptions) {
    this.#options = options;
  }

  run(runs: readonly CheckRun[]): void {
    const free: CheckRun[] = [];
    for (const run of runs) {
      const account = run.place?.account ?? null;
      if (account === null) free.push(run);
      else this.#waiting.set(run.checkId, { run, account, token: `${this.#options.scheduler} ${run.checkId}` });
    }
    if (free.length > 0) this.#options.run(free);
    if (free.length < runs.length) void this.look();
  }

  /** Asks again for accounts that other processes held; to be called every ASK_AGAIN_MS. */
  look(): Promise<void> {
    this.#looking ??= Promise.all([...this.#waiting.values()].map((use) => this.#ask(use)))
      .then(() => undefined)
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #ask(use: Use): Promise<void> {
    const { checkId, place } = use.run;
    if (this.#options.wallNowMs() > (place?.expiresAtMs ?? 0)) return this.#refuse(use, BUSY_MESSAGE);
    const isHeld = await this.#hold(use);
    // Closed meanwhile.
    if (!this.#waiting.has(checkId)) return isHeld ? this.#release(use) : undefined;
    if (!isHeld) return;
    this.#waiting.delete(checkId);
    this.#held.set(checkId, use);
    this.#options.run([use.run]);
  }

  /** To be called every RENEW_MS. */
  async renew(): Promise<void> {
    await Promise.all([...this.#held.values()].map((use) => this.#hold(use)));
  }

  /** An error counts as a refusal: Redis is away, and the run could not be sent either. */
  #hold({ account, token }: Use): Promise<boolean> {
    const { leases, marginMs } = this.#options;
    return leases.hold(account.identity, token, marginMs + RENEW_MS + account.timeoutMs).catch(() => false);
  }

  #release({ account, token }: Use): Promise<void> {
    return this.#options.leases.release(account.identity, token);
  }

  /** Passes outcomes on; the accounts of their runs are free. */
  take(outcomes: readonly CheckOutcome[]): void {
    this.ended(outcomes);
    this.#options.onOutcomes(outcomes);
  }

  /** These runs are over: their accounts are free. */
  ended(outcomes: readonly Pick<CheckOutcome, "checkId">[]): void {
    for (const { checkId } of outcomes) {
      const use = this.#held.get(checkId);
      if (use === undefined) continue;
      this.#held.delete(checkId);
      void this.#release(use);
    }
  }

  /** Ends waiting runs as cancelled. */
  close(): void {
    for (const use of [...this.#waiting.values()]) this.#refuse(use, STOPPING_MESSAGE);
  }

  #refuse(use: Use, message: string): void {
    const { onOutcomes, wallNowMs } = this.#options;
    this.#waiting.delete(use.run.checkId);
    onOutcomes([unrunOutcome(use.run, "cancelled", message, wallNowMs())]);
  }
}
