/**
 * Keeps a right that one process has at a time (model/lease.ts), over the table of leases. Work that was begun while mayBegin() allowed it
 * has ended before another process can take the right.
 */
import { BeatWatch, beatMs, LEASE_MS } from "../model/lease.ts";
import { type Lease, LeaseLost, type Leases } from "../store/sql/coordination/leases-port.ts";

/** Between the end of work and the end of the lease, for the work's record, ms. */
const SPARE_MS = 5_000;

export interface LeaseOptions {
  readonly leases: Leases;
  readonly name: string;
  /** Names this process. */
  readonly holder: string;
  /** No other living process can have it: the control plane is in a data folder, which has one owner. */
  readonly isSoleOwner: boolean;
  readonly monotonicNowMs: () => number;
}

export class LeaseKeeper {
  readonly #leases: Leases;
  readonly #name: string;
  readonly #holder: string;
  readonly #isSoleOwner: boolean;
  readonly #nowMs: () => number;
  /** Watches the beats of the other process that holds the lease. */
  readonly #beats = new BeatWatch();
  #epoch: number | undefined;
  /** When the last beat that succeeded was sent. */
  #beatAtMs = 0;

  constructor({ leases, name, holder, isSoleOwner, monotonicNowMs }: LeaseOptions) {
    this.#leases = leases;
    this.#name = name;
    this.#holder = holder;
    this.#isSoleOwner = isSoleOwner;
    this.#nowMs = monotonicNowMs;
  }

  /** Beats when it is time, or tries to take the right. @returns the epoch while it is held */
  async keep(): Promise<number | undefined> {
    if (this.#epoch === undefined) await this.#take();
    else await this.#beat(this.#epoch);
    return this.#epoch;
  }

  async #beat(epoch: number): Promise<void> {
    // Beats are for processes that may take the right. Each is a commit, and all that watches the database looks after a commit.
    if (this.#isSoleOwner) return;
    const sentAtMs = this.#nowMs();
    if (sentAtMs - this.#beatAtMs < beatMs(LEASE_MS)) return;
    if (await this.#leases.beat(this.#name, epoch)) this.#beatAtMs = sentAtMs;
    else this.#epoch = undefined;
  }

  async #take(): Promise<void> {
    const nowMs = this.#nowMs();
    const seen = await this.#leases.read(this.#name);
    if (seen !== undefined && !this.#mayTake(seen, nowMs)) return;
    this.#epoch = await this.#leases.take(this.#name, this.#holder, seen);
    this.#beatAtMs = nowMs;
  }

  #mayTake({ holder, epoch, beat }: Lease, nowMs: number): boolean {
    if (holder === null || this.#isSoleOwner) return true;
    this.#beats.look([{ id: this.#name, beat: `${epoch} ${beat}` }], nowMs);
    return (this.#beats.stillMs(this.#name, nowMs) ?? 0) >= LEASE_MS;
  }

  /** Whether work that takes so long, and its record, end before the lease does, ms. */
  mayBegin(longestMs: number): boolean {
    if (this.#epoch === undefined) return false;
    return this.#isSoleOwner || this.#nowMs() - this.#beatAtMs < LEASE_MS - longestMs - SPARE_MS;
  }

  /** Runs a write that asserts the epoch. When the write fails with LeaseLost, this keeper knows that the lease is lost. */
  async asserting<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof LeaseLost) this.#epoch = undefined;
      throw error;
    }
  }

  async release(): Promise<void> {
    if (this.#epoch !== undefined) await this.#leases.release(this.#name, this.#epoch);
    this.#epoch = undefined;
  }
}
