/** The sink's transaction: live states, incidents, drained calls, and up to where results are applied. At most once per sequence. */

import type { IncidentLevel } from "../../../model/incident.ts";
import type { LiveState } from "../../../model/status.ts";
import { IN_SHARDS, shardFilterValues } from "../coordination/shard-filter.ts";
import { addSkips, assertShards } from "../coordination/shards.ts";
import { bulkStatement, type Database, type Session, statement, type Value } from "../db/database.ts";
import { endTests } from "../jobs/jobs.ts";
import { recordConfigs } from "../monitors/imports.ts";
import { liveValues, WRITE_LIVE } from "../monitors/rows.ts";
import { applyAlerts, sentExpiries } from "./alerts.ts";
import { applyIncidentChanges } from "./incidents.ts";
import type { SinkBatch, SinkStore, SinkTouch } from "./port.ts";

/** The empty name stands for a spool from before spools had names. */
const APPLIED = statement(
  "applied_seq",
  "select applied_seq from sink_spools where spool in (?, '') order by spool desc limit 1",
);
/** Answers a row only when the sequence moves forward; holds it until the end of the transaction. */
const ADVANCE = statement(
  "advance_seq",
  `insert into sink_spools (spool, applied_seq) values (?, ?)
   on conflict (spool) do update set applied_seq = excluded.applied_seq where sink_spools.applied_seq < excluded.applied_seq
   returning spool`,
);
const OPEN_INCIDENTS = statement(
  "open_incidents",
  `select monitor_id, level from incidents where ended_at_ms is null and ${IN_SHARDS}`,
);
const DRAIN = bulkStatement(
  "drain_inbox",
  "delete from heartbeat_inbox where id = ?",
  "delete from heartbeat_inbox where id = any($1::bigint[])",
);

export function createSinkStore({ read, write }: Database): SinkStore {
  return {
    apply: (batch) => write((session) => applyRows(session, toRows(batch))),
    // Each of its commits waited for the disk.
    settle: async () => undefined,
    touch: (touch) => write((session) => touchRows(session, touch)),
    async appliedSeq(spool) {
      return (await read.query<{ applied_seq: number }>(APPLIED, spool))[0]?.applied_seq ?? 0;
    },
    async openIncidents(filter) {
      const values = shardFilterValues(filter);
      const rows = await read.query<{ monitor_id: number; level: IncidentLevel }>(OPEN_INCIDENTS, ...values);
      return new Map(rows.map((row) => [row.monitor_id, row.level]));
    },
    sentExpiries: (filter) => sentExpiries(read, filter),
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

async function touchRows(session: Session, { live, skips, leases }: SinkTouch): Promise<void> {
  await assertShards(session, leases);
  await session.bulk(WRITE_LIVE, inOrder(live).map(liveValues));
  await addSkips(session, skips);
}

/** Inside a transaction. */
export async function applyRows(session: Session, batch: SinkRows): Promise<void> {
  await assertShards(session, batch.leases ?? []);
  const advanced = await session.query(ADVANCE, batch.spool, batch.appliedSeq);
  if (advanced.length === 0) return;
  // Incidents first: they lock monitors, and every transaction that needs both locks the monitor before its live row.
  await applyIncidentChanges(session, batch.incidents);
  if (batch.alerts !== undefined && batch.alerts.length > 0) await applyAlerts(session, batch.alerts);
  if (batch.endedTests !== undefined && batch.endedTests.length > 0) await endTests(session, batch.endedTests);
  await session.bulk(WRITE_LIVE, batch.live);
  if (batch.configResults !== undefined) await recordConfigs(session, batch.configResults);
  await addSkips(session, batch.skips ?? []);
  await session.bulk(
    DRAIN,
    batch.drainedInboxIds.map((id) => [id]),
  );
}
