/** When a monitor was down and when it was paused, from incidents and history. */
import type { Downtime } from "../../../model/uptime.ts";
import type { Session } from "../db/database.ts";

/** Most incidents, and most changes of pause, that one answer reads, newest first. Of a monitor with more only the time that they cover is known. */
const MAX_READ = 2_000;

export async function readDowntime(
  { kysely }: Session,
  monitor: { readonly id: number; readonly createdAtMs: number },
  sinceMs: number,
): Promise<Downtime> {
  const incidents = await kysely
    .selectFrom("incidents as i")
    // An incident may begin as degraded; it is down from then on when its level changed.
    .leftJoin("incident_events as e", (join) =>
      join.onRef("e.incident_id", "=", "i.id").on("e.type", "=", "level_changed"),
    )
    .select(["i.started_at_ms", "i.ended_at_ms", "e.at_ms as raised_at_ms"])
    .where("i.monitor_id", "=", monitor.id)
    .where("i.level", "=", "down")
    .where((of) => of.or([of("i.ended_at_ms", "is", null), of("i.ended_at_ms", ">", sinceMs)]))
    .orderBy("i.started_at_ms", "desc")
    .limit(MAX_READ)
    .execute();
  const turns = await kysely
    .selectFrom("history")
    .select(["type", "at_ms"])
    .where("monitor_id", "=", monitor.id)
    .where("type", "in", ["paused", "resumed"])
    .orderBy("at_ms", "desc")
    .orderBy("id", "desc")
    .limit(MAX_READ)
    .execute();
  const oldestRead = [incidents.at(MAX_READ - 1)?.started_at_ms, turns.at(MAX_READ - 1)?.at_ms];
  return {
    down: incidents.map((row) => ({ fromMs: row.raised_at_ms ?? row.started_at_ms, toMs: row.ended_at_ms })),
    turns: turns.map(({ type, at_ms }) => ({ type: type === "paused" ? "paused" : "resumed", atMs: at_ms })),
    knownFromMs: Math.max(monitor.createdAtMs, ...oldestRead.map((atMs) => atMs ?? 0)),
  };
}
