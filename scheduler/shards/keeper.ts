/**
 * Decides which shards this process holds. It beats, reads the others' beats, takes shards that are free or a dead scheduler's up to its fair
 * share, gives back those beyond it, and drops at once those that another scheduler has taken. The rules are model/shards.ts.
 *
 *   free ──take──▶ loading ──▶ held ──share shrank──▶ giving back ──▶ free
 *                                └──another took it: we were frozen, or away from SQL──▶ lost
 */
import type { Logger } from "pino";
import { beatMs } from "../../model/lease.ts";
import { decideShards, type Presence, PresenceWatch, type ShardClaim } from "../../model/shards.ts";
import type { SchedulerReport, ShardLease, Shards, ShardsView } from "../../store/sql/coordination/shards-port.ts";
import type { Tenure } from "../tenure.ts";
import type { OwnedShards } from "./owned-shards.ts";

/** A process as the other schedulers see it. */
export interface SchedulerIdentity {
  /** The scheduler's id, which lives as long as its spool. */
  readonly id: string;
  /** Shown to operators. */
  readonly name: string;
  /** What this process says of itself. */
  report(): SchedulerReport;
}

/** The work on shards. */
export interface ShardWork {
  /** Begins the work on shards that were taken; they are held when it resolves. */
  load(leases: readonly ShardLease[]): Promise<void>;
  /** Ends the work on them and writes everything down; they are dropped when it resolves. */
  giveBack(leases: readonly ShardLease[]): Promise<void>;
  /** Drops the work on them. */
  lose(leases: readonly ShardLease[]): void;
}

export interface ShardKeeperOptions {
  readonly store: Shards;
  readonly ownedShards: OwnedShards;
  /** Renewed by each look. */
  readonly tenure: Tenure;
  readonly self: SchedulerIdentity;
  readonly work: ShardWork;
  readonly leaseMs: number;
  readonly monotonicNowMs: () => number;
  readonly log: Logger;
  /** Shards were taken or freed: other schedulers look. One that was alone, and cannot reach the database, learns that it is not. */
  readonly onMoved: () => void;
}

/** Since the start. */
export interface ShardMoveCounts {
  readonly taken: number;
  readonly givenBack: number;
  readonly lost: number;
}

/**
 * What this process held when it ended, without a wait and under the same epochs: its folder has one owner, so no other process is this scheduler,
 * and the rows in its spool are still good.
 * @param isSoleOwner the control plane is in that folder as well: everything is its own
 */
export async function takeOwn(store: Shards, id: string, isSoleOwner: boolean): Promise<readonly ShardLease[]> {
  const leases: ShardLease[] = [];
  for (const { shard, holder, epoch } of (await store.view()).shards) {
    const held = holder === id ? epoch : isSoleOwner ? await store.take(shard, id, epoch) : undefined;
    if (held !== undefined) leases.push({ shard, epoch: held });
  }
  return leases;
}

/** What a look found. */
interface Look {
  readonly view: ShardsView;
  readonly presence: ReadonlyMap<string, Presence>;
}

export class ShardKeeper {
  readonly #store: Shards;
  readonly #ownedShards: OwnedShards;
  readonly #tenure: Tenure;
  readonly #leaseMs: number;
  readonly #self: SchedulerIdentity;
  readonly #work: ShardWork;
  readonly #watch: PresenceWatch;
  readonly #nowMs: () => number;
  readonly #log: Logger;
  readonly #onMoved: () => void;
  readonly #moves = { taken: 0, givenBack: 0, lost: 0 };
  #latest: Look | undefined;
  #isSetBack = false;

  constructor(options: ShardKeeperOptions) {
    this.#store = options.store;
    this.#ownedShards = options.ownedShards;
    this.#tenure = options.tenure;
    this.#leaseMs = options.leaseMs;
    this.#self = options.self;
    this.#work = options.work;
    this.#watch = new PresenceWatch(options.leaseMs);
    this.#nowMs = options.monotonicNowMs;
    this.#log = options.log;
    this.#onMoved = options.onMoved;
  }

  get moves(): ShardMoveCounts {
    return this.#moves;
  }

  /** Another scheduler says that shards have moved. A look that succeeds says whether this one is alone. */
  hearMoves(): void {
    this.#tenure.doubt();
  }

  /**
   * The database lacks commits that it had, as after a failover to a copy that was behind. What is in memory may be of those: all shards are given back with
   * the next move, and who takes them reads what there is.
   */
  setBack(): void {
    this.#isSetBack = true;
    this.#log.warn(
      "the database lacks its newest changes: this scheduler gives its shards back and reads everything anew",
    );
  }

  /** Beats, looks, and drops shards that another scheduler holds. */
  async look(): Promise<void> {
    const { id, name } = this.#self;
    const sentAt = this.#tenure.moment();
    await this.#store.beat(id, name, { ...this.#self.report(), beatMs: beatMs(this.#leaseMs) });
    // Read after our own leases: shards that are taken meanwhile are not in it, and are no news.
    const before = this.#ownedShards.leases();
    const view = await this.#store.view();
    this.lost(before.filter(({ shard, epoch }) => view.shards[shard]?.epoch !== epoch));
    const beats = view.schedulers.map(({ id: other, beat, report }) => ({ id: other, beat, beatMs: report.beatMs }));
    const presence = this.#watch.look(beats, this.#nowMs());
    this.#tenure.renew(sentAt, ![...presence].some(([other, how]) => other !== id && how !== "dead"));
    this.#latest = { view, presence };
  }

  /** Takes and gives back by the latest look; may take seconds, and looks go on meanwhile. */
  async move(): Promise<void> {
    const latest = this.#latest;
    // Each look is used for one move only.
    this.#latest = undefined;
    if (latest === undefined) return;
    const { view, presence } = latest;
    if (this.#isSetBack) {
      this.#isSetBack = false;
      return this.#giveBack(this.#ownedShards.leases().map(({ shard }) => shard));
    }
    const moves = decideShards(this.#self.id, this.#claims(view), presence);
    if (moves.giveBack.length > 0) await this.#giveBack(moves.giveBack);
    if (moves.take.length > 0) await this.#take(moves.take, view);
    await this.#forgetDead(latest);
  }

  /** A shard that is ours in SQL but not in memory was taken just before an answer got lost: it counts as free. */
  #claims({ shards }: ShardsView): readonly ShardClaim[] {
    const { id } = this.#self;
    return shards.map(({ shard, holder }) => {
      if (this.#ownedShards.lease(shard) !== undefined) return { shard, holder: id };
      return { shard, holder: holder === id ? null : holder };
    });
  }

  async #giveBack(shards: readonly number[]): Promise<void> {
    const leases = shards.flatMap((shard) => this.#ownedShards.lease(shard) ?? []);
    await this.#work.giveBack(leases);
    await this.#store.release(leases);
    this.#moves.givenBack += leases.length;
    this.#log.info({ shards }, "shards given back");
    this.#onMoved();
  }

  async #take(shards: readonly number[], view: ShardsView): Promise<void> {
    const leases: ShardLease[] = [];
    for (const shard of shards) {
      const epoch = await this.#store.take(shard, this.#self.id, view.shards[shard]?.epoch ?? -1);
      if (epoch !== undefined) leases.push({ shard, epoch });
    }
    if (leases.length === 0) return;
    try {
      await this.#work.load(leases);
    } catch (error) {
      // Not ours in memory: should the release fail too, the next look finds them free for us.
      await this.#store.release(leases).catch(() => {});
      throw error;
    }
    this.#moves.taken += leases.length;
    this.#log.info({ shards: leases.map(({ shard }) => shard) }, "shards taken");
    this.#onMoved();
  }

  /** Rows of dead schedulers stay until they hold no shard. */
  async #forgetDead({ view, presence }: Look): Promise<void> {
    for (const { id, beat } of view.schedulers) {
      if (presence.get(id) !== "dead" || id === this.#self.id) continue;
      if (view.shards.every(({ holder }) => holder !== id)) await this.#store.forget(id, beat);
    }
  }

  /** Another scheduler holds these shards: SQL refused a write for that reason. */
  lost(leases: readonly ShardLease[]): void {
    const ours = leases.filter(({ shard, epoch }) => this.#ownedShards.lease(shard)?.epoch === epoch);
    if (ours.length === 0) return;
    this.#moves.lost += ours.length;
    this.#log.warn(
      { shards: ours.map(({ shard }) => shard) },
      "another scheduler has taken shards: what was not written is theirs",
    );
    this.#work.lose(ours);
  }

  /** Frees everything; the work must have ended. */
  async leave(): Promise<void> {
    const leases = this.#ownedShards.leases();
    await this.#store.forget(this.#self.id);
    await this.#store.release(leases);
    this.#onMoved();
  }
}
