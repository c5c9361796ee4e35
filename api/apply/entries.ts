/** Things as a document writes them, all but their secrets: what a plan compares and shows, and what an export prints. */
import type { AlertRule } from "../../model/alerting-rule.ts";
import { writeSchedule } from "../../model/maintenance-schedule.ts";
import type { QuietHours } from "../../model/quiet-hours.ts";
import type { StatusPage } from "../../model/status-page.ts";
import type { ScheduleDraft } from "../../store/sql/monitors/schedules-port.ts";
import { ruleFields } from "../rule-body.ts";
import { dayWords } from "./days.ts";
import type { KeyNames } from "./references.ts";

export type Entry = Readonly<Record<string, unknown>>;

export function channelEntry(channel: {
  readonly kind: string;
  readonly name: string;
  readonly active: boolean;
  readonly settings: Entry;
}): Entry {
  const { kind, name, active, settings } = channel;
  return { kind, name, active, ...settings };
}

export function quietHoursEntry(hours: Omit<QuietHours, "id">): Entry {
  const { name, timezone, spans, mode, letThrough } = hours;
  return {
    name,
    timezone,
    spans: spans.map(({ days, from, to }) => ({ days: dayWords(days), from, to })),
    mode,
    let_through: letThrough,
  };
}

export function ruleEntry(rule: Omit<AlertRule, "id">, names: KeyNames): Entry {
  const { match } = rule;
  return {
    ...ruleFields(rule, (id) => names.name("channel", id)),
    match: {
      ...(match.events !== null && { events: match.events }),
      ...(match.select !== null && { select: names.selector(match.select) }),
      ...(match.severity !== null && { severity: match.severity }),
    },
    quiet_hours: rule.quietHoursId === null ? null : names.name("quiet_hours", rule.quietHoursId),
  };
}

export function maintenanceEntry(draft: ScheduleDraft, names: KeyNames): Entry {
  const schedule = writeSchedule(draft.schedule);
  return {
    title: draft.title,
    text: draft.text,
    select: names.selector(draft.selector),
    schedule: schedule.type === "weekly" ? { ...schedule, days: dayWords(schedule.days) } : schedule,
    timezone: draft.timezone,
    starts_on: draft.startsOn,
    ends_on: draft.endsOn,
    announce: draft.announce,
  };
}

export function statusPageEntry(page: StatusPage, names: KeyNames): Entry {
  const { links, show, ...settings } = page.settings;
  const { incidentsDays, ...shows } = show;
  return {
    slug: page.slug,
    title: page.title,
    published: page.published,
    domains: page.domains,
    access: { type: page.access },
    ...settings,
    links,
    show: { ...shows, incidents_days: incidentsDays },
    css: page.css,
    logo: page.logo,
    groups: page.groups.map(({ title, open, components }) => ({
      title,
      open,
      components: components.map(({ servers, ...others }) => ({ select: names.selector(servers), ...others })),
    })),
  };
}
