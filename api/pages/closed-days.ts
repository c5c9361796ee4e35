/**
 * Days of a page's lines that are over. To work them out of what happened to ten thousand monitors in ninety days takes a second of a thread, and they
 * hardly change: so they are kept, and only the running day is worked out each time.
 */
import { DAY_MS, type Past } from "../../model/days.ts";
import { LineDays } from "../../model/page-days.ts";
import type { PageMember } from "../../store/sql/status-pages/port.ts";
import { addTo, dayRuleOf, type LinePlan, TURN } from "./make-view.ts";

/** What comes late into a day that is over, as an incident whose confirmation came after midnight, is shown so soon, ms. */
const KEPT_MS = 600_000;

export interface ClosedDays {
  /** Midnight before which they are, Unix ms. */
  readonly untilMs: number;
  /** How many, the running one included. */
  readonly length: number;
  readonly readAtMs: number;
  /** By what makes the line. */
  readonly lines: ReadonlyMap<string, ClosedLine>;
}

interface ClosedLine {
  /** Monitors that were added. */
  readonly ids: readonly number[];
  readonly days: LineDays;
}

interface ClosedDaysOptions {
  readonly length: number;
  readonly nowMs: number;
  readonly pastsOf: (members: readonly PageMember[], sinceMs: number) => Promise<ReadonlyMap<number, Past>>;
  /** Lets others have a turn. */
  readonly pause: () => Promise<void>;
}

/** @param before as they were kept: lines that are made of the same monitors still are taken from it */
export async function closedDays(
  before: ClosedDays | undefined,
  plans: readonly LinePlan[],
  { length, nowMs, pastsOf, pause }: ClosedDaysOptions,
): Promise<ClosedDays> {
  const untilMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const kept = before !== undefined && isKept(before, { untilMs, length, nowMs }) ? before : undefined;
  const lines = new Map<string, ClosedLine>();
  const wanted: { readonly plan: LinePlan; readonly members: readonly PageMember[] }[] = [];
  for (const plan of plans) {
    const members = plan.members.filter((member) => member.lastCheckedAtMs !== null && member.createdAtMs < untilMs);
    const line = kept?.lines.get(plan.what);
    if (line !== undefined && isMadeOf(line, members)) lines.set(plan.what, line);
    else wanted.push({ plan, members });
  }
  const asked = [...new Set(wanted.flatMap(({ members }) => members))];
  const pasts = asked.length === 0 ? new Map<number, Past>() : await pastsOf(asked, nowMs - length * DAY_MS);
  for (const { plan, members } of wanted) {
    const days = new LineDays(dayRuleOf(plan.component), length, untilMs);
    for (const [index, member] of members.entries()) {
      if (index % TURN === TURN - 1) await pause();
      addTo(days, member, pasts.get(member.id));
    }
    lines.set(plan.what, { ids: members.map(({ id }) => id), days });
  }
  return { untilMs, length, readAtMs: kept?.readAtMs ?? nowMs, lines };
}

function isKept(
  before: ClosedDays,
  { untilMs, length, nowMs }: { readonly untilMs: number; readonly length: number; readonly nowMs: number },
): boolean {
  const ageMs = nowMs - before.readAtMs;
  return before.untilMs === untilMs && before.length === length && ageMs >= 0 && ageMs < KEPT_MS;
}

function isMadeOf({ ids }: ClosedLine, members: readonly PageMember[]): boolean {
  return ids.length === members.length && members.every(({ id }, index) => ids[index] === id);
}
