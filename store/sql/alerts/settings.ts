/** Rules and quiet hours: lists that are written as a whole, against a version. */
import type { AlertMonitor, AlertRule, RuleSettings } from "../../../model/alerting-rule.ts";
import { isActive } from "../../../model/monitor.ts";
import type { QuietHours } from "../../../model/quiet-hours.ts";
import type { Database, Session } from "../db/database.ts";
import { ALERT_RULES, QUIET_HOURS } from "../schema/alert-tables.ts";
import { decoder, encoder } from "../schema/column.ts";
import { fromJson } from "../schema/text.ts";
import type { AlertSettings, Draft, Versioned } from "./port.ts";
import { acknowledgeable, sentOfChannel, sentOfIncident } from "./sent.ts";

export const ruleOfRow = decoder(ALERT_RULES);
export const quietHoursOfRow = decoder(QUIET_HOURS);
const encodeRule = encoder<RuleSettings, typeof ALERT_RULES.columns>(ALERT_RULES);
const encodeQuietHours = encoder<Omit<QuietHours, "id">, typeof QUIET_HOURS.columns>(QUIET_HOURS);

export function createAlertSettings({ read, write }: Database): AlertSettings {
  return {
    rules: (projectId) => readRules(read, projectId),
    writeRules: (projectId, version, rules, nowMs) =>
      write((session) => writeRules(session, projectId, version, rules, nowMs)),
    quietHours: (projectId) => readQuietHours(read, projectId),
    writeQuietHours: (projectId, version, drafts) =>
      write((session) => writeQuietHours(session, projectId, version, drafts)),
    async monitor(projectId, id) {
      const monitors = await alertMonitors(read, [id], projectId);
      return monitors.get(id);
    },
    acknowledgeable: (groupId, channelId) => acknowledgeable(read, groupId, channelId),
    ofIncident: (incidentId, limit) => sentOfIncident(read, incidentId, limit),
    ofChannel: (channelId, limit) => sentOfChannel(read, channelId, limit),
  };
}

type Counter = "rules" | "quiet_hours";

async function versionOf({ kysely }: Session, projectId: number, of: Counter): Promise<number> {
  const row = await kysely
    .selectFrom("alert_rule_versions")
    .select(of)
    .where("project_id", "=", projectId)
    .executeTakeFirst();
  return row?.[of] ?? 0;
}

/** Of a list, whose project's lists are held against other writers until the transaction ends: rules name quiet hours. */
async function heldVersion({ kysely, dialect }: Session, projectId: number, of: Counter): Promise<number> {
  await kysely
    .insertInto("alert_rule_versions")
    .values({ project_id: projectId, rules: 0, quiet_hours: 0 })
    .onConflict((conflict) => conflict.column("project_id").doNothing())
    .execute();
  const query = kysely.selectFrom("alert_rule_versions").selectAll().where("project_id", "=", projectId);
  const row = await (dialect === "postgres" ? query.forUpdate() : query).executeTakeFirstOrThrow();
  return row[of];
}

async function raise({ kysely }: Session, projectId: number, of: Counter, version: number): Promise<void> {
  await kysely
    .updateTable("alert_rule_versions")
    .set({ [of]: version + 1 })
    .where("project_id", "=", projectId)
    .execute();
}

async function readRules(session: Session, projectId: number): Promise<Versioned<AlertRule>> {
  const version = await versionOf(session, projectId, "rules");
  const rows = await session.kysely
    .selectFrom("alert_rules")
    .selectAll()
    .where("project_id", "=", projectId)
    .where("removed_at_ms", "is", null)
    .orderBy("position")
    .execute();
  return { version, items: rows.map((row) => ruleOfRow(row)) };
}

export async function writeRules(
  session: Session,
  projectId: number,
  version: number,
  drafts: Parameters<AlertSettings["writeRules"]>[2],
  nowMs: number,
): Promise<Versioned<AlertRule> | "moved" | "unknown"> {
  const { kysely } = session;
  if ((await heldVersion(session, projectId, "rules")) !== version) return "moved";
  const { items } = await readRules(session, projectId);
  const known = new Set(items.map(({ id }) => id));
  const kept = new Set(drafts.flatMap(({ id }) => (id === null ? [] : [id])));
  if ([...kept].some((id) => !known.has(id))) return "unknown";
  const quiet = new Set((await readQuietHours(session, projectId)).items.map(({ id }) => id));
  if (drafts.some(({ quietHoursId }) => quietHoursId !== null && !quiet.has(quietHoursId))) return "moved";
  await raise(session, projectId, "rules", version);
  for (const id of known) {
    if (kept.has(id)) continue;
    await kysely.updateTable("alert_rules").set({ removed_at_ms: nowMs }).where("id", "=", id).execute();
  }
  for (const [position, draft] of drafts.entries()) {
    const values = { ...encodeRule(draft), project_id: projectId, position };
    if (draft.id === null) await kysely.insertInto("alert_rules").values(values).execute();
    else await kysely.updateTable("alert_rules").set(values).where("id", "=", draft.id).execute();
  }
  await forgetRemoved(session, projectId);
  return readRules(session, projectId);
}

/** Removed rules go when nothing is open that they govern. */
async function forgetRemoved({ kysely }: Session, projectId: number): Promise<void> {
  await kysely
    .deleteFrom("alert_rules")
    .where("project_id", "=", projectId)
    .where("removed_at_ms", "is not", null)
    .where((of) =>
      of.not(
        of.exists(
          of
            .selectFrom("alert_groups as g")
            .select("g.id")
            .whereRef("g.rule_id", "=", "alert_rules.id")
            .where("g.closed_at_ms", "is", null),
        ),
      ),
    )
    .execute();
}

export async function readQuietHours(session: Session, projectId: number): Promise<Versioned<QuietHours>> {
  const version = await versionOf(session, projectId, "quiet_hours");
  const rows = await session.kysely
    .selectFrom("quiet_hours")
    .selectAll()
    .where("project_id", "=", projectId)
    .orderBy("id")
    .execute();
  return { version, items: rows.map((row) => quietHoursOfRow(row)) };
}

export async function writeQuietHours(
  session: Session,
  projectId: number,
  version: number,
  drafts: readonly Draft<QuietHours>[],
): Promise<Versioned<QuietHours> | "moved" | "unknown" | "used"> {
  const { kysely } = session;
  if ((await heldVersion(session, projectId, "quiet_hours")) !== version) return "moved";
  const known = (await readQuietHours(session, projectId)).items.map(({ id }) => id);
  const kept = new Set(drafts.flatMap(({ id }) => (id === null ? [] : [id])));
  if ([...kept].some((id) => !known.includes(id))) return "unknown";
  const gone = known.filter((id) => !kept.has(id));
  const { items: rules } = await readRules(session, projectId);
  if (rules.some(({ quietHoursId }) => quietHoursId !== null && gone.includes(quietHoursId))) return "used";
  await raise(session, projectId, "quiet_hours", version);
  if (gone.length > 0) await kysely.deleteFrom("quiet_hours").where("id", "in", gone).execute();
  for (const draft of drafts) {
    const values = { ...encodeQuietHours(draft), project_id: projectId };
    if (draft.id === null) await kysely.insertInto("quiet_hours").values(values).execute();
    else await kysely.updateTable("quiet_hours").set(values).where("id", "=", draft.id).execute();
  }
  return readQuietHours(session, projectId);
}

/** What rules look at, by id. @param projectId only those of this project */
export async function alertMonitors(
  { kysely }: Session,
  ids: readonly number[],
  projectId: number | null = null,
): Promise<ReadonlyMap<number, AlertMonitor>> {
  if (ids.length === 0) return new Map();
  let query = kysely
    .selectFrom("monitors as m")
    .leftJoin("live as l", "l.monitor_id", "m.id")
    .select(["m.id", "m.name", "m.kind", "m.tags", "m.host", "m.subscription_id", "m.pause_reasons", "l.status"])
    .where("m.id", "in", ids)
    .where("m.deleted_at_ms", "is", null);
  if (projectId !== null) query = query.where("m.project_id", "=", projectId);
  const rows = await query.execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        name: row.name,
        kind: row.kind,
        tags: fromJson<string[]>(row.tags),
        host: row.host,
        subscriptionId: row.subscription_id,
        status: isActive({ pauseReasons: fromJson(row.pause_reasons) }) ? (row.status ?? "unknown") : "paused",
      },
    ]),
  );
}
