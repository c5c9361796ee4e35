/** Makes a page's view of what the store has read: lines of monitors, days, incidents with their public words. */
import type { Past } from "../../model/days.ts";
import { isInMaintenance } from "../../model/monitor.ts";
import { type DayRule, LineDays } from "../../model/page-days.ts";
import type { Selector } from "../../model/selector.ts";
import type { PageComponent, PageGroup, StatusPage } from "../../model/status-page.ts";
import { formatIso } from "../../model/time.ts";
import type { IncidentRecord } from "../../store/sql/incidents/port.ts";
import type { PageMember, PublicWords, UpdateRecord } from "../../store/sql/status-pages/port.ts";
import { plain } from "./html.ts";
import { markdown } from "./markdown.ts";
import { isSelected } from "./selection.ts";
import {
  type DayLook,
  type DayView,
  type GroupView,
  type IncidentView,
  LINE_STATES,
  type LineState,
  type LineView,
  type MaintenanceView,
  type StatusView,
  type UpdateView,
} from "./view.ts";
import { wordsIn } from "./words.ts";
import type { PageWords } from "./words-en.ts";

/** Lines of one page. What a selector finds beyond makes one line together. */
const MOST_LINES = 300;
/** Of the past and open ones together. */
const MOST_INCIDENTS = 50;
const MOST_MAINTENANCE = 20;
/** Monitors after which others have a turn: 5 ms of a thread. */
export const TURN = 250;
/** Monitors that a selector looks at before others have a turn: about 1 ms of a thread. */
const SELECTED_AT_ONCE = 5_000;
/** How long an announcement without an end is shown at the top, ms. */
const CURRENT_MS = 7 * 86_400_000;
const DAY_MS = 86_400_000;

export interface PageFacts {
  readonly page: StatusPage;
  /** By group. */
  readonly plans: readonly (readonly LinePlan[])[];
  /** Days that are over, by line; of lines that are not in it all days are worked out of `pasts`. */
  readonly closed: ReadonlyMap<string, LineDays>;
  readonly pasts: ReadonlyMap<number, Past>;
  readonly incidents: readonly IncidentRecord[];
  readonly words: ReadonlyMap<number, PublicWords>;
  readonly updates: readonly UpdateRecord[];
  readonly announced: readonly AnnouncedMaintenance[];
  readonly nowMs: number;
  /** A name for the public, of what it is a name for. */
  readonly nameOf: (what: string) => string;
  /** The same, as the address of a badge has it. */
  readonly badgeOf: (what: string) => string;
  /** Lets others have a turn. */
  readonly pause: () => Promise<void>;
}

/** Maintenance that its maker wants readers to know of. */
export interface AnnouncedMaintenance {
  readonly title: string;
  /** Markdown. */
  readonly text: string;
  readonly selector: Selector;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What makes one line. */
export interface LinePlan {
  readonly title: string;
  readonly component: PageComponent;
  readonly members: readonly PageMember[];
  /** What its badge is named after. */
  readonly what: string;
}

/** Which monitors make which lines. @param words of the page's language @param pause lets others have a turn */
export async function plannedLines(
  groups: readonly PageGroup[],
  members: readonly PageMember[],
  words: PageWords,
  pause: () => Promise<void>,
): Promise<readonly (readonly LinePlan[])[]> {
  let left = MOST_LINES;
  const plans: (readonly LinePlan[])[] = [];
  for (const { components } of groups) {
    const lines: LinePlan[] = [];
    for (const component of components) {
      const found = await selected(component, members, pause);
      const made = component.merge === "each" ? eachOf(component, found, left, words) : mergedOf(component, found);
      left = Math.max(0, left - made.length);
      lines.push(...made);
    }
    plans.push(lines);
  }
  return plans;
}

async function selected(
  { servers }: PageComponent,
  members: readonly PageMember[],
  pause: () => Promise<void>,
): Promise<readonly PageMember[]> {
  const found: PageMember[] = [];
  for (let from = 0; from < members.length; from += SELECTED_AT_ONCE) {
    if (from > 0) await pause();
    for (const member of members.slice(from, from + SELECTED_AT_ONCE))
      if (isSelected(member, servers)) found.push(member);
  }
  await pause();
  return found;
}

function eachOf(
  component: PageComponent,
  found: readonly PageMember[],
  most: number,
  words: PageWords,
): readonly LinePlan[] {
  const shown = found.length > most ? found.slice(0, Math.max(0, most - 1)) : found;
  const lines = shown.map((member) => ({
    title: (found.length === 1 ? component.title : null) ?? member.name,
    component,
    members: [member],
    what: `monitor ${member.id}`,
  }));
  if (shown.length === found.length) return lines;
  const rest = found.slice(shown.length);
  const share = { ...component, merge: "share" } as const;
  const what = `rest ${JSON.stringify(component.servers)}`;
  return [...lines, { title: words.more(rest.length), component: share, members: rest, what }];
}

function mergedOf(component: PageComponent, members: readonly PageMember[]): readonly LinePlan[] {
  const what = `${component.merge} ${JSON.stringify(component.servers)}`;
  return [{ title: component.title ?? "", component, members, what }];
}

export async function makeView(facts: PageFacts): Promise<StatusView> {
  const { page, plans, nowMs, badgeOf } = facts;
  const { text, listed: _, ...settings } = page.settings;
  const groups: GroupView[] = [];
  for (const [index, group] of page.groups.entries()) groups.push(await groupOf(facts, group, plans[index] ?? []));
  return {
    slug: page.slug,
    title: plain(page.title),
    isDraft: !page.published,
    words: text === "" ? null : await markdown(text, facts.pause),
    settings,
    hasLogo: page.logo !== null,
    state: wholeOf(groups),
    groups,
    incidents: await incidentsOf(facts, plans.flat()),
    updates: await updatesOf(facts),
    maintenance: await maintenanceOf(facts, plans.flat()),
    badge: badgeOf("page"),
    atMs: nowMs,
  };
}

async function groupOf(facts: PageFacts, group: PageGroup, plans: readonly LinePlan[]): Promise<GroupView> {
  const lines: LineView[] = [];
  for (const plan of plans) lines.push(await lineOf(facts, plan));
  const state = worstOf(lines.map((line) => line.state));
  const uptimes = lines.flatMap(({ uptime }) => (uptime === null ? [] : [uptime]));
  return {
    title: plain(group.title),
    state,
    uptime: uptimes.length === 0 ? null : uptimes.reduce((sum, one) => sum + one, 0) / uptimes.length,
    isOpen: group.open === "always" || (group.open === "problems" && isProblem(state)),
    lines,
  };
}

async function lineOf(facts: PageFacts, { title, component, members, what }: LinePlan): Promise<LineView> {
  const { page, closed, pasts, nowMs, badgeOf, pause } = facts;
  const { show, days: length } = page.settings;
  const days = new LineDays(dayRuleOf(component), length, nowMs, closed.get(what));
  for (const [index, member] of members.entries()) {
    if (index % TURN === TURN - 1) await pause();
    addTo(days, member, pasts.get(member.id));
  }
  const states = members.map((member) => stateOf(member, nowMs));
  const share = component.merge === "share" ? shareOf(states) : null;
  return {
    title: plain(title),
    text: plain(component.text),
    state: share === null ? worstOf(states) : stateOfShare(share, states),
    share,
    days: days.days().map((day) => dayOf(day, component.merge === "share" ? members.length : 1)),
    uptime: show.uptime ? days.uptime() : null,
    latencyMs: show.latency ? medianOf(members) : null,
    certificateDays: show.certificate ? certificateOf(members, nowMs) : null,
    badge: badgeOf(what),
  };
}

export function dayRuleOf({ merge }: PageComponent): DayRule {
  return merge === "worst" ? "worst" : "sum";
}

export function addTo(days: LineDays, member: PageMember, past: Past | undefined): void {
  // A heartbeat that was never called is not healthy: nothing is known of it.
  if (member.lastCheckedAtMs === null) return;
  if (past === undefined) days.addQuiet(member.createdAtMs);
  else days.add(past);
}

function stateOf(member: PageMember, nowMs: number): LineState {
  if (member.isPaused) return "paused";
  if (isInMaintenance(member, nowMs)) return "maintenance";
  return member.status === "healthy" ? "works" : member.status;
}

/** The worst of them; paused ones say nothing while others run. */
function worstOf(states: readonly LineState[]): LineState {
  const running: readonly LineState[] = states.filter((state) => state !== "paused");
  if (states.length === 0) return "unknown";
  if (running.length === 0) return "paused";
  return LINE_STATES.findLast((state) => running.includes(state)) ?? "unknown";
}

function shareOf(states: readonly LineState[]) {
  const known = states.filter((state) => !["paused", "maintenance", "unknown"].includes(state));
  return { works: known.filter((state) => state === "works" || state === "degraded").length, known: known.length };
}

/** Partial as soon as one does not work, down below half. */
function stateOfShare({ works, known }: { works: number; known: number }, states: readonly LineState[]): LineState {
  if (known === 0) return states.includes("maintenance") ? "maintenance" : worstOf(states);
  if (works * 2 < known) return "down";
  if (works < known) return "partial";
  return states.includes("maintenance") ? "maintenance" : "works";
}

function isProblem(state: LineState): boolean {
  return state !== "works" && state !== "paused";
}

function wholeOf(groups: readonly GroupView[]): LineState {
  const states = groups.flatMap(({ lines }) => lines.map(({ state }) => state));
  const worst = worstOf(states);
  // One that is not known yet is no news for readers, and one that is down is not all of them.
  if (worst === "unknown") return states.includes("works") ? "works" : "unknown";
  return worst === "down" && states.some((state) => state !== "down" && state !== "paused") ? "partial" : worst;
}

function dayOf(day: ReturnType<LineDays["days"]>[number], monitors: number): DayView {
  return {
    date: formatIso(day.fromMs).slice(0, 10),
    look: lookOf(day),
    downS: Math.round(day.downS / monitors),
    watchedS: Math.round(day.watchedS / monitors),
  };
}

function lookOf({ watchedS, maintenanceS, downShare }: ReturnType<LineDays["days"]>[number]): DayLook {
  if (downShare >= 0.05) return "worse";
  if (downShare >= 0.01) return "bad";
  if (downShare > 0) return "slight";
  if (maintenanceS > 0) return "maintenance";
  return watchedS === 0 ? "none" : "up";
}

function medianOf(members: readonly PageMember[]): number | null {
  const values = members.flatMap(({ isPaused, latencyMs }) => (isPaused || latencyMs === null ? [] : [latencyMs]));
  const sorted = Float64Array.from(values).sort();
  const median = sorted[Math.floor(sorted.length / 2)];
  return median === undefined ? null : Math.round(median);
}

function certificateOf(members: readonly PageMember[], nowMs: number): number | null {
  const ends = members.flatMap(({ certificateExpiresAtMs: at }) => (at === null ? [] : [at]));
  return ends.length === 0 ? null : Math.floor((ends.reduce((one, other) => Math.min(one, other)) - nowMs) / DAY_MS);
}

async function incidentsOf(
  { page, incidents, words, nameOf, pause }: PageFacts,
  plans: readonly LinePlan[],
): Promise<readonly IncidentView[]> {
  // A monitor may be in several lines: the one that says most of it names its incidents.
  const lines = new Map<number, LinePlan>();
  for (const merge of ["share", "worst", "each"])
    for (const plan of plans)
      if (plan.component.merge === merge) for (const { id } of plan.members) lines.set(id, plan);
  const said = wordsIn(page.settings.language);
  const shown: IncidentView[] = [];
  for (const incident of incidents) {
    const plan = lines.get(incident.monitorId);
    const of = words.get(incident.id);
    // One of thousands that make a line is in the line's days; it is shown by itself where a person wrote about it.
    const isTold = of !== undefined || (plan?.component.merge !== "share" && incident.level === "down");
    if (plan === undefined || !isTold) continue;
    const { level, startedAtMs: fromMs, endedAtMs: toMs } = incident;
    const notes: IncidentView["notes"][number][] = [];
    for (const note of of?.notes ?? []) notes.push({ ...note, words: await markdown(note.text, pause) });
    const postmortem = of?.postmortem == null || of.postmortem === "" ? null : await markdown(of.postmortem, pause);
    shown.push({
      name: nameOf(`incident ${incident.id}`),
      title: plain(of?.title ?? said.incident(plan.title, level, toMs !== null)),
      level,
      fromMs,
      toMs,
      notes,
      postmortem,
    });
  }
  const order = (one: IncidentView): number => (one.toMs === null ? Number.POSITIVE_INFINITY : one.fromMs);
  return shown.sort((one, other) => order(other) - order(one) || other.fromMs - one.fromMs).slice(0, MOST_INCIDENTS);
}

async function updatesOf({ updates, nowMs, nameOf, pause }: PageFacts): Promise<readonly UpdateView[]> {
  const shown: UpdateView[] = [];
  for (const { id, level, title, text, atMs, endsAtMs } of updates) {
    const words = await markdown(text, pause);
    const isCurrent = nowMs < (endsAtMs ?? atMs + CURRENT_MS);
    shown.push({ name: nameOf(`update ${id}`), level, title: plain(title), words, text, atMs, endsAtMs, isCurrent });
  }
  return shown;
}

/** What is announced; and what is under way now without a word, where lines with the same stretch stand together. */
async function maintenanceOf(
  { announced, nowMs, pause }: PageFacts,
  plans: readonly LinePlan[],
): Promise<readonly MaintenanceView[]> {
  const members = plans.flatMap((plan) => plan.members);
  const told = announced.filter(({ selector }) => members.some((member) => isSelected(member, selector)));
  const found = new Map<string, { titles: Set<string>; fromMs: number; untilMs: number }>();
  for (const { title, members: ofLine } of plans) {
    for (const member of ofLine) {
      const { maintenance, isPaused } = member;
      if (maintenance === null || isPaused || !isInMaintenance(member, nowMs)) continue;
      const { fromMs, untilMs } = maintenance;
      if (told.some((one) => one.fromMs <= nowMs && isSelected(member, one.selector))) continue;
      const one = found.get(`${fromMs} ${untilMs}`) ?? { titles: new Set<string>(), fromMs, untilMs };
      found.set(`${fromMs} ${untilMs}`, one);
      one.titles.add(plain(title));
    }
  }
  const announcements: MaintenanceView[] = [];
  for (const { title, text, fromMs, untilMs } of told) {
    const words = text === "" ? null : await markdown(text, pause);
    announcements.push({ titles: [plain(title)], words, fromMs, untilMs });
  }
  return [
    ...announcements,
    ...[...found.values()].map(({ titles, fromMs, untilMs }) => ({
      titles: [...titles],
      words: null,
      fromMs,
      untilMs,
    })),
  ]
    .sort((one, other) => one.fromMs - other.fromMs)
    .slice(0, MOST_MAINTENANCE);
}
