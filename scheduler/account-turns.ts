/**
 * A run that uses an account waits until no other scheduler or API uses it, and holds its lease until the outcome is there. The
 * lease is renewed meanwhile and outlives its scheduler by what the run may still take; so does one that Redis has forgotten.
 */
import type { CheckRun } from "../engine/check.ts";
import { unrunOutcome } from "../engine/probers.ts";
import type { CheckOutcome } from "../model/result.ts";
import type { AccountLeases } from "../store/state/accounts.ts";

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

export interface AccountTurns {
  run(runs: readonly CheckRun[]): void;
  /** These runs are over: their accounts are free. */
  ended(outcomes: readonly Pick<CheckOutcome, "checkId">[]): void;
  /** The same, and passes their outcomes on. */
  take(outcomes: readonly CheckOutcome[]): void;
  /** Asks again for accounts that other processes held; to be called every ASK_AGAIN_MS. */
  look(): Promise<void>;
  /** To be called every RENEW_MS. */
  renew(): Promise<void>;
  /** What waits ends as cancelled. */
  close(): void;
}

export function createAccountTurns({
  leases,
  scheduler,
  marginMs,
  wallNowMs,
  ...options
}: AccountTurnsOptions): AccountTurns {
  /** By check, oldest first. */
  const waiting = new Map<number, Use>();
  const held = new Map<number, Use>();
  let looking: Promise<void> | undefined;

  /** An error counts as no: Redis is away, and nothing could be sent either. */
  const hold = ({ account, token }: Use): Promise<boolean> =>
    leases.hold(account.identity, token, marginMs + RENEW_MS + account.timeoutMs).catch(() => false);

  function refuse(use: Use, message: string): void {
    waiting.delete(use.run.checkId);
    options.onOutcomes([unrunOutcome(use.run, "cancelled", message, wallNowMs())]);
  }

  async function ask(use: Use): Promise<void> {
    const { checkId, place } = use.run;
    if (wallNowMs() > (place?.expiresAtMs ?? 0)) return refuse(use, BUSY_MESSAGE);
    const isHeld = await hold(use);
    // Closed meanwhile.
    if (!waiting.has(checkId)) return isHeld ? leases.release(use.account.identity, use.token) : undefined;
    if (!isHeld) return;
    waiting.delete(checkId);
    held.set(checkId, use);
    options.run([use.run]);
  }

  function look(): Promise<void> {
    looking ??= Promise.all([...waiting.values()].map(ask))
      .then(() => undefined)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  function ended(outcomes: readonly Pick<CheckOutcome, "checkId">[]): void {
    for (const { checkId } of outcomes) {
      const use = held.get(checkId);
      if (use === undefined) continue;
      held.delete(checkId);
      void leases.release(use.account.identity, use.token);
    }
  }

  return {
    run(runs) {
      const free: CheckRun[] = [];
      for (const run of runs) {
        const account = run.place?.account ?? null;
        if (account === null) free.push(run);
        else waiting.set(run.checkId, { run, account, token: `${scheduler} ${run.checkId}` });
      }
      if (free.length > 0) options.run(free);
      if (free.length < runs.length) void look();
    },
    ended,
    take(outcomes) {
      ended(outcomes);
      options.onOutcomes(outcomes);
    },
    look,
    renew: () => Promise.all([...held.values()].map(hold)).then(() => undefined),
    close() {
      for (const use of [...waiting.values()]) refuse(use, STOPPING_MESSAGE);
    },
  };
}
