/**
 * The time that the processes of an installation have in common. What one of them writes another compares with its clock: a heartbeat's call with its deadline, a
 * window of maintenance, a row. A machine's clock may be off by an hour, so a process on servers looks at two more, PostgreSQL's and Redis's, and while its own
 * is off it goes by the middle one of the three. It counts on from there by its monotonic clock, so that a clock that is set moves nothing meanwhile.
 * Shared memory: the main thread looks, and all threads of the process read.
 */
import { CLOCK_OFF_MS } from "../store/state/checkers.ts";
import { type Clocks, MACHINE_CLOCKS, type MachineClocks, SYSTEM_CLOCKS } from "./clock.ts";

/** A clock that was off counts as right below this, ms: at one bound the time would jump back and forth. */
const CLOCK_RIGHT_MS = 1_000;

/** What is in the memory. Differences are of Unix ms and a monotonic clock that all threads have in common, or NaN while nothing is known. */
const COMMON = 0;
/** How far our own clock may be off before it is not used, ms. */
const BOUND = 1;
/** Redis's clock minus the common one, ms. */
const REDIS_AHEAD = 2;
/** 1 while any of the three is off. */
const IS_ANY_OFF = 3;
const SIZE_BYTES = 4 * Float64Array.BYTES_PER_ELEMENT;

/** Two other clocks, minus the steady one, ms. */
export interface OtherClocks {
  readonly sqlMs: number;
  readonly redisMs: number;
}

export class SharedTime implements Clocks {
  readonly memory: SharedArrayBuffer;
  readonly #cells: Float64Array;
  readonly #machine: MachineClocks;

  constructor(memory?: SharedArrayBuffer, machine: MachineClocks = MACHINE_CLOCKS) {
    this.memory = memory ?? new SharedArrayBuffer(SIZE_BYTES);
    this.#cells = new Float64Array(this.memory);
    this.#machine = machine;
    if (memory === undefined) this.#cells.set([Number.NaN, CLOCK_OFF_MS, 0, 0]);
  }

  /** Unix ms, whole: it goes to SQL. */
  readonly wallNowMs = (): number => {
    const ownMs = this.#machine.wallNowMs();
    const commonMs = this.#machine.steadyNowMs() + this.#cell(COMMON);
    return Math.abs(ownMs - commonMs) > this.#cell(BOUND) ? Math.round(commonMs) : ownMs;
  };

  readonly monotonicNowMs = SYSTEM_CLOCKS.monotonicNowMs;

  /** The machine's clock minus the common one, ms: what its prober threads say is off by as much. */
  readonly machineAheadMs = (): number => this.#machine.wallNowMs() - this.wallNowMs();

  /** Redis's clock minus the common one, ms. */
  readonly redisAheadMs = (): number => this.#cell(REDIS_AHEAD);

  /** One of the three clocks is off. */
  get isAnyOff(): boolean {
    return this.#cell(IS_ANY_OFF) === 1;
  }

  /** Takes what the other clocks say now. @returns how far each of the three is off, ms; 0: it is right */
  agree({ sqlMs, redisMs }: OtherClocks): { readonly ours: number; readonly sql: number; readonly redis: number } {
    const ownMs = this.#machine.wallNowMs() - this.#machine.steadyNowMs();
    const middleMs = [ownMs, sqlMs, redisMs].sort((a, b) => a - b)[1] ?? ownMs;
    const off = (clockMs: number, bound = CLOCK_OFF_MS): number =>
      Math.abs(clockMs - middleMs) > bound ? clockMs - middleMs : 0;
    const ours = off(ownMs, this.#cell(BOUND));
    const [sql, redis] = [off(sqlMs), off(redisMs)];
    this.#cells[BOUND] = ours === 0 ? CLOCK_OFF_MS : CLOCK_RIGHT_MS;
    this.#cells[COMMON] = middleMs;
    this.#cells[REDIS_AHEAD] = redis;
    this.#cells[IS_ANY_OFF] = ours === 0 && sql === 0 && redis === 0 ? 0 : 1;
    return { ours, sql, redis };
  }

  #cell(at: number): number {
    return this.#cells[at] ?? Number.NaN;
  }
}
