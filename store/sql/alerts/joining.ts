/**
 * Joining: events of the outbox become members of groups, in the transaction that takes them from the outbox, so that none is lost or counted
 * twice. A batch is worked out in memory and written with a few statements, however many monitors fail at once.
 */
import {
  type AlertFacts,
  type AlertMonitor,
  type AlertRule,
  groupKeyOf,
  matchingRules,
} from "../../../model/alerting-rule.ts";
import { type AlertSignal, lastingSignal, signalOf } from "../../../model/alerting-signal.ts";
import type { EventType } from "../../../model/event.ts";
import { parseId } from "../../../model/ids.ts";
import { bulkInsert, chunksOf, insertRows } from "../db/bulk.ts";
import { isIn } from "../db/conditions.ts";
import { bulkStatement, type Session, statement } from "../db/database.ts";
import { ALERT_GROUPS, ALERT_MEMBERS } from "../schema/alert-tables.ts";
import type { Row } from "../schema/tables.ts";
import { storable } from "../schema/text.ts";
import { alertMonitors, ruleOfRow } from "./settings.ts";

export interface OutgoingEvent {
  readonly type: EventType;
  readonly projectId: number;
  readonly atMs: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A subscription whose list fails each hour is reported once a day. */
const SAME_NOTICE_MS = 24 * 3_600_000;

const OPEN_MEMBERS = {
  // A cross join keeps this order: SQLite would look through all open groups first.
  sqlite: statement(
    "alerts_open_members",
    `select m.*, g.rule_id, g.project_id from json_each(?) s cross join alert_members m on m.subject = s.value
     cross join alert_groups g on g.id = m.group_id where g.closed_at_ms is null`,
  ),
  postgres: statement(
    "alerts_open_members",
    `select m.*, g.rule_id, g.project_id from alert_members m join alert_groups g on g.id = m.group_id
     where g.closed_at_ms is null and m.subject in (select value from json_array_elements_text(?::json))`,
  ),
};
const UPDATE_MEMBER = bulkStatement(
  "alerts_update_member",
  `update alert_members set event = ?, severity = ?, firing = ?, told = ?, acknowledged = ?, why = ?, ended_at_ms = ?
   where group_id = ? and subject = ?`,
  `update alert_members m set event = n.event, severity = n.severity, firing = n.firing, told = n.told,
     acknowledged = n.acknowledged, why = n.why, ended_at_ms = n.ended_at_ms
   from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::int[], $6::text[], $7::bigint[], $8::bigint[], $9::text[])
     as n (event, severity, firing, told, acknowledged, why, ended_at_ms, group_id, subject)
   where m.group_id = n.group_id and m.subject = n.subject`,
);

const OPEN_GROUPS = {
  // A cross join keeps this order: each key is looked up by the index of open groups.
  sqlite: statement(
    "alerts_open_groups",
    `select g.id, g.project_id, g.rule_id, g.key from json_each(?) s cross join alert_groups g
       on g.project_id = s.value ->> 0 and g.rule_id = s.value ->> 1 and g.key = s.value ->> 2
     where g.closed_at_ms is null`,
  ),
  postgres: statement(
    "alerts_open_groups",
    `select g.id, g.project_id, g.rule_id, g.key from json_array_elements(?::json) s join alert_groups g
       on g.project_id = (s.value ->> 0)::bigint and g.rule_id = (s.value ->> 1)::bigint and g.key = s.value ->> 2
     where g.closed_at_ms is null`,
  ),
};
const INSERT_GROUPS = bulkInsert(ALERT_GROUPS);
const INSERT_MEMBERS = bulkInsert(ALERT_MEMBERS);

type OpenGroup = Pick<Row<"alert_groups">, "id" | "project_id" | "rule_id" | "key">;
type Member = Omit<Row<"alert_members">, "group_id"> & { group: Group; isNew: boolean };

interface Group {
  id: number | null;
  readonly projectId: number;
  readonly ruleId: number;
  readonly key: string;
  readonly isNotice: boolean;
  dueAtMs: number;
}

interface Heard {
  readonly projectId: number;
  readonly signal: AlertSignal;
}

export async function joinAlerts(session: Session, events: readonly OutgoingEvent[], nowMs: number): Promise<void> {
  const heard = await withChannels(session, events);
  await wake(session, heard, nowMs);
  const signals: Heard[] = heard.flatMap((event) => {
    const signal = signalOf(event.type, event.data, event.atMs);
    return signal === null ? [] : [{ projectId: event.projectId, signal }];
  });
  signals.push(...(await lasting(session, heard)));
  if (signals.length === 0) return;
  const batch = new Batch(nowMs, await rulesOf(session, [...new Set(signals.map(({ projectId }) => projectId))]));
  const monitorIds = signals.flatMap(({ signal }) => (signal.monitorId === null ? [] : [signal.monitorId]));
  const monitors = await alertMonitors(session, [...new Set(monitorIds)]);
  const subjects = [...new Set(signals.map(({ signal }) => signal.subject))];
  batch.know(await openMembers(session, subjects));
  const lately = await noticedLately(session, signals, nowMs);
  for (const { projectId, signal } of signals) {
    if (signal.event === "sync" && lately.has(`${projectId} ${signal.subject}`)) continue;
    batch.take(projectId, signal, monitors.get(signal.monitorId ?? 0) ?? null);
  }
  await batch.write(session);
}

/** A project without a channel has no alerts. */
async function withChannels({ kysely }: Session, events: readonly OutgoingEvent[]): Promise<readonly OutgoingEvent[]> {
  const projects = [...new Set(events.map(({ projectId }) => projectId))];
  const rows = await kysely
    .selectFrom("channels as c")
    .innerJoin("projects as p", "p.id", "c.project_id")
    .select("c.project_id")
    .distinct()
    .where("c.project_id", "in", projects)
    .where("p.active", "=", 1)
    .execute();
  const known = new Set(rows.map((row) => row.project_id));
  return events.filter(({ projectId }) => known.has(projectId));
}

/** Of monitors. */
function idsIn(events: readonly OutgoingEvent[], ...types: readonly EventType[]): readonly number[] {
  return events.flatMap(({ type, data }) =>
    types.includes(type) ? [parseId("server", (data.monitor as { id: string }).id) ?? 0] : [],
  );
}

/** Incidents of monitors that were resumed: their end was told with the pause. */
async function lasting({ kysely, dialect }: Session, events: readonly OutgoingEvent[]): Promise<readonly Heard[]> {
  const ids = idsIn(events, "monitor.resumed");
  if (ids.length === 0) return [];
  const rows = await kysely
    .selectFrom("incidents as i")
    .select(["i.id", "i.monitor_id", "i.project_id", "i.level", "i.error_message", "i.started_at_ms"])
    .where("i.ended_at_ms", "is", null)
    .where(isIn(dialect, "i.monitor_id", ids))
    .execute();
  return rows.map((row) => ({
    projectId: row.project_id,
    signal: lastingSignal({
      ...{ id: row.id, monitorId: row.monitor_id, isDown: row.level === "down" },
      ...{ why: row.error_message, startedAtMs: row.started_at_ms },
    }),
  }));
}

/** Members that were held because their monitor was paused may be reported again. */
async function wake({ kysely }: Session, events: readonly OutgoingEvent[], nowMs: number): Promise<void> {
  const ids = idsIn(events, "monitor.resumed", "monitor.paused");
  if (ids.length === 0) return;
  await kysely
    .updateTable("alert_groups")
    .set({ due_at_ms: nowMs })
    .where("closed_at_ms", "is", null)
    .where("id", "in", (of) => of.selectFrom("alert_members").select("group_id").where("monitor_id", "in", ids))
    .execute();
}

async function rulesOf(
  { kysely }: Session,
  projectIds: readonly number[],
): Promise<ReadonlyMap<number, readonly AlertRule[]>> {
  const rows = await kysely
    .selectFrom("alert_rules")
    .selectAll()
    .where("project_id", "in", projectIds)
    .where("removed_at_ms", "is", null)
    .orderBy("position")
    .execute();
  const rules = new Map<number, AlertRule[]>();
  for (const row of rows) rules.set(row.project_id, [...(rules.get(row.project_id) ?? []), ruleOfRow(row)]);
  return rules;
}

type OpenMember = Row<"alert_members"> & { readonly rule_id: number; readonly project_id: number };

function openMembers(session: Session, subjects: readonly string[]): Promise<readonly OpenMember[]> {
  return session.query<OpenMember>(OPEN_MEMBERS[session.dialect], JSON.stringify(subjects));
}

/** @returns `project subject` of subscriptions that were reported within a day */
async function noticedLately(
  { kysely }: Session,
  signals: readonly { readonly projectId: number; readonly signal: AlertSignal }[],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const subjects = signals.flatMap(({ signal }) => (signal.event === "sync" ? [signal.subject] : []));
  if (subjects.length === 0) return new Set();
  const rows = await kysely
    .selectFrom("alert_members as m")
    .innerJoin("alert_groups as g", "g.id", "m.group_id")
    .select(["m.subject", "g.project_id"])
    .where("m.subject", "in", subjects)
    .where("m.joined_at_ms", ">", nowMs - SAME_NOTICE_MS)
    .execute();
  return new Set(rows.map((row) => `${row.project_id} ${row.subject}`));
}

/** What a batch of signals makes of the groups. */
class Batch {
  readonly #nowMs: number;
  readonly #rules: ReadonlyMap<number, readonly AlertRule[]>;
  readonly #groups = new Map<string, Group>();
  readonly #members = new Map<string, Member[]>();
  readonly #changed = new Set<Member>();
  readonly #woken = new Set<Group>();

  constructor(nowMs: number, rules: ReadonlyMap<number, readonly AlertRule[]>) {
    this.#nowMs = nowMs;
    this.#rules = rules;
  }

  know(rows: readonly OpenMember[]): void {
    for (const { group_id: id, rule_id: ruleId, project_id: projectId, ...member } of rows) {
      const group = { id, projectId, ruleId, key: "", isNotice: false, dueAtMs: this.#nowMs };
      this.#add({ ...member, group, isNew: false }, projectId);
    }
  }

  #add(member: Member, projectId: number): void {
    const key = `${projectId} ${member.subject}`;
    this.#members.set(key, [...(this.#members.get(key) ?? []), member]);
  }

  take(projectId: number, signal: AlertSignal, monitor: AlertMonitor | null): void {
    const there = this.#members.get(`${projectId} ${signal.subject}`) ?? [];
    for (const member of there) this.#change(member, signal);
    if (signal.transition === "ends" || signal.transition === "acknowledged") return;
    // A deleted monitor is not reported any more.
    if (signal.monitorId !== null && monitor === null) return;
    const { event, severity, subject, subscriptionId } = signal;
    const facts: AlertFacts = { event, severity, subject, monitor, subscriptionId };
    for (const rule of matchingRules(this.#rules.get(projectId) ?? [], facts)) {
      if (there.some(({ group }) => group.ruleId === rule.id)) continue;
      const isNotice = signal.transition === "notice";
      const group = this.#groupOf(projectId, rule, groupKeyOf(rule.groupBy, facts), isNotice);
      this.#add(newMember(signal, group, this.#nowMs), projectId);
    }
  }

  #change(member: Member, { transition, event, severity, why }: AlertSignal): void {
    this.#changed.add(member);
    this.#woken.add(member.group);
    if (transition === "acknowledged") member.acknowledged = 1;
    else if (transition === "ends") {
      member.firing = 0;
      member.ended_at_ms = this.#nowMs;
    } else if (transition !== "notice") {
      Object.assign(member, { event, severity, why: storable(why), firing: 1, ended_at_ms: null });
      if (member.told === "ended" || member.told === "held") member.told = "no";
    }
  }

  #groupOf(projectId: number, rule: AlertRule, key: string, isNotice: boolean): Group {
    const name = storable(isNotice ? `notice:${key}` : key);
    const at = `${projectId} ${rule.id} ${name}`;
    const known = this.#groups.get(at);
    if (known !== undefined) return known;
    const waitS = isNotice ? rule.waitS : Math.max(rule.waitS, rule.delayS);
    const dueAtMs = this.#nowMs + waitS * 1_000;
    const group: Group = { id: null, projectId, ruleId: rule.id, key: name, isNotice, dueAtMs };
    this.#groups.set(at, group);
    return group;
  }

  async write(session: Session): Promise<void> {
    await this.#find(session);
    await this.#insertGroups(session);
    const members = [...this.#members.values()].flat();
    const added = members.filter(({ isNew }) => isNew);
    if (added.length > 0) await insertRows(session, INSERT_MEMBERS, added.map(rowOf));
    await session.bulk(
      UPDATE_MEMBER,
      [...this.#changed].flatMap((member) => {
        const { event, severity, firing, told, acknowledged, why, ended_at_ms, group, subject, isNew } = member;
        if (isNew || group.id === null) return [];
        return [[event, severity, firing, told, acknowledged, why, ended_at_ms, group.id, subject]];
      }),
    );
    await wakeGroups(
      session,
      [...this.#woken].flatMap(({ id }) => (id === null ? [] : [id])),
      this.#nowMs,
    );
  }

  /** Groups that are open already. */
  async #find(session: Session): Promise<void> {
    for (const group of await this.#openGroups(session)) this.#woken.add(group);
  }

  async #openGroups(session: Session): Promise<readonly Group[]> {
    const wanted = [...this.#groups.values()].filter(({ id }) => id === null);
    if (wanted.length === 0) return [];
    const keys = wanted.map(({ projectId, ruleId, key }) => [projectId, ruleId, key]);
    const rows = await session.query<OpenGroup>(OPEN_GROUPS[session.dialect], JSON.stringify(keys));
    return rows.flatMap((row) => {
      const group = this.#groups.get(`${row.project_id} ${row.rule_id} ${row.key}`);
      if (group === undefined) return [];
      group.id = row.id;
      return [group];
    });
  }

  async #insertGroups(session: Session): Promise<void> {
    const added = [...this.#groups.values()].filter(({ id }) => id === null);
    const rows = added.map(({ projectId, ruleId, key, isNotice, dueAtMs }) => ({
      project_id: projectId,
      rule_id: ruleId,
      key,
      is_notice: isNotice ? 1 : 0,
      is_fold: 0,
      state: "open",
      step: 0,
      repeats: 0,
      due_at_ms: dueAtMs,
      changed_at_ms: this.#nowMs,
      opened_at_ms: this.#nowMs,
    }));
    if (rows.length === 0) return;
    await insertRows(session, INSERT_GROUPS, rows);
    await this.#openGroups(session);
  }
}

function newMember(signal: AlertSignal, group: Group, nowMs: number): Member {
  const { subject, event, severity, monitorId, incidentId, channelId, name, why, sinceMs } = signal;
  return {
    subject,
    event,
    severity,
    told_severity: null,
    firing: 1,
    told: "no",
    acknowledged: 0,
    monitor_id: monitorId,
    incident_id: incidentId,
    channel_id: channelId,
    name: name === null ? null : storable(name),
    why: storable(why),
    since_ms: Math.round(sinceMs),
    joined_at_ms: nowMs,
    ended_at_ms: null,
    said_at_ms: null,
    group,
    isNew: true,
  };
}

function rowOf({ group, isNew: _, ...row }: Member): Row<"alert_members"> {
  if (group.id === null) throw new Error("a group without a row");
  return { ...row, group_id: group.id };
}

/** @param ids of groups that something joined or left */
async function wakeGroups({ kysely }: Session, ids: readonly number[], nowMs: number): Promise<void> {
  for (const some of chunksOf(ids)) {
    await kysely
      .updateTable("alert_groups")
      .set({ due_at_ms: nowMs, changed_at_ms: nowMs })
      .where("id", "in", some)
      // A group without a message yet is due when its wait is over.
      .where((of) => of.or([of("told_at_ms", "is not", null), of("due_at_ms", "is", null)]))
      .execute();
  }
}
