/**
 * Messages, made of the present state of a group: what, why, since when, where, and links. Names and words of targets are one line each,
 * without characters that hide or turn others. No credentials, share links or heartbeat addresses: none of it is in what is read. Pure.
 */
import type { Message, MessageItem, MessageReason, MessageSeverity } from "../../model/alert-message.ts";
import { formatId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import type { BegunNotification, ToldMember } from "../../store/sql/alerts/port.ts";

/** As many are listed; of the others the number is said. */
const MOST_ITEMS = 20;
/** Hosts and tags that a message about many names. */
const MOST_CAUSES = 4;
const LONGEST_NAME = 120;
const LONGEST_WHY = 300;
/** Control, line ends, bidirectional and invisible characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]+/gu;

interface MessageContext {
  /** Where the page is; null: messages have no links. */
  readonly base: string | null;
  /** Of this message; null: there is nothing to acknowledge. */
  readonly acknowledge: string | null;
  readonly nowMs: number;
}

export function messageOf(begun: BegunNotification, { base, acknowledge, nowMs }: MessageContext): Message {
  const about = aboutOf(begun);
  const firing = about.filter((member) => member.firing);
  const isOver = firing.length === 0 && begun.reason !== "notice";
  const shown = [...firing, ...about.filter((member) => !member.firing)];
  const items = shown.slice(0, MOST_ITEMS).map((member) => itemOf(member, base, nowMs));
  const canAcknowledge = firing.some(({ incidentId, acknowledged }) => incidentId !== null && !acknowledged);
  return {
    reason: reasonOf(begun, about, firing, isOver),
    severity: severityOf(begun, about, firing),
    title: titleOf(begun, about, firing, nowMs),
    summary: summaryOf(begun, about, firing),
    facts: factsOf(begun, about, nowMs),
    items,
    more: Math.max(0, shown.length - items.length),
    link: linkOf(shown, base),
    acknowledge: canAcknowledge ? acknowledge : null,
    groupKey: begun.groupKey,
    at: formatIso(nowMs),
  };
}

/** What it is about: a notice tells what is new, everything else what its group is. */
function aboutOf({ reason, members }: BegunNotification): readonly ToldMember[] {
  return members.filter(({ isNew, isTold, firing }) => (reason === "notice" ? isNew : isTold || firing));
}

function tidy(text: string, most: number): string {
  const line = text
    .slice(0, 4 * most)
    .replace(UNSEEN, " ")
    .trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/\p{Surrogate}$/u, "")}…`;
}

function nameOf({ name }: ToldMember): string {
  return tidy(name, LONGEST_NAME);
}

function reasonOf(
  { reason }: BegunNotification,
  about: readonly ToldMember[],
  firing: readonly ToldMember[],
  isOver: boolean,
): MessageReason {
  if (reason === "notice") return NOTICES[about[0]?.event ?? "partial"] ?? "partial";
  // Only what is over as a whole is said to be over: services close what they opened by it.
  if (reason === "recovered" && isOver) return "recovered";
  if (reason === "recovered" || reason === "changed") return "reminder";
  // Services take what is acknowledged as a whole.
  if (reason === "acknowledged") return firing.every(({ acknowledged }) => acknowledged) ? reason : "reminder";
  return reason;
}

const NOTICES: Readonly<Partial<Record<ToldMember["event"], MessageReason>>> = {
  partial: "partial",
  certificate: "expiring",
  domain: "expiring",
  sync: "sync",
  channel: "channel",
};

function severityOf(
  { reason }: BegunNotification,
  about: readonly ToldMember[],
  firing: readonly ToldMember[],
): MessageSeverity {
  if (reason === "notice") return "warning";
  if (firing.some(({ severity }) => severity === "critical")) return "critical";
  if (firing.length > 0) return "warning";
  return about.length === 0 || reason === "digest" ? "info" : "ok";
}

function titleOf(
  begun: BegunNotification,
  about: readonly ToldMember[],
  firing: readonly ToldMember[],
  nowMs: number,
): string {
  const { reason, isFold } = begun;
  if (reason === "digest") return digestTitle(begun, firing);
  if (reason === "acknowledged" && firing.length > 0) return acknowledgedTitle(begun, about, firing);
  const [only] = about;
  if (only !== undefined && about.length === 1) return titleOfOne(only, reason, nowMs);
  const host = isFold ? null : sharedHost(about);
  const what = things(about);
  if (reason === "notice") return `${about.length} ${what} need attention`;
  if (firing.length === 0) {
    const lasted = lastedOf(about, nowMs);
    return host === null
      ? `${about.length} ${what} work again after ${lasted}`
      : `${host}: all ${about.length} ${what} work again after ${lasted}`;
  }
  if (host !== null)
    return `${host}: ${firing.length} of ${begun.hostMonitors ?? about.length} ${what} ${stateWord(firing)}`;
  const rest = about.length - firing.length;
  return `${firing.length} ${what} ${stateWord(firing)}${rest > 0 ? `, ${rest} work again` : ""}`;
}

function titleOfOne(member: ToldMember, reason: BegunNotification["reason"], nowMs: number): string {
  const name = nameOf(member);
  const why = tidy(member.why, LONGEST_WHY);
  if (reason === "notice") return `${name}: ${lowered(why)}`;
  if (!member.firing) return `${name} works again after ${lastedOf([member], nowMs)}`;
  const places = placesOf(member);
  const still = reason === "reminder" ? `still, for ${duration(nowMs - member.sinceMs)}` : null;
  const state = STATES[member.event] ?? "has a problem";
  return `${name} ${state}${still === null ? "" : ` ${still}`}: ${why}${places === null ? "" : ` (${places})`}`;
}

const STATES: Readonly<Partial<Record<ToldMember["event"], string>>> = {
  down: "is down",
  login_refused: "refuses the login",
  configs: "has too few working configurations",
};

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function stateWord(firing: readonly ToldMember[]): string {
  return firing.every(({ event }) => event === "down") ? "down" : "not working";
}

function digestTitle({ cameAndWent }: BegunNotification, firing: readonly ToldMember[]): string {
  const passed = cameAndWent === 0 ? "" : `${cameAndWent} came and went`;
  if (firing.length === 0) return `After quiet hours: ${passed === "" ? "everything works again" : passed}`;
  const what = firing.length === 1 ? nameOf(firing[0] as ToldMember) : `${firing.length} ${things(firing)}`;
  return `After quiet hours: ${what} ${stateWord(firing)}${passed === "" ? "" : `, ${passed}`}`;
}

/** "Berlin 3 is acknowledged", "de7.example: 4 of 6 tunnels acknowledged". */
function acknowledgedTitle(
  { isFold }: BegunNotification,
  about: readonly ToldMember[],
  firing: readonly ToldMember[],
): string {
  const taken = firing.filter(({ acknowledged }) => acknowledged);
  const [only] = firing;
  if (firing.length === 1 && only !== undefined) return `${nameOf(only)} is acknowledged`;
  const host = isFold ? null : sharedHost(about);
  const what = `${taken.length} of ${firing.length} ${things(firing)} acknowledged`;
  return host === null ? what : `${host}: ${what}`;
}

const TUNNEL_NAME = "tunnels";

function things(members: readonly ToldMember[]): string {
  return members.every(({ isTunnel }) => isTunnel) ? TUNNEL_NAME : "monitors";
}

function sharedHost(members: readonly ToldMember[]): string | null {
  const host = members[0]?.host ?? null;
  return host !== null && members.every((member) => member.host === host) ? tidy(host, LONGEST_NAME) : null;
}

/** In which places; null where none were chosen. */
function placesOf({ locations }: ToldMember): string | null {
  const chosen = locations.filter((location) => location !== "any");
  return chosen.length === 0 ? null : tidy(chosen.join(", "), LONGEST_NAME);
}

function summaryOf(begun: BegunNotification, about: readonly ToldMember[], firing: readonly ToldMember[]): string {
  if (begun.isFold || about.length > MOST_ITEMS) {
    const causes = causesOf(firing.length > 0 ? firing : about);
    if (causes !== "") return causes;
  }
  const names = (firing.length > 0 ? firing : about).slice(0, MOST_CAUSES).map(nameOf);
  const [first] = firing.length > 0 ? firing : about;
  if (names.length === 1 && first !== undefined) return tidy(first.why, LONGEST_WHY);
  const more = (firing.length > 0 ? firing : about).length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** "12 on de7.example, 9 tagged edge": what many have in common, the most first. */
function causesOf(members: readonly ToldMember[]): string {
  const hosts = new Map<string, number>();
  const tagged = new Map<string, number>();
  const count = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const { host, tags } of members) {
    if (host !== null) count(hosts, host);
    for (const tag of tags) count(tagged, tag);
  }
  const shared = [...sharedBy("on", hosts), ...sharedBy("tagged", tagged)].sort((a, b) => b[1] - a[1]);
  return shared
    .slice(0, MOST_CAUSES)
    .map(([cause, total]) => `${total} ${tidy(cause, LONGEST_NAME)}`)
    .join(", ");
}

/** @returns what more than one has, and how many do */
function sharedBy(word: string, counts: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  const shared: (readonly [string, number])[] = [];
  for (const [name, total] of counts) if (total > 1) shared.push([`${word} ${name}`, total]);
  return shared;
}

function factsOf(
  begun: BegunNotification,
  about: readonly ToldMember[],
  nowMs: number,
): readonly (readonly [string, string])[] {
  const facts: (readonly [string, string])[] = [];
  const [only] = about;
  if (about.length === 1 && only !== undefined) {
    facts.push(["Why", tidy(only.why, LONGEST_WHY)]);
    if (only.stage !== null) facts.push(["Stage", only.stage.replaceAll("_", " ")]);
    const places = placesOf(only);
    if (places !== null) facts.push(["Where", places]);
  }
  const sinceMs = about.reduce((least, member) => Math.min(least, member.sinceMs), nowMs);
  if (about.length > 0 && begun.reason !== "notice") {
    facts.push(["Since", formatIso(sinceMs)]);
    const isOver = about.every(({ firing }) => !firing);
    facts.push([isOver ? "Lasted" : "For", isOver ? lastedOf(about, nowMs) : duration(nowMs - sinceMs)]);
  }
  if (begun.cameAndWent > 0) facts.push(["Came and went", String(begun.cameAndWent)]);
  return facts;
}

/** From the first beginning to the last end. */
function lastedOf(members: readonly ToldMember[], nowMs: number): string {
  const from = members.reduce((least, { sinceMs }) => Math.min(least, sinceMs), nowMs);
  const until = members.reduce((most, { endedAtMs }) => Math.max(most, endedAtMs ?? nowMs), from);
  return duration(until - from);
}

const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** The two largest units: `1 d 2 h`, `12 min`, `40 s`. */
function duration(ms: number): string {
  let left = Math.max(0, Math.round(ms / 1_000));
  const first = UNITS.findIndex(([seconds]) => left >= seconds);
  if (first < 0) return "0 s";
  const parts: string[] = [];
  for (const [seconds, unit] of UNITS.slice(first, first + 2)) {
    const count = Math.floor(left / seconds);
    left -= count * seconds;
    // Seconds beside minutes are more than is needed.
    if (count > 0 && !(unit === "s" && parts.length > 0)) parts.push(`${count} ${unit}`);
  }
  return parts.join(" ");
}

function itemOf(member: ToldMember, base: string | null, nowMs: number): MessageItem {
  const state = member.firing ? member.event.replaceAll("_", " ") : "works again";
  return {
    id: member.subject,
    name: nameOf(member),
    state,
    why: tidy(member.why, LONGEST_WHY),
    since: formatIso(Math.min(member.sinceMs, nowMs)),
    url: pageOf(member, base),
  };
}

function linkOf(members: readonly ToldMember[], base: string | null): string {
  const [only] = members;
  if (base === null) return "";
  return members.length === 1 && only !== undefined ? pageOf(only, base) : `${base}/#/incidents`;
}

function pageOf({ incidentId, monitorId }: ToldMember, base: string | null): string {
  if (base === null) return "";
  if (incidentId !== null) return `${base}/#/incidents/${formatId("incident", incidentId)}`;
  return monitorId === null ? `${base}/#/incidents` : `${base}/#/monitors/${formatId("server", monitorId)}`;
}
