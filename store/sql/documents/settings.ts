/**
 * What one apply writes of the things that name monitors and each other: channels, quiet hours, rules, maintenance and status pages. What is named
 * is made before what names it, and goes after it.
 */
import { isDeepStrictEqual } from "node:util";
import type { AlertRule } from "../../../model/alerting-rule.ts";
import type { QuietHours } from "../../../model/quiet-hours.ts";
import type { StatusPage } from "../../../model/status-page.ts";
import * as channels from "../alerts/channels.ts";
import type { Draft } from "../alerts/port.ts";
import { readQuietHours, writeQuietHours, writeRules } from "../alerts/settings.ts";
import type { Session } from "../db/database.ts";
import * as schedules from "../monitors/schedules.ts";
import type { MaintenanceSchedule, ScheduleDraft } from "../monitors/schedules-port.ts";
import * as pages from "../status-pages/status-pages.ts";
import type { MadeIds } from "./made-ids.ts";
import { type ApplyOrder, type Assigned, type ListOrder, StaleOrderError } from "./port.ts";

export async function applySettings(session: Session, order: ApplyOrder, ids: MadeIds): Promise<readonly Assigned[]> {
  const assigned = [...(await applyChannels(session, order, ids)), ...(await applyQuietHours(session, order, ids))];
  assigned.push(...(await applyRules(session, order, ids)));
  await removeQuietHours(session, order);
  assigned.push(...(await applyMaintenance(session, order, ids)));
  return [...assigned, ...(await applyPages(session, order, ids))];
}

/** The plan has seen to it that there are not too many. */
const ANY_NUMBER = Number.POSITIVE_INFINITY;

async function applyChannels(session: Session, order: ApplyOrder, ids: MadeIds): Promise<readonly Assigned[]> {
  const { projectId, nowMs } = order;
  const assigned: Assigned[] = [];
  // Their names are free again.
  for (const { id } of order.channels.remove)
    if (!(await channels.remove(session, projectId, id))) throw new StaleOrderError();
  for (const { id, version, change, managed } of order.channels.change) {
    if (managed !== null) assigned.push({ kind: "channel", thingId: id, ...managed });
    if (change === null) continue;
    const changed = await channels.update(session, { projectId, id, nowMs }, (before) => {
      if (before.updatedAtMs !== version) throw new StaleOrderError();
      return change;
    });
    if (changed === undefined || changed === "taken") throw new StaleOrderError();
  }
  const made: number[] = [];
  for (const { key, input, marks } of order.channels.create) {
    const channel = await channels.create(session, input, ANY_NUMBER);
    if (channel === undefined || typeof channel === "string") throw new StaleOrderError();
    made.push(channel.id);
    assigned.push({ kind: "channel", key, thingId: channel.id, marks });
  }
  ids.add("channel", made);
  return assigned;
}

/** Those that go stay until no rule names them. */
async function applyQuietHours(session: Session, order: ApplyOrder, ids: MadeIds): Promise<readonly Assigned[]> {
  const { version, items, removed } = order.quietHours;
  const staying = await readQuietHours(session, order.projectId);
  const isNamed = items !== null || order.rules.items !== null;
  if (isNamed && staying.version !== version) throw new StaleOrderError();
  if (items === null) return namedBy("quiet_hours", order.quietHours, [], ids);
  const kept = staying.items.filter(({ id }) => removed.includes(id));
  const all: readonly Draft<QuietHours>[] = [...items, ...kept];
  const known = new Set(staying.items.map(({ id }) => id));
  const written = await writeQuietHours(session, order.projectId, version, all);
  if (typeof written === "string") throw new StaleOrderError();
  // They are listed by id, and ids grow.
  const made = written.items.map(({ id }) => id).filter((id) => !known.has(id));
  return namedBy("quiet_hours", order.quietHours, made, ids);
}

async function removeQuietHours(session: Session, { projectId, quietHours }: ApplyOrder): Promise<void> {
  if (quietHours.removed.length === 0) return;
  const { version, items } = await readQuietHours(session, projectId);
  const kept = items.filter(({ id }) => !quietHours.removed.includes(id));
  if (typeof (await writeQuietHours(session, projectId, version, kept)) === "string") throw new StaleOrderError();
}

async function applyRules(session: Session, order: ApplyOrder, ids: MadeIds): Promise<readonly Assigned[]> {
  const { version, items } = order.rules;
  if (items === null) return namedBy("alert_rule", order.rules, [], ids);
  const drafts = items.map((rule) => ruleWithIds(rule, ids));
  const written = await writeRules(session, order.projectId, version, drafts, order.nowMs);
  if (typeof written === "string") throw new StaleOrderError();
  const made = written.items.filter((_, place) => items[place]?.id === null).map(({ id }) => id);
  return namedBy("alert_rule", order.rules, made, ids);
}

function ruleWithIds(rule: Draft<AlertRule>, ids: MadeIds): Draft<AlertRule> {
  const { match, quietHoursId } = rule;
  const channelIds = (some: readonly number[]): readonly number[] => some.map((id) => ids.id("channel", id));
  return {
    ...rule,
    match: { ...match, select: match.select === null ? null : ids.selector(match.select) },
    channels: rule.channels === null ? null : channelIds(rule.channels),
    escalation: rule.escalation.map((step) => ({ ...step, channels: channelIds(step.channels) })),
    quietHoursId: quietHoursId === null ? null : ids.id("quiet_hours", quietHoursId),
  };
}

/** @param made ids of those that are new, in their order */
function namedBy(
  kind: "quiet_hours" | "alert_rule",
  { made: wanted, managed }: ListOrder<unknown>,
  made: readonly number[],
  ids: MadeIds,
): readonly Assigned[] {
  ids.add(kind, made);
  const known = managed.map(({ id, key, marks }) => ({ kind, thingId: id, key, marks }));
  const fresh = [...wanted.values()].map(({ key, marks }, index) => ({ kind, thingId: made[index] ?? 0, key, marks }));
  return [...known, ...fresh];
}

async function applyMaintenance(session: Session, order: ApplyOrder, ids: MadeIds): Promise<readonly Assigned[]> {
  const { projectId, nowMs, maintenance } = order;
  const assigned: Assigned[] = [];
  for (const { id } of maintenance.remove) {
    if (!(await schedules.remove(session, id, nowMs))) throw new StaleOrderError();
  }
  for (const { id, change, managed } of maintenance.change) {
    if (managed !== null) assigned.push({ kind: "maintenance", thingId: id, ...managed });
    if (change === null) continue;
    const { before, draft } = change;
    const decide = (now: MaintenanceSchedule): ScheduleDraft => {
      if (!isDeepStrictEqual(now, before)) throw new StaleOrderError();
      return { ...draft, selector: ids.selector(draft.selector) };
    };
    if ((await schedules.update(session, id, decide, nowMs)) === undefined) throw new StaleOrderError();
  }
  for (const { key, input, marks } of maintenance.create) {
    const draft = { ...input, selector: ids.selector(input.selector) };
    const made = await schedules.create(session, projectId, draft, nowMs);
    if (made === undefined) throw new StaleOrderError();
    assigned.push({ kind: "maintenance", key, thingId: made.id, marks });
  }
  return assigned;
}

async function applyPages(session: Session, order: ApplyOrder, ids: MadeIds): Promise<readonly Assigned[]> {
  try {
    return await writePages(session, order, ids);
  } catch (error) {
    // Another page has the slug or the domain by now.
    if (error instanceof pages.Refused) throw new StaleOrderError();
    throw error;
  }
}

async function writePages(session: Session, order: ApplyOrder, ids: MadeIds): Promise<readonly Assigned[]> {
  const { projectId, nowMs } = order;
  const assigned: Assigned[] = [];
  // Their slugs are free again.
  for (const { id } of order.pages.remove)
    if (!(await pages.remove(session, projectId, id))) throw new StaleOrderError();
  for (const { id, version, change, managed } of order.pages.change) {
    if (managed !== null) assigned.push({ kind: "status_page", thingId: id, ...managed });
    if (change === null) continue;
    const { page, accessSealed } = change;
    const changed = await pages.update(session, { projectId, id, nowMs }, (before) => {
      if (before.updatedAtMs !== version) throw new StaleOrderError();
      return { page: pageWithIds(page, ids), accessSealed };
    });
    if (changed === undefined) throw new StaleOrderError();
  }
  for (const { key, input, marks } of order.pages.create) {
    const page = pageWithIds(input.page, ids);
    const made = await pages.create(session, { projectId, nowMs, ...input, page });
    if (made.type === "written") assigned.push({ kind: "status_page", key, thingId: made.page.id, marks });
  }
  return assigned;
}

function pageWithIds(page: StatusPage, ids: MadeIds): StatusPage {
  const groups = page.groups.map((group) => ({
    ...group,
    components: group.components.map((one) => ({ ...one, servers: ids.selector(one.servers) })),
  }));
  return { ...page, groups };
}
