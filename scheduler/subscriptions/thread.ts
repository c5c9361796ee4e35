/**
 * The thread of syncs (start.ts). Reading a list of megabytes takes a second and more, because YAML is read in one piece, and on SQLite a
 * sync's transaction is synchronous. On a separate thread neither delays the wheel, the API or a prober, and a list that exhausts its thread harms no other work.
 */
import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import type { EngineOptions } from "../../engine/contract/options.ts";
import { askProvider } from "../../engine/subscription/provider.ts";
import { createTransport } from "../../engine/transport/index.ts";
import { findCanaries, watchCanaries } from "../../engine/trust/canary.ts";
import { NetworkFitness } from "../../engine/trust/network-fitness.ts";
import { createLog } from "../../log.ts";
import type { PlanTable } from "../../model/plan.ts";
import { configCell, SEALED_CELLS } from "../../store/sealed-cells.ts";
import { openHashKey } from "../../store/sealing/hash-key.ts";
import { openFollowedSealing } from "../../store/sealing/row-form.ts";
import { openControlPlane, type SqlLocation } from "../../store/sql/control-plane/open.ts";
import { keepWindows } from "../../store/sql/monitors/make-windows.ts";
import { SYNC_LEASE } from "../../store/sql/subscriptions/syncs-port.ts";
import { type NoticesLocation, openNotices } from "../../store/state/open.ts";
import { oneAtATime } from "../one-at-a-time.ts";
import { processLease } from "../process-lease.ts";
import { SharedTime } from "../shared-time.ts";
import { listedOf } from "./listed.ts";
import { type ListAddress, type RestingList, RestingLists } from "./resting-lists.ts";
import { Syncer } from "./syncer.ts";
import { ThreadSigns } from "./thread-signs.ts";

export interface SyncThreadData {
  readonly sql: SqlLocation;
  readonly notices: NoticesLocation;
  readonly sealingKeyFile: string;
  readonly engine: EngineOptions;
  readonly plans: PlanTable;
  readonly logLevel: string;
  /** Lists that took too much to read. */
  readonly resting: readonly RestingList[];
  /** Memory of ThreadSigns. */
  readonly signs: SharedArrayBuffer;
  /** Of SharedTime; absent: the machine's clock is the only one. */
  readonly time?: SharedArrayBuffer | undefined;
}

export type FromSyncThread =
  /** What is being read; null: nothing. */
  | { readonly type: "reading"; readonly list: ListAddress | null }
  | { readonly type: "counts"; readonly counts: Syncer["counts"]; readonly inFlight: number }
  | { readonly type: "stopped" };
export interface ToSyncThread {
  readonly type: "stop";
}

/** How often the thread looks for due syncs, ms. A sync that was requested begins within it, and sooner by notice. */
const TURN_MS = 1_000;
/** How often windows of maintenance are made, ms; they are made an hour ahead. */
const WINDOWS_MS = 20_000;

const settings = workerData as SyncThreadData;
const time = new SharedTime(settings.time);
const log = createLog(settings.logLevel, "subscriptions");
const controlPlane = await openControlPlane(settings.sql, { role: "sink" });
const notices = await openNotices(settings.notices);
const { sealing, close: unfollow } = await openFollowedSealing(controlPlane.meta, {
  keyFile: settings.sealingKeyFile,
  createIfMissing: false,
});
const transport = createTransport(settings.engine);
const signs = new ThreadSigns(settings.signs);
signs.sign();
const breathe = (): Promise<void> => {
  signs.beat();
  return setImmediate();
};
const lease = processLease(controlPlane, SYNC_LEASE, randomUUID());
const network = new NetworkFitness();
const watch = watchCanaries({
  canaries: await findCanaries(settings.engine),
  engine: settings.engine,
  onReport: (report) => network.canary(report, Date.now()),
});
const syncer = new Syncer({
  controlPlane,
  lease,
  lists: {
    openUrl: (id, sealed) => sealing.open(SEALED_CELLS.subscription(id), sealed),
    ask: (url, known, inTurn, signal) => askProvider(transport, { url, known, inTurn, signal, breathe }),
    listed: async (list, projectId) =>
      listedOf(list, {
        key: await identityKey(),
        seal: (identity, fields) => sealing.seal(configCell(projectId, identity), fields),
        breathe,
      }),
  },
  network: { isCut: () => network.isCut(Date.now()) },
  resting: new RestingLists(settings.resting),
  plans: settings.plans,
  clocks: time,
  log,
  events: {
    onMonitors: () => notices.publish("monitors"),
    onEnded: () => turning.request(),
    onReading(list) {
      signs.beat();
      post({ type: "reading", list });
    },
  },
});
const turning = oneAtATime(
  () => syncer.turn(),
  (error) => log.error({ err: error }, "looking for syncs failed and is tried again"),
);
/** Here and not on the scheduler's thread, because making windows of thousands of monitors is a second of SQL. */
const windowing = oneAtATime(
  async () => {
    if ((await lease.keep()) === undefined) return;
    const changed = await keepWindows(controlPlane.schedules, time.wallNowMs(), (error, scheduleId) =>
      log.error({ err: error, scheduleId }, "a schedule of maintenance cannot be used"),
    );
    if (changed > 0) notices.publish("monitors");
  },
  (error) => log.error({ err: error }, "making windows of maintenance failed and is tried again"),
);
const windowTimer = setInterval(windowing.request, WINDOWS_MS);
windowing.request();
const unsubscribe = notices.subscribe("jobs", turning.request);
const timer = setInterval(() => {
  turning.request();
  post({ type: "counts", counts: syncer.counts, inFlight: syncer.inFlight });
}, TURN_MS);
turning.request();
parentPort?.on("message", () => void stop());

/** The key of addresses' hashes. It is read each time, because a rotation seals it again. */
function identityKey(): Promise<string> {
  return openHashKey(controlPlane, sealing);
}

async function stop(): Promise<void> {
  clearInterval(timer);
  clearInterval(windowTimer);
  unfollow();
  watch.close();
  unsubscribe();
  await turning.stop();
  await windowing.stop();
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
