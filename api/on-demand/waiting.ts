/** Waiting for a test: its end comes by a notice, or by a look once a second should the notice be lost. */
import type { Jobs, TestResult } from "../../store/sql/jobs/port.ts";
import type { Notices } from "../../store/state/state.ts";

/** The longest wait of POST /test, ms (docs/api-contract.md#tests). */
export const LONGEST_WAIT_MS = 75_000;
const LOOK_MS = 1_000;

export interface WaitingOptions {
  readonly jobs: Pick<Jobs, "testResult">;
  readonly notices: Pick<Notices, "subscribe">;
  /** Aborts when the API stops: no call is kept waiting. */
  readonly closing: AbortSignal;
}

/**
 * @returns null when it still waits or runs after the longest wait; undefined when it went with its monitor
 * @throws what the store throws
 */
export function waitForTest(
  { jobs, notices, closing }: WaitingOptions,
  jobId: number,
): Promise<TestResult | null | undefined> {
  return new Promise((resolve, reject) => {
    let isLooking = false;
    let isAskedAgain = false;

    async function look(): Promise<void> {
      if (isLooking) {
        isAskedAgain = true;
        return;
      }
      isLooking = true;
      try {
        do {
          isAskedAgain = false;
          const end = await jobs.testResult(jobId);
          if (end !== null) return finish(() => resolve(end));
        } while (isAskedAgain);
      } catch (error) {
        finish(() => reject(error));
      } finally {
        isLooking = false;
      }
    }

    const giveUp = (): void => finish(() => resolve(null));
    const request = (): void => void look();
    const unsubscribe = notices.subscribe("jobs", request);
    const timers = [setInterval(request, LOOK_MS), setTimeout(giveUp, LONGEST_WAIT_MS)];
    closing.addEventListener("abort", giveUp, { once: true });

    function finish(settle: () => void): void {
      unsubscribe();
      for (const timer of timers) clearInterval(timer);
      closing.removeEventListener("abort", giveUp);
      settle();
    }

    if (closing.aborted) giveUp();
    else request();
  });
}
