/**
 * What a message says of its members as a whole. A storm has ten thousand of them, so they are counted in one pass that makes room for other
 * work on the thread, and what is made of the counts afterwards takes no time.
 */
import { type Breathe, Pace } from "../../store/sql/alerts/pace.ts";
import type { BegunNotification, ToldMember } from "../../store/sql/alerts/port.ts";

/** Those that fire, or those that are over. */
export class Part {
  readonly members: ToldMember[] = [];
  readonly hosts = new Map<string, number>();
  readonly tags = new Map<string, number>();
  areTunnels = true;
  areDown = true;
  isCritical = false;
  hasUnacknowledged = false;
  acknowledged = 0;

  add(member: ToldMember): void {
    const { host, tags, isTunnel, event, severity, acknowledged, incidentId } = member;
    this.members.push(member);
    if (!isTunnel) this.areTunnels = false;
    if (event !== "down") this.areDown = false;
    if (severity === "critical") this.isCritical = true;
    if (acknowledged) this.acknowledged += 1;
    else if (incidentId !== null) this.hasUnacknowledged = true;
    if (host !== null) this.hosts.set(host, (this.hosts.get(host) ?? 0) + 1);
    for (const tag of tags) this.tags.set(tag, (this.tags.get(tag) ?? 0) + 1);
  }
}

export interface Tally {
  readonly firing: Part;
  readonly over: Part;
  readonly size: number;
  /** The one that began first; null: there is none. */
  readonly first: ToldMember | null;
  /** Of the one that began first; Infinity where there is none. */
  readonly sinceMs: number;
  /** Of the one that ended last; null where one has not ended. */
  readonly endedAtMs: number | null;
  /** That all are on; null: they are on several, or on none. */
  readonly host: string | null;
  /** All were deleted or paused. */
  readonly isUnwatched: boolean;
}

export async function tallyOf(begun: BegunNotification, breathe: Breathe): Promise<Tally> {
  const pace = new Pace(breathe);
  const about = await aboutOf(begun, pace);
  const [firing, over] = [new Part(), new Part()];
  const [first = null] = about;
  let sinceMs = Number.POSITIVE_INFINITY;
  let endedAtMs: number | null = 0;
  let host = first?.host ?? null;
  for (const member of about) {
    (member.firing ? firing : over).add(member);
    if (member.sinceMs < sinceMs) sinceMs = member.sinceMs;
    if (endedAtMs !== null) endedAtMs = member.endedAtMs === null ? null : Math.max(endedAtMs, member.endedAtMs);
    if (member.host !== host) host = null;
    if (pace.isOver()) await pace.rest();
  }
  const isUnwatched = first?.isUnwatched === true && begun.reason !== "notice";
  return { firing, over, size: about.length, first, sinceMs, endedAtMs, host, isUnwatched };
}

/** What the message is about: of a notice what is new, else what its group is. A monitor that went down twice counts once. */
async function aboutOf({ reason, isFold, members }: BegunNotification, pace: Pace): Promise<readonly ToldMember[]> {
  const about = new Map<number | string, ToldMember>();
  for (const member of members) {
    if (pace.isOver()) await pace.rest();
    if (reason === "notice" ? !member.isNew : !member.isTold && !member.firing) continue;
    const isOne = reason !== "notice" && (isFold || member.incidentId !== null);
    const key = isOne ? (member.monitorId ?? member.subject) : member.subject;
    const before = about.get(key);
    about.set(key, before === undefined ? member : joined(before, member));
  }
  const all = [...about.values()];
  // Of what is not watched any more is said only that, and only where there is nothing else to say.
  const left = reason === "notice" ? all : all.filter(({ isUnwatched }) => !isUnwatched);
  return left.length === 0 ? all : left;
}

function joined(before: ToldMember, member: ToldMember): ToldMember {
  const shown = before.firing ? before : member;
  const endedAtMs = Math.max(before.endedAtMs ?? 0, member.endedAtMs ?? 0);
  // What is down now is down since the latest time, however often it was before.
  if (shown.firing) return { ...shown, endedAtMs: null };
  return { ...shown, sinceMs: Math.min(before.sinceMs, member.sinceMs), endedAtMs };
}
