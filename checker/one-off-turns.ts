/** One-off checks at a checker that is a process of its own: one at a time where an account stands behind them (docs/decisions/0002-one-check-one-way.md). */
import type { After } from "../engine/transport/after.ts";
import { type CheckClass, type CheckReply, type OneOffCheck, startWithinMs } from "../store/state/checks.ts";

type Run = (check: OneOffCheck, checkClass: CheckClass) => Promise<CheckReply>;

/** @returns what waits for its turn and then runs; settles within startWithinMs and the check's time-out */
export function withTurns(run: Run, after: After): Run {
  /** By account: the check that was added last; the next one waits for it. */
  const lines = new Map<string, Promise<unknown>>();
  return async (check, checkClass) => {
    const { identity } = check;
    if (identity === null) return run(check, checkClass);
    const before = lines.get(identity) ?? Promise.resolve();
    let isLate = false;
    let giveTime: () => void = () => {};
    const late = new Promise<CheckReply>((resolve) => {
      giveTime = after(startWithinMs(checkClass, check.timeoutMs), () => {
        isLate = true;
        resolve({ type: "busy" });
      });
    });
    const mine = before.then((): Promise<CheckReply> | CheckReply => {
      giveTime();
      return isLate ? { type: "busy" } : run(check, checkClass);
    });
    const ended = mine.catch(() => {});
    lines.set(identity, ended);
    void ended.then(() => {
      if (lines.get(identity) === ended) lines.delete(identity);
    });
    return Promise.race([mine, late]);
  };
}
