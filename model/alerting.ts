/**
 * Alerting: when a group of alerts sends a message, and which. A group is what one rule reports together (alerting-rule.ts). Pure: the store
 * calls decide() in the transaction that writes the decision, so nothing is reported twice, and nothing that still holds is forgotten.
 *
 *   joined ─wait, delay─▶ told ─interval─▶ told of what is new, worse or over ─▶ … ─all over─▶ told once, closed
 *              │                    └─repeat─▶ reminded, ever later, until it is acknowledged
 *              └─over before it was due─▶ never told
 */
import type { AlertRule, AlertSeverity } from "./alerting-rule.ts";
import { isLetThrough, type QuietHours, quietUntil } from "./quiet-hours.ts";

/** no · held: in quiet hours · firing: that it began · acknowledged: that a person has it in hand · ended: that it is over, or its notice */
const TOLD = ["no", "held", "firing", "acknowledged", "ended"] as const;
export type Told = (typeof TOLD)[number];

export interface GroupMember {
  readonly subject: string;
  readonly firing: boolean;
  readonly told: Told;
  readonly severity: AlertSeverity;
  /** The severity in the latest message. */
  readonly toldSeverity: AlertSeverity | null;
  readonly tags: readonly string[];
  readonly joinedAtMs: number;
  readonly acknowledged: boolean;
  /** Its monitor is in maintenance until then, or paused: Infinity. */
  readonly heldUntilMs: number | null;
  /** It was told, and its monitor was deleted or paused since: it fires no more, and does not work again either. */
  readonly isUnwatched: boolean;
}

export interface GroupState {
  /** Its members have no end: they are reported once. */
  readonly isNotice: boolean;
  /** Made of many groups that were due within a moment. */
  readonly isFold: boolean;
  readonly firstToldAtMs: number | null;
  readonly toldAtMs: number | null;
  /** Reminders since the latest message with something new. */
  readonly repeats: number;
  /** Steps of the escalation that were taken. */
  readonly step: number;
  readonly members: readonly GroupMember[];
}

/** `changed`: some of it is over, the rest is not; `acknowledged`: a person has it in hand, or some of it. */
export type SayReason =
  | "opened"
  | "raised"
  | "changed"
  | "acknowledged"
  | "reminder"
  | "recovered"
  | "notice"
  | "digest";

export interface Say {
  readonly reason: SayReason;
  /** Only the channels of the step of the escalation that is taken now. */
  readonly onlyStep: boolean;
  /** What began and ended in quiet hours. */
  readonly cameAndWent: number;
  readonly subjects: readonly string[];
}

export interface Decision {
  readonly say: Say | null;
  readonly after: GroupState;
  /** Members that are forgotten: they were over before anything was said of them. */
  readonly forgotten: readonly string[];
  /** Unix ms; null: only another event changes something. */
  readonly dueAtMs: number | null;
  readonly isOver: boolean;
}

/** A repetition comes this much later at most, ms. */
const LONGEST_REPEAT_MS = 24 * 3_600_000;
/** Of one rule, groups that are reported for the first time within STORM_MS; further ones become one. Our choice: what a person still reads one by one. */
export const MOST_GROUPS_ALONE = 10;
/** Our choice: checks of a minute's interval see one cause spread over a minute. */
export const STORM_MS = 60_000;

type Act = "open" | "raise" | "recover" | "change" | "acknowledge" | "remind" | "escalate";

interface Todo {
  readonly act: Act;
  readonly atMs: number;
  readonly members: readonly GroupMember[];
}

/** Times in the future, written under a wrong clock, count as now, so that nothing waits for them. */
export function decide(group: GroupState, rule: AlertRule, quiet: QuietHours | null, nowMs: number): Decision {
  const present = notAhead(group, nowMs);
  const todo = todoOf(present, rule, nowMs);
  const due = todo.filter(({ atMs }) => atMs <= nowMs);
  if (due.length === 0) return resting(present, todo);
  const until = quiet === null ? null : quietUntil(quiet, nowMs);
  if (quiet !== null && until !== null) {
    const isHeard = due.some(({ members }) => members.some((member) => isLetThrough(quiet, member)));
    if (!isHeard) return silenced(present, quiet, todo, nowMs, until);
  }
  return spoken(present, rule, due, nowMs);
}

function notAhead(group: GroupState, nowMs: number): GroupState {
  const { firstToldAtMs, toldAtMs } = group;
  if ((firstToldAtMs ?? 0) <= nowMs && (toldAtMs ?? 0) <= nowMs) return group;
  const past = (atMs: number | null): number | null => (atMs === null ? null : Math.min(atMs, nowMs));
  return { ...group, firstToldAtMs: past(firstToldAtMs), toldAtMs: past(toldAtMs) };
}

/** What is to be said, and when; of one act at most what is due and what is not yet. A group may have ten thousand members. */
function todoOf(group: GroupState, rule: AlertRule, nowMs: number): readonly Todo[] {
  const { members, toldAtMs, isFold, isNotice } = group;
  const todo: Todo[] = [];
  const { fresh, passed, standing, ended } = sorted(members);
  const waiting = standing.filter(({ acknowledged }) => !acknowledged);
  const free = least(waiting, ({ heldUntilMs }) => heldUntilMs ?? 0);
  const remindAtMs = Math.max(free, remindTime(group, rule));
  // A reminder takes along what waits for the interval: where reminders come sooner, it would wait for ever.
  const next = Math.min((toldAtMs ?? 0) + rule.intervalS * 1_000, remindAtMs);
  todo.push(...timed("open", fresh, openTime(group, rule, fresh, next, nowMs), nowMs));
  if (passed.length > 0) todo.push({ act: "open", atMs: 0, members: passed });
  if (isNotice) return todo;

  const taken = standing.filter(({ acknowledged, told }) => acknowledged && told === "firing");
  if (taken.length > 0) todo.push({ act: "acknowledge", atMs: next, members: taken });
  const worse = standing.filter(({ severity, toldSeverity }) => severity === "critical" && toldSeverity === "warning");
  todo.push(...timed("raise", worse, ({ heldUntilMs }) => Math.max(next, heldUntilMs ?? 0), nowMs));
  const isAllOver = fresh.length === 0 && standing.length === 0 && members.every(({ firing }) => !firing);
  if (ended.length > 0 && isAllOver) {
    todo.push({ act: "recover", atMs: rule.recovered ? next : 0, members: ended });
  } else if (ended.some(({ isUnwatched }) => !isUnwatched) && rule.recovered && !isFold) {
    todo.push({ act: "change", atMs: next, members: ended });
  }
  if (waiting.length === 0) return todo;
  todo.push({ act: "remind", atMs: remindAtMs, members: waiting });
  const step = rule.escalation[group.step];
  if (step !== undefined && group.firstToldAtMs !== null)
    todo.push({ act: "escalate", atMs: Math.max(free, group.firstToldAtMs + step.afterS * 1_000), members: waiting });
  return todo;
}

interface Sorted {
  readonly fresh: readonly GroupMember[];
  /** Came and went in quiet hours. */
  readonly passed: readonly GroupMember[];
  readonly standing: readonly GroupMember[];
  readonly ended: readonly GroupMember[];
}

/** Members by what can be said of them. */
function sorted(members: readonly GroupMember[]): Sorted {
  const fresh: GroupMember[] = [];
  const passed: GroupMember[] = [];
  const standing: GroupMember[] = [];
  const ended: GroupMember[] = [];
  for (const member of members) {
    const { firing, told } = member;
    if (told === "no" || told === "held") {
      if (firing) fresh.push(member);
      else if (told === "held") passed.push(member);
    } else if (told !== "ended") (firing ? standing : ended).push(member);
  }
  return { fresh, passed, standing, ended };
}

/** What of an act is due, and what is not yet. */
function timed(
  act: Act,
  members: readonly GroupMember[],
  timeOf: (member: GroupMember) => number,
  nowMs: number,
): readonly Todo[] {
  const due: GroupMember[] = [];
  const later: GroupMember[] = [];
  let [dueAtMs, laterAtMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const member of members) {
    const atMs = timeOf(member);
    if (atMs <= nowMs) {
      due.push(member);
      dueAtMs = Math.min(dueAtMs, atMs);
    } else {
      later.push(member);
      laterAtMs = Math.min(laterAtMs, atMs);
    }
  }
  const todo: Todo[] = [];
  if (due.length > 0) todo.push({ act, atMs: dueAtMs, members: due });
  if (later.length > 0) todo.push({ act, atMs: laterAtMs, members: later });
  return todo;
}

/** When a member that was in no message yet may be in one. @param next when the group's next message may be */
function openTime(
  { toldAtMs, isNotice, isFold }: GroupState,
  rule: AlertRule,
  fresh: readonly GroupMember[],
  next: number,
  nowMs: number,
): (member: GroupMember) => number {
  const firstJoin = Math.min(
    nowMs,
    least(fresh, ({ joinedAtMs }) => joinedAtMs),
  );
  // A fold is made of groups that had waited.
  const waited = isFold ? 0 : firstJoin + rule.waitS * 1_000;
  const group = toldAtMs === null ? waited : next;
  const delayMs = isNotice ? 0 : rule.delayS * 1_000;
  return ({ joinedAtMs, heldUntilMs }) => Math.max(group, Math.min(joinedAtMs, nowMs) + delayMs, heldUntilMs ?? 0);
}

/** Infinity: never. */
function remindTime({ toldAtMs, repeats }: GroupState, { repeatS, repeatGrowth }: AlertRule): number {
  if (repeatS === null || toldAtMs === null) return Number.POSITIVE_INFINITY;
  return toldAtMs + Math.min(repeatS * 1_000 * repeatGrowth ** repeats, LONGEST_REPEAT_MS);
}

function silenced(
  group: GroupState,
  { mode }: QuietHours,
  todo: readonly Todo[],
  nowMs: number,
  untilMs: number,
): Decision {
  const opening = todo.filter(({ act, atMs }) => act === "open" && atMs <= nowMs);
  const held = new Set(opening.flatMap(({ members }) => members));
  const members = group.members.map((member) =>
    mode === "hold" && member.firing && held.has(member) ? { ...member, told: "held" as const } : member,
  );
  // What is due before their end may be let through.
  const later = todo.filter(({ atMs }) => atMs > nowMs);
  const rest = resting({ ...group, members }, later);
  return { ...rest, dueAtMs: Math.min(untilMs, rest.dueAtMs ?? untilMs), isOver: false };
}

/** Nothing is said. */
function resting(group: GroupState, todo: readonly Todo[]): Decision {
  // The end of a storm says how many it became, also those that came and went between two of its messages.
  const isCounted = group.isFold && !group.isNotice && group.firstToldAtMs !== null;
  const isUnsaid = ({ firing, told }: GroupMember): boolean => !firing && told === "no";
  const members = isCounted ? group.members : group.members.filter((member) => !isUnsaid(member));
  const isOver = members.every((member) => !member.firing && (member.told === "ended" || isUnsaid(member)));
  const ended = isOver && isCounted;
  return {
    say: null,
    after: {
      ...group,
      members: ended ? members.map((member) => (isUnsaid(member) ? toldOf(member, false) : member)) : members,
    },
    forgotten: isCounted ? [] : group.members.filter(isUnsaid).map(({ subject }) => subject),
    dueAtMs: earliest(todo),
    isOver,
  };
}

/** Of any number of items: arguments of Math.min() have a bound. */
function least<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((smallest, item) => Math.min(smallest, of(item)), Number.POSITIVE_INFINITY);
}

function earliest(todo: readonly Todo[]): number | null {
  const atMs = least(todo, (one) => one.atMs);
  return Number.isFinite(atMs) ? atMs : null;
}

function spoken(group: GroupState, rule: AlertRule, due: readonly Todo[], nowMs: number): Decision {
  const of = (act: Act): readonly GroupMember[] =>
    due.filter((one) => one.act === act).flatMap(({ members }) => members);
  const [opened, raised, changed, recovered] = [of("open"), of("raise"), of("change"), of("recover")];
  const taken = of("acknowledge");
  const acts = new Set(due.map(({ act }) => act));
  const onlyStep = acts.size === 1 && acts.has("escalate");
  const said = new Set<GroupMember>();
  for (const some of [opened, raised, changed, recovered, taken]) for (const member of some) said.add(member);
  const members = group.members.map((member) => (said.has(member) ? toldOf(member, group.isNotice) : member));
  const hasNews = opened.length > 0 || raised.length > 0;
  const after: GroupState = {
    ...group,
    firstToldAtMs: group.firstToldAtMs ?? nowMs,
    toldAtMs: onlyStep ? group.toldAtMs : nowMs,
    repeats: hasNews ? 0 : group.repeats + (acts.has("remind") ? 1 : 0),
    step: group.step + (acts.has("escalate") ? 1 : 0),
    members,
  };
  // Of a group that is over nothing is left to be looked for, and it may have ten thousand members.
  const left = members.every(({ firing, told }) => !firing && told === "ended") ? [] : todoOf(after, rule, nowMs);
  const rest = resting(after, left);
  // Where no end is wanted, the group closes in silence.
  if (acts.size === 1 && acts.has("recover") && !rule.recovered) return rest;
  const say: Say = {
    reason: reasonOf(group, acts, opened),
    onlyStep,
    cameAndWent: opened.filter(({ firing }) => !firing).length,
    subjects: Array.from(said, ({ subject }) => subject),
  };
  return { ...rest, say };
}

function toldOf(member: GroupMember, isNotice: boolean): GroupMember {
  const stands = member.firing && !isNotice;
  const told = stands ? (member.acknowledged ? "acknowledged" : "firing") : "ended";
  const { subject, severity, tags, joinedAtMs, acknowledged, heldUntilMs, isUnwatched } = member;
  // One literal: to spread the old one takes ten times as long, and there may be ten thousand.
  return {
    subject,
    firing: stands,
    told,
    severity,
    toldSeverity: severity,
    tags,
    joinedAtMs,
    acknowledged,
    heldUntilMs,
    isUnwatched,
  };
}

function reasonOf({ isNotice }: GroupState, acts: ReadonlySet<Act>, opened: readonly GroupMember[]): SayReason {
  if (isNotice) return "notice";
  if (opened.some(({ told }) => told === "held")) return "digest";
  if (acts.has("open")) return "opened";
  if (acts.has("recover")) return "recovered";
  if (acts.has("raise")) return "raised";
  if (acts.has("change")) return "changed";
  if (acts.has("acknowledge") && !acts.has("remind")) return "acknowledged";
  return acts.has("escalate") && acts.size === 1 ? "opened" : "reminder";
}

/**
 * Whether groups that would speak for the first time now speak as one.
 * @param lately groups of the rule that spoke alone for the first time within STORM_MS
 * @param hasFold the rule has one that is not calm yet
 */
export function isFolded(reasons: readonly SayReason[], lately: number, hasFold: boolean): boolean {
  if (hasFold || lately + reasons.length > MOST_GROUPS_ALONE) return true;
  return reasons.filter((reason) => reason === "digest").length > 1;
}

/** A fold takes further groups until nothing has joined it for the rule's interval. */
export function isCalm(changedAtMs: number, rule: AlertRule, nowMs: number): boolean {
  return nowMs - changedAtMs >= rule.intervalS * 1_000;
}
