/** The sink's transaction: live states, incidents, drained calls, and up to where results are applied. At most once per sequence. */
import type { LiveState } from "../../model/status.ts";
import type { IncidentLevel, SinkBatch, SinkStore } from "./control-plane.ts";
import { bulkStatement, type Database, type Session, statement, type Value } from "./database.ts";
import { endTests } from "./jobs.ts";
import { liveValues, WRITE_LIVE } from "./monitor-rows.ts";
import { applyAlerts, toldExpiries } from "./sink-alerts.ts";
import { applyIncidentChanges } from "./sink-incidents.ts";

const APPLIED = statement("applied_seq", "select applied_seq from sink_shards where shard = ?");
/** Answers a row only when the sequence moves forward; holds it until the end of the transaction. */
const ADVANCE = statement(
  "advance_seq",
  `insert into sink_shards (shard, applied_seq) values (?, ?)
   on conflict (shard) do update set applied_seq = excluded.applied_seq where sink_shards.applied_seq < excluded.applied_seq
   returning shard`,
);
const OPEN_INCIDENTS = statement("open_incidents", "select monitor_id, level from incidents where ended_at_ms is null");
const DRAIN = bulkStatement(
  "drain_inbox",
  "delete from heartbeat_inbox where id = ?",
  "delete from heartbeat_inbox where id = any($1::bigint[])",
);

export function createSinkStore({ read, write }: Database): SinkStore {
  return {
    apply: (batch) => write((session) => applyRows(session, toRows(batch))),
    touch: (live) => write((session) => session.bulk(WRITE_LIVE, inOrder(live).map(liveValues))),
    async appliedSeq(shard) {
      return (await read.query<{ applied_seq: number }>(APPLIED, shard))[0]?.applied_seq ?? 0;
    },
    async openIncidents() {
      const rows = await read.query<{ monitor_id: number; level: IncidentLevel }>(OPEN_INCIDENTS);
      return new Map(rows.map((row) => [row.monitor_id, row.level]));
    },
    toldExpiries: () => toldExpiries(read),
  };
}

/** A batch with its live states as the values of their rows: plain arrays cross to another thread cheaply. */
export type SinkRows = Omit<SinkBatch, "live"> & { readonly live: readonly (readonly Value[])[] };

/** One row per monitor, of the last state given, in the order of ids so that two shards never wait for each other. */
export function toRows(batch: SinkBatch): SinkRows {
  return { ...batch, live: inOrder(batch.live).map(liveValues) };
}

function inOrder(live: readonly LiveState[]): readonly LiveState[] {
  const latest = new Map(live.map((state) => [state.monitorId, state]));
  return [...latest.values()].sort((a, b) => a.monitorId - b.monitorId);
}

/** Inside a transaction. */
export async function applyRows(session: Session, batch: SinkRows): Promise<void> {
  const advanced = await session.query(ADVANCE, batch.shard, batch.appliedSeq);
  if (advanced.length === 0) return;
  // Incidents first: they hold monitors, and everyone else who needs both takes the monitor before its live row.
  await applyIncidentChanges(session, batch.incidents);
  if (batch.alerts !== undefined && batch.alerts.length > 0) await applyAlerts(session, batch.alerts);
  if (batch.jobEnds !== undefined && batch.jobEnds.length > 0) await endTests(session, batch.jobEnds);
  await session.bulk(WRITE_LIVE, batch.live);
  await session.bulk(
    DRAIN,
    batch.drainedInboxIds.map((id) => [id]),
  );
}
