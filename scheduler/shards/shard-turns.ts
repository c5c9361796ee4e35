/** When the shard keeper looks and moves: several times within a lease time, and at once when another has freed shards. */
import type { Logger } from "pino";
import { beatMs } from "../../model/lease.ts";
import type { Notices } from "../../store/state/state.ts";
import { oneAtATime } from "../one-at-a-time.ts";
import type { ShardKeeper } from "./keeper.ts";

export interface ShardTurnsOptions {
  readonly keeper: ShardKeeper;
  readonly leaseMs: number;
  readonly notices: Notices;
  readonly log: Logger;
}

/** @returns what stops them, and waits for what is under way */
export async function startShardTurns({
  keeper,
  leaseMs,
  notices,
  log,
}: ShardTurnsOptions): Promise<() => Promise<void>> {
  await keeper.look();
  await keeper.move();
  const moving = oneAtATime(
    () => keeper.move(),
    (error) => log.error({ err: error }, "moving shards failed and is tried again"),
  );
  const looking = oneAtATime(
    // A move may take seconds; beats go on meanwhile.
    () => keeper.look().then(moving.request),
    (error) => log.error({ err: error }, "this scheduler cannot tell the others that it lives; it tries again"),
  );
  const timer = setInterval(looking.request, beatMs(leaseMs));
  const unsubscribe = notices.subscribe("shards", () => {
    keeper.hearMoves();
    looking.request();
  });
  return async () => {
    clearInterval(timer);
    unsubscribe();
    await looking.stop();
    await moving.stop();
  };
}
