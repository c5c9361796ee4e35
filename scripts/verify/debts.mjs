// What was there before its rule, and may only become less.

/** `path name` to lines. */
export const LONG_FUNCTIONS = {
  "bench/parts/heap.ts createHeap": 71,
  "engine/cores/outbound-port.ts connectOutbounds": 81,
  "engine/protocols/http/content-coding.ts decodeContent": 61,
  "engine/tunnels/inner-probe.ts askThrough": 71,
  "main-scheduler.ts start": 66,
  "main.ts start": 90,
  "scheduler/account-turns.ts createAccountTurns": 74,
  "scheduler/alerts/sender.ts createSender": 126,
  "scheduler/course.ts createCourse": 177,
  "scheduler/dispatch.ts createDispatch": 124,
  "scheduler/errands.ts createErrands": 69,
  "scheduler/follow.ts createFollower": 74,
  "scheduler/gates.ts createAdmission": 95,
  "scheduler/ledger.ts createLedger": 166,
  "scheduler/loop.ts startLoop": 63,
  "scheduler/loop.ts assemble": 64,
  "scheduler/plan.ts createPlan": 126,
  "scheduler/shard-keeper.ts createShardKeeper": 87,
  "scheduler/sink.ts createSink": 148,
  "scheduler/subscriptions/syncer.ts createSyncer": 141,
  "scheduler/test-jobs.ts createTestJobs": 103,
  "scheduler/turns.ts createTurns": 80,
  "scheduler/worker.ts serve": 72,
  "store/results/clickhouse.ts openResultStore": 102,
  "store/results/embedded/child.ts startEmbeddedClickHouse": 146,
  "store/results/pump.ts startPump": 141,
  "store/results/spool.ts openSpool": 171,
  "store/state/redis-checks.ts openRedisChecks": 87,
  "store/state/redis-checks.ts serveLane": 75,
  "store/state/thread-checks.ts openThreadCheckServer": 83,
};

/** Folder to how often it names a person for a process or a caller. */
export const FORBIDDEN_WORDS = {
  ".": 4,
  api: 14,
  bench: 1,
  cli: 1,
  docs: 1,
  engine: 27,
  scheduler: 2,
  store: 6,
  test: 79,
};
