/**
 * The beginning of attempts. It is marked before anything is sent: after a death it is known that a message may have arrived. What a message
 * says is read here, so it is what is true at this attempt.
 */
import { awaitsConfirmation } from "../../../model/channel.ts";
import { assertLease } from "../coordination/leases.ts";
import { SENDER_LEASE } from "../coordination/leases-port.ts";
import type { Database, Session } from "../db/database.ts";
import type { Row } from "../schema/tables.ts";
import { toOpenable } from "./channels.ts";
import { type Breathe, Pace } from "./pace.ts";
import type { BegunNotification, ToldMember } from "./port.ts";
import { type PresentRow, presentMembers, toTold } from "./present.ts";
import { ruleOfRow } from "./settings.ts";

type Notification = Row<"notifications">;

/** What is read is a page at a time, before the transaction that marks: a group may have ten thousand members. */
export async function begin(
  { read, write }: Pick<Database, "read" | "write">,
  epoch: number,
  ids: readonly number[],
  { nowMs, breathe }: { readonly nowMs: number; readonly breathe: Breathe },
): Promise<readonly BegunNotification[]> {
  const waiting = await waitingOf(read, ids);
  const wanted = waiting.length === 0 ? { begun: [], ended: [] } : await wantedOf(read, waiting, breathe);
  return write(async (session) => {
    await assertLease(session, SENDER_LEASE, epoch);
    return mark(session, wanted, nowMs);
  });
}

async function waitingOf({ kysely }: Session, ids: readonly number[]): Promise<readonly Notification[]> {
  if (ids.length === 0) return [];
  const waiting = kysely.selectFrom("notifications").selectAll().where("id", "in", ids);
  return waiting.where("next_attempt_at_ms", "is not", null).orderBy("id").execute();
}

/** Those to send, and those that have nothing to say any more. */
interface Wanted {
  readonly begun: readonly BegunNotification[];
  readonly ended: readonly number[];
}

async function wantedOf(session: Session, waiting: readonly Notification[], breathe: Breathe): Promise<Wanted> {
  const { kysely } = session;
  const groupIds = [...new Set(waiting.map((row) => row.group_id))];
  const groups = await kysely.selectFrom("alert_groups").selectAll().where("id", "in", groupIds).execute();
  const members = await presentMembers(session, groupIds, breathe);
  const others = await kysely.selectFrom("notifications").selectAll().where("group_id", "in", groupIds).execute();
  const unsure = await unsureOf(session, groupIds);
  const channels = await channelsOf(session, waiting);
  const templates = await templatesOf(session, groups);
  const onHosts = await monitorsOnHosts(session, waiting, members);
  const said = new SaidMembers(members, breathe);
  const [begun, ended]: [BegunNotification[], number[]] = [[], []];
  for (const row of waiting) {
    const group = groups.find(({ id }) => id === row.group_id);
    const channel = channels.get(row.channel_id);
    if (group === undefined || channel === undefined) continue;
    const told = await said.of(row);
    const earlier = others.filter(
      (other) => other.group_id === row.group_id && other.channel_id === row.channel_id && other.id !== row.id,
    );
    if (!isWanted(row, told, earlier, unsure)) {
      ended.push(row.id);
      continue;
    }
    const delivered = earlier.filter(({ state }) => state === "delivered").sort((a, b) => a.id - b.id);
    begun.push({
      id: row.id,
      projectId: row.project_id,
      groupId: group.id,
      reason: row.reason,
      channel,
      members: told,
      groupKey: keyOf(group.id, group.opened_at_ms),
      messageKey: keyOf(row.id, row.created_at_ms),
      isFold: group.is_fold === 1,
      cameAndWent: row.came_and_went,
      template: templates.get(group.rule_id) ?? null,
      left: row.external_ref,
      previous: delivered.find((other) => other.external_ref !== null)?.external_ref ?? null,
      hostMonitors: onHosts.get(group.id) ?? null,
    });
    await breathe();
  }
  return { begun, ended };
}

/** Ids begin at 1 in every database, and two services may write to one place: without the time one would end what the other opened. */
function keyOf(id: number, madeAtMs: number): string {
  return `sonde-${id}-${madeAtMs.toString(36)}`;
}

/** Messages of one turn of a group are about the same members. */
class SaidMembers {
  readonly #members: ReadonlyMap<number, readonly PresentRow[]>;
  readonly #pace: Pace;
  readonly #known = new Map<string, readonly ToldMember[]>();

  constructor(members: ReadonlyMap<number, readonly PresentRow[]>, breathe: Breathe) {
    this.#members = members;
    this.#pace = new Pace(breathe);
  }

  async of({ group_id: groupId, created_at_ms: madeAtMs }: Notification): Promise<readonly ToldMember[]> {
    const key = `${groupId} ${madeAtMs}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made: ToldMember[] = [];
    for (const row of this.#members.get(groupId) ?? []) {
      made.push(toTold(row, madeAtMs));
      if (this.#pace.isOver()) await this.#pace.rest();
    }
    this.#known.set(key, made);
    return made;
  }
}

/** By group: how many monitors are on the host that all its members have. */
async function monitorsOnHosts(
  { kysely }: Session,
  waiting: readonly Notification[],
  members: ReadonlyMap<number, readonly PresentRow[]>,
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  for (const { group_id: groupId, project_id: projectId } of waiting) {
    const rows = members.get(groupId) ?? [];
    const host = rows[0]?.host ?? null;
    if (counts.has(groupId) || host === null || rows.length < 2 || rows.some((row) => row.host !== host)) continue;
    const onHost = kysely.selectFrom("monitors").where("project_id", "=", projectId).where("host", "=", host);
    const row = await onHost
      .where("deleted_at_ms", "is", null)
      .select((of) => of.fn.countAll<number>().as("total"))
      .executeTakeFirstOrThrow();
    counts.set(groupId, row.total);
  }
  return counts;
}

/** Whether it still has something to say that the channel does not know. */
function isWanted(
  row: Notification,
  members: readonly ToldMember[],
  earlier: readonly Notification[],
  unsure: ReadonlySet<number>,
): boolean {
  if (row.reason === "notice") return true;
  // An end is reported where its beginning was, or may have been.
  if (row.reason === "recovered")
    return earlier.some(
      // Of one that was not delivered it says that some readers have it.
      (other) => other.external_ref !== null || hasArrived(other) || unsure.has(other.id),
    );
  return members.some(({ firing }) => firing) || row.came_and_went > 0;
}

function hasArrived({ state, begun, attempts }: Notification): boolean {
  return state === "delivered" || begun > attempts;
}

/** Messages that may have arrived: an attempt ended without an answer. */
async function unsureOf({ kysely }: Session, groupIds: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = await kysely
    .selectFrom("notification_attempts as a")
    .innerJoin("notifications as n", "n.id", "a.notification_id")
    .select("n.id")
    .distinct()
    .where("n.group_id", "in", groupIds)
    .where("a.status_code", "is", null)
    .execute();
  return new Set(rows.map((row) => row.id));
}

async function channelsOf({ kysely }: Session, waiting: readonly Notification[]) {
  const ids = [...new Set(waiting.map((row) => row.channel_id))];
  const rows = await kysely.selectFrom("channels").selectAll().where("id", "in", ids).where("active", "=", 1).execute();
  // Addresses that were changed meanwhile have not confirmed: tidying ends what waits for them.
  const channels = rows.map(toOpenable).filter((channel) => !awaitsConfirmation(channel));
  return new Map(channels.map((channel) => [channel.id, channel]));
}

async function templatesOf({ kysely }: Session, groups: readonly Row<"alert_groups">[]) {
  const ids = [...new Set(groups.map((group) => group.rule_id))];
  if (ids.length === 0) return new Map<number, BegunNotification["template"]>();
  const rows = await kysely.selectFrom("alert_rules").selectAll().where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, ruleOfRow(row).template]));
}

/** @returns those that still wait */
async function mark(
  { kysely }: Session,
  { begun, ended }: Wanted,
  nowMs: number,
): Promise<readonly BegunNotification[]> {
  const waiting = kysely.updateTable("notifications").where("next_attempt_at_ms", "is not", null);
  if (ended.length > 0) {
    const over = { state: "overtaken" as const, next_attempt_at_ms: null, ended_at_ms: nowMs };
    await waiting.set(over).where("id", "in", ended).execute();
  }
  if (begun.length === 0) return [];
  const ids = begun.map(({ id }) => id);
  const marked = await waiting
    .set((of) => ({ begun: of("begun", "+", 1) }))
    .where("id", "in", ids)
    .returning("id")
    .execute();
  const started = new Set(marked.map(({ id }) => id));
  return begun.filter(({ id }) => started.has(id));
}
