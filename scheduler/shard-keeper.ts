/**
 * Decides which shards this process holds. It beats, reads the others' beats, takes shards that are free or a dead scheduler's up to its fair
 * share, gives back those beyond it, and drops at once those that another scheduler has taken. The rules are model/shards.ts.
 *
 *   free ──take──▶ loading ──▶ held ──share shrank──▶ giving back ──▶ free
 *                                └──another took it: we were frozen, or away from SQL──▶ lost
 */
import type { Logger } from "pino";
import { createBeatWatch, decideShards, type Presence } from "../model/shards.ts";
import type { Fence, SchedulerReport, Shards, ShardsView } from "../store/sql/ports/shards.ts";
import type { Holdings } from "./holdings.ts";

/** Within this after its last beat the shards of a scheduler that stands still have another holder, ms (as long as the sender's lease). */
export const SHARD_LEASE_MS = 30_000;

export interface ShardKeeperOptions {
  readonly store: Shards;
  readonly holdings: Holdings;
  /** Names this scheduler for as long as its spool lives. */
  readonly id: string;
  /** Shown to operators. */
  readonly name: string;
  readonly leaseMs: number;
  readonly monotonicNowMs: () => number;
  readonly log: Logger;
  /** What this process says of itself. */
  readonly report: () => SchedulerReport;
  /** Begins the work on shards that were taken; they are held when it resolves. */
  readonly load: (fences: readonly Fence[]) => Promise<void>;
  /** Ends the work on them and writes everything down; they are dropped when it resolves. */
  readonly giveBack: (fences: readonly Fence[]) => Promise<void>;
  /** Drops the work on them. */
  readonly lose: (fences: readonly Fence[]) => void;
  /** Shards are free: the schedulers that wait may look. */
  readonly onFreed: () => void;
}

export interface ShardKeeper {
  /** Beats, looks, and drops shards that another scheduler holds. */
  look(): Promise<void>;
  /** Takes and gives back by the latest look; may take seconds, and looks go on meanwhile. */
  move(): Promise<void>;
  /** A write was refused because another scheduler holds these. */
  lost(fences: readonly Fence[]): void;
  /** Frees everything; the work must have ended. */
  leave(): Promise<void>;
  readonly moves: ShardMoveCounts;
}

export interface ShardMoveCounts {
  readonly taken: number;
  readonly givenBack: number;
  readonly lost: number;
}

/**
 * What this process held when it ended, without a wait and under the same epochs: its folder has one owner, so no other process is this scheduler,
 * and what lies in its spool is still good.
 * @param isSoleOwner the control plane is in that folder as well: everything is its own
 */
export async function takeOwn(store: Shards, id: string, isSoleOwner: boolean): Promise<readonly Fence[]> {
  const fences: Fence[] = [];
  for (const { shard, holder, epoch } of (await store.view()).shards) {
    const held = holder === id ? epoch : isSoleOwner ? await store.take(shard, id, epoch) : undefined;
    if (held !== undefined) fences.push({ shard, epoch: held });
  }
  return fences;
}

export function createShardKeeper(options: ShardKeeperOptions): ShardKeeper {
  const { store, holdings, id, log } = options;
  const watch = createBeatWatch(options.leaseMs);
  const counts = { taken: 0, givenBack: 0, lost: 0 };
  let latest: { readonly view: ShardsView; readonly presence: ReadonlyMap<string, Presence> } | undefined;

  function lost(fences: readonly Fence[]): void {
    const ours = fences.filter(({ shard, epoch }) => holdings.fence(shard)?.epoch === epoch);
    if (ours.length === 0) return;
    counts.lost += ours.length;
    log.warn(
      { shards: ours.map(({ shard }) => shard) },
      "another scheduler has taken shards: what was not written is theirs",
    );
    options.lose(ours);
  }

  async function take(shards: readonly number[], view: ShardsView): Promise<void> {
    const fences: Fence[] = [];
    for (const shard of shards) {
      const epoch = await store.take(shard, id, view.shards[shard]?.epoch ?? -1);
      if (epoch !== undefined) fences.push({ shard, epoch });
    }
    if (fences.length === 0) return;
    try {
      await options.load(fences);
    } catch (error) {
      // Not ours in memory: should the release fail too, the next look finds them free for us.
      await store.release(fences).catch(() => {});
      throw error;
    }
    counts.taken += fences.length;
    log.info({ shards: fences.map(({ shard }) => shard) }, "shards taken");
  }

  async function giveBack(shards: readonly number[]): Promise<void> {
    const fences = shards.flatMap((shard) => holdings.fence(shard) ?? []);
    await options.giveBack(fences);
    await store.release(fences);
    counts.givenBack += fences.length;
    log.info({ shards }, "shards given back, because other schedulers have come");
    options.onFreed();
  }

  /** Rows of dead schedulers stay until they hold no shard. */
  async function forgetDead({ view, presence }: NonNullable<typeof latest>): Promise<void> {
    for (const { id: other, beat } of view.schedulers) {
      if (presence.get(other) !== "dead" || other === id) continue;
      if (view.shards.every(({ holder }) => holder !== other)) await store.forget(other, beat);
    }
  }

  return {
    async look() {
      await store.beat(id, options.name, options.report());
      // Read after our own holdings: shards that are taken meanwhile are not in it, and are no news.
      const before = holdings.fences();
      const view = await store.view();
      lost(before.filter(({ shard, epoch }) => view.shards[shard]?.epoch !== epoch));
      latest = { view, presence: watch.look(view.schedulers, options.monotonicNowMs()) };
    },
    async move() {
      const seen = latest;
      // Each look is good for one move.
      latest = undefined;
      if (seen === undefined) return;
      const { view, presence } = seen;
      // A shard that is ours in SQL but not in memory was taken just before an answer got lost.
      const claims = view.shards.map(({ shard, holder }) => {
        if (holdings.fence(shard) !== undefined) return { shard, holder: id };
        return { shard, holder: holder === id ? null : holder };
      });
      const moves = decideShards(id, claims, presence);
      if (moves.giveBack.length > 0) await giveBack(moves.giveBack);
      if (moves.take.length > 0) await take(moves.take, view);
      await forgetDead(seen);
    },
    lost,
    async leave() {
      const fences = holdings.fences();
      await store.forget(id);
      await store.release(fences);
      options.onFreed();
    },
    moves: counts,
  };
}
