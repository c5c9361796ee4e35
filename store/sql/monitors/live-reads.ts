/** Reads for open pages: each walks an index, and answers a few rows. */
import type { Database } from "../db/database.ts";
import { readGeneration } from "../db/generation.ts";
import type { LiveReads } from "./live-reads-port.ts";

export function createLiveReads({ read }: Database): LiveReads {
  const { kysely } = read;
  return {
    async changedSince(generation, limit) {
      // Read first: what commits in between is read now and once more next time.
      const current = await readGeneration(read);
      if (current <= generation) return { generation: current, changes: [] };
      const rows = await kysely
        .selectFrom("monitors")
        .select(["id", "project_id", "deleted_at_ms"])
        .where("generation", ">", generation)
        .orderBy("generation")
        .limit(limit)
        .execute();
      const changes = rows.map((row) => ({
        id: row.id,
        projectId: row.project_id,
        isGone: row.deleted_at_ms !== null,
      }));
      return { generation: current, changes };
    },
    async subscriptions(projectIds) {
      if (projectIds.length === 0) return [];
      const rows = await kysely
        .selectFrom("subscriptions as s")
        .leftJoin("jobs as j", (join) => join.onRef("j.subscription_id", "=", "s.id").on("j.ended_at_ms", "is", null))
        .select(["s.id", "s.project_id", "s.last_sync_status", "s.last_synced_at_ms", "s.last_server_count"])
        .select("j.id as job_id")
        .where("s.project_id", "in", [...projectIds])
        .orderBy("s.id")
        .execute();
      return rows.map((row) => ({
        id: row.id,
        projectId: row.project_id,
        lastSyncStatus: row.last_sync_status,
        lastSyncedAtMs: row.last_synced_at_ms,
        lastServerCount: row.last_server_count,
        isSyncing: row.job_id !== null,
      }));
    },
  };
}
