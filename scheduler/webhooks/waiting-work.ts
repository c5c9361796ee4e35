/**
 * Whether the senders have something to do. A whole turn makes a dozen queries, and nearly always finds nothing. So it is asked first whether
 * anything was committed since the last question, by any process (SQLite's stamp costs some microseconds), and if so, when the next thing is due.
 */
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { CLOCK_STEP_MS, type Clocks } from "../clock.ts";

/** A whole turn is made this often although nothing seems to be due, ms. Our choice: whatever these questions overlook waits no longer. */
const WHOLE_TURN_MS = 15_000;

/** What of the control plane is asked. */
export interface WorkSource {
  stamp: ControlPlane["stamp"];
  readonly outgoing: Pick<ControlPlane["outgoing"], "nextAtMs">;
  readonly alertTurns: Pick<ControlPlane["alertTurns"], "nextAtMs">;
}

export class WaitingWork {
  readonly #source: WorkSource;
  readonly #clocks: Clocks;
  #epoch: number | undefined;
  /** By the monotonic clock. */
  #turnedAtMs = Number.NEGATIVE_INFINITY;
  /** How far the wall clock was ahead of the monotonic one. */
  #offsetMs = 0;
  #stamp: number | null = null;
  /** By the wall clock, of what was committed at the stamp. */
  #nextAtMs = 0;

  constructor(source: WorkSource, clocks: Clocks) {
    this.#source = source;
    this.#clocks = clocks;
  }

  /**
   * Whether a whole turn is to be made now. Once it is, it stays so until turned().
   * @param epoch of the senders' lease; undefined: another process has it, and a turn only tries to take it
   * @throws StoreError when the store is away
   */
  async isDue(epoch: number | undefined): Promise<boolean> {
    const isDue =
      epoch === undefined || epoch !== this.#epoch || this.#isTimeForAll() || (await this.#isSomethingDue());
    if (isDue) this.#turnedAtMs = Number.NEGATIVE_INFINITY;
    this.#epoch = epoch;
    return isDue;
  }

  #isTimeForAll(): boolean {
    const monotonicMs = this.#clocks.monotonicNowMs();
    if (monotonicMs - this.#turnedAtMs >= WHOLE_TURN_MS) return true;
    // Times that are due were written by the clock as it was.
    return Math.abs(this.#clocks.wallNowMs() - monotonicMs - this.#offsetMs) > CLOCK_STEP_MS;
  }

  async #isSomethingDue(): Promise<boolean> {
    // Read before the question: what is committed meanwhile is asked for the next time.
    const stamp = this.#source.stamp();
    if (stamp === null || stamp !== this.#stamp) {
      this.#nextAtMs = await this.#next();
      this.#stamp = stamp;
    }
    return this.#clocks.wallNowMs() >= this.#nextAtMs;
  }

  /** A whole turn has ended without a fault. */
  turned(): void {
    this.#turnedAtMs = this.#clocks.monotonicNowMs();
    this.#offsetMs = this.#clocks.wallNowMs() - this.#turnedAtMs;
  }

  async #next(): Promise<number> {
    const { outgoing, alertTurns } = this.#source;
    const [webhooks, alerts] = [await outgoing.nextAtMs(), await alertTurns.nextAtMs()];
    return Math.min(webhooks ?? Number.POSITIVE_INFINITY, alerts ?? Number.POSITIVE_INFINITY);
  }
}
