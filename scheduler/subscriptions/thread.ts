/**
 * The thread of start.ts: reading a list of megabytes takes a second and more (YAML is read in one piece), and on SQLite a sync's
 * transaction is synchronous. Neither may hold up the wheel, the API or a prober, and a list that takes its thread with it takes nothing else.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setImmediate } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { findCanaries, watchCanaries } from "../../engine/canary.ts";
import { NetworkFitness } from "../../engine/network-fitness.ts";
import type { EngineOptions } from "../../engine/options.ts";
import { askProvider } from "../../engine/subscription/provider.ts";
import { createTransport } from "../../engine/transport/index.ts";
import { createLog } from "../../log.ts";
import type { PlanTable } from "../../model/plan.ts";
import { openHashKey } from "../../store/hash-key.ts";
import { openFollowedSealing } from "../../store/row-form.ts";
import { configPlace, SEALED_AT } from "../../store/sealed-places.ts";
import { openControlPlane, type SqlPlace } from "../../store/sql/open.ts";
import { SYNC_LEASE } from "../../store/sql/ports/syncs.ts";
import { type NoticesPlace, openNotices } from "../../store/state/open.ts";
import { createLeaseKeeper } from "../alerts/lease.ts";
import { SYSTEM_CLOCKS } from "../clock.ts";
import { oneAtATime } from "../one-at-a-time.ts";
import { listedOf } from "./listed.ts";
import { type ListAddress, type RestingList, RestingLists } from "./resting-lists.ts";
import { createSyncer, type Syncer } from "./syncer.ts";
import { ThreadSigns } from "./thread-signs.ts";

export interface SyncThreadData {
  readonly sql: SqlPlace;
  readonly notices: NoticesPlace;
  readonly sealingKeyFile: string;
  readonly engine: EngineOptions;
  readonly plans: PlanTable;
  readonly logLevel: string;
  /** Lists that took too much to read. */
  readonly resting: readonly RestingList[];
  /** Memory of ThreadSigns. */
  readonly signs: SharedArrayBuffer;
}

export type FromSyncThread =
  /** What is being read; null: nothing. */
  | { readonly type: "reading"; readonly list: ListAddress | null }
  | { readonly type: "counts"; readonly counts: Syncer["counts"]; readonly inFlight: number }
  | { readonly type: "stopped" };
export interface ToSyncThread {
  readonly type: "stop";
}

/** How often due syncs are looked for, ms; a sync that is asked for begins within it, by notice sooner. */
const TURN_MS = 1_000;

const given = workerData as SyncThreadData;
const log = createLog(given.logLevel, "subscriptions");
const controlPlane = await openControlPlane(given.sql, { role: "sink" });
const notices = await openNotices(given.notices);
const { sealing, close: unfollow } = await openFollowedSealing(controlPlane.meta, {
  keyFile: given.sealingKeyFile,
  createIfMissing: false,
});
const transport = createTransport(given.engine);
const signs = new ThreadSigns(given.signs);
signs.sign();
const breathe = (): Promise<void> => {
  signs.beat();
  return setImmediate();
};
const lease = createLeaseKeeper({
  leases: controlPlane.leases,
  name: SYNC_LEASE,
  holder: `${hostname()} ${process.pid} ${randomUUID()}`,
  isSoleOwner: controlPlane.dialect === "sqlite",
  monotonicNowMs: SYSTEM_CLOCKS.monotonicNowMs,
});
const network = new NetworkFitness();
const watch = watchCanaries({
  canaries: await findCanaries(given.engine),
  engine: given.engine,
  onReport: (report) => network.canary(report, Date.now()),
});
const syncer = createSyncer({
  controlPlane,
  lease,
  plans: given.plans,
  openUrl: (id, sealed) => sealing.open(SEALED_AT.subscription(id), sealed),
  ask: (url, known, inTurn, signal) => askProvider(transport, { url, known, inTurn, signal, breathe }),
  listed: async (list, projectId) =>
    listedOf(list, {
      key: await identityKey(),
      seal: (identity, fields) => sealing.seal(configPlace(projectId, identity), fields),
      breathe,
    }),
  nowMs: () => Date.now(),
  monotonicNowMs: SYSTEM_CLOCKS.monotonicNowMs,
  isCut: () => network.isCut(Date.now()),
  log,
  onMonitors: () => notices.publish("monitors"),
  onEnded: () => turning.request(),
  onReading: (list) => {
    signs.beat();
    post({ type: "reading", list });
  },
  resting: new RestingLists(given.resting),
});
const turning = oneAtATime(
  () => syncer.turn(),
  (error) => log.error({ err: error }, "looking for syncs failed and is tried again"),
);
const unsubscribe = notices.subscribe("jobs", turning.request);
const timer = setInterval(() => {
  turning.request();
  post({ type: "counts", counts: syncer.counts, inFlight: syncer.inFlight });
}, TURN_MS);
turning.request();
parentPort?.on("message", () => void stop());

/** The same as that of addresses: asked each time, because a rotation seals it anew. */
function identityKey(): Promise<string> {
  return openHashKey(controlPlane, sealing);
}

async function stop(): Promise<void> {
  clearInterval(timer);
  unfollow();
  watch.close();
  unsubscribe();
  await turning.stop();
  await syncer.stop();
  await lease
    .release()
    .catch((error: unknown) =>
      log.warn({ err: error }, "the lease of syncs is not given back: another waits for its end"),
    );
  await notices.close();
  await controlPlane.close();
  post({ type: "stopped" });
  parentPort?.close();
}

function post(message: FromSyncThread): void {
  parentPort?.postMessage(message);
}
