/** Opens the stores of the scheduler's thread: SQL, ClickHouse, notices, the spool, and the file of rows that were set aside. */
import { join } from "node:path";
import type { Logger } from "pino";
import { ClickHouseResults } from "../../store/results/clickhouse.ts";
import { Pump } from "../../store/results/pump.ts";
import type { ResultStore } from "../../store/results/result-store.ts";
import { Spool } from "../../store/results/spool.ts";
import { insertWhenWanted } from "../../store/results/wanted-rows.ts";
import { openSetAside, type SetAside } from "../../store/set-aside.ts";
import { openControlPlane, type SqlLocation } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { Shards } from "../../store/sql/coordination/shards-port.ts";
import { startSinkWriter } from "../../store/sql/sink/writer.ts";
import type { OpenBroadcasts } from "../../store/state/broadcasts.ts";
import type { OpenNotices } from "../../store/state/notices.ts";
import { type NoticesLocation, openBroadcasts, openNotices } from "../../store/state/open.ts";
import { SYSTEM_CLOCKS } from "../clock.ts";

export interface StoreLocations {
  readonly sql: SqlLocation;
  readonly notices: NoticesLocation;
  readonly clickhouseUrl: string;
  readonly spoolDir: string;
}

export interface Stores {
  readonly controlPlane: ControlPlane;
  /** Over connections of their own: a beat waits for no other work, and fails soon when the database is away. */
  readonly shards: Shards;
  /** What has those connections; null: they are the others. */
  readonly beating: Pick<ControlPlane, "close"> | null;
  readonly results: ResultStore;
  readonly notices: OpenNotices;
  readonly broadcasts: OpenBroadcasts;
  readonly spool: Spool;
  readonly setAside: SetAside;
}

export async function openStores(locations: StoreLocations, log: Logger): Promise<Stores> {
  const controlPlane = await openSinkControlPlane(locations.sql);
  const beating =
    "url" in locations.sql ? await openControlPlane(locations.sql, { role: "beat", schema: "expect" }) : null;
  const results = new ClickHouseResults({ url: locations.clickhouseUrl, log });
  const notices = await openNotices(locations.notices);
  const broadcasts = await openBroadcasts(locations.notices);
  const spool = await Spool.open({ dir: locations.spoolDir, log, afterSeq: controlPlane.sink.appliedSeq });
  const file = join(locations.spoolDir, "set-aside.ndjson");
  const setAside = await openSetAside({ file, log, nowMs: SYSTEM_CLOCKS.wallNowMs });
  const shards = (beating ?? controlPlane).shards;
  return { controlPlane, shards, beating, results, notices, broadcasts, spool, setAside };
}

/** On SQLite the sink's transactions leave this thread. */
async function openSinkControlPlane(sql: SqlLocation): Promise<ControlPlane> {
  const controlPlane = await openControlPlane(sql, { role: "shards" });
  if ("url" in sql) return controlPlane;
  const writer = startSinkWriter(sql.file);
  return {
    ...controlPlane,
    sink: { ...controlPlane.sink, apply: writer.apply, settle: writer.settle },
    async close() {
      await writer.close();
      await controlPlane.close();
    },
  };
}

export async function closeStores({
  controlPlane,
  beating,
  results,
  notices,
  broadcasts,
  spool,
}: Stores): Promise<void> {
  await spool.close();
  await results.close();
  await notices.close();
  await broadcasts.close();
  await beating?.close();
  await controlPlane.close();
}

/** @param mayWait who reads the results is in this process, and asks for rows that wait (store/results/wanted-rows.ts) */
export async function openPump(
  { controlPlane, spool, results, setAside, notices }: Stores,
  mayWait: boolean,
  log: Logger,
): Promise<Pump> {
  const appliedSeq = await controlPlane.sink.appliedSeq(spool.name);
  const pump = new Pump({ spool, results, log, setAside, appliedSeq, settle: controlPlane.sink.settle, mayWait });
  // Until the notices are closed, which is with the stores.
  if (mayWait) insertWhenWanted(notices, pump);
  // Rows that the last process left go first.
  pump.wake(appliedSeq);
  return pump;
}
