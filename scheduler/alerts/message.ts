/**
 * Messages, made of the present state of a group: what, why, since when, where, and links. Names and words of targets are one line each,
 * without characters that hide or turn others. No credentials, share links or heartbeat addresses: none of it is in what is read. Pure.
 */
import type { Message, MessageItem, MessageReason, MessageSeverity } from "../../model/alert-message.ts";
import { formatId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import type { Breathe } from "../../store/sql/alerts/pace.ts";
import type { BegunNotification, ToldMember } from "../../store/sql/alerts/port.ts";
import { tidy } from "./channels/tidy.ts";
import { type Part, type Tally, tallyOf } from "./tally.ts";

/** As many are listed; of the others the number is said. */
const MOST_ITEMS = 20;
/** Hosts and tags that a message about many names. */
const MOST_CAUSES = 4;
const LONGEST_NAME = 120;
const LONGEST_WHY = 300;

interface MessageContext {
  /** Where the page is; null: messages have no links. */
  readonly base: string | null;
  /** Of this message; null: there is nothing to acknowledge. */
  readonly acknowledge: string | null;
  readonly nowMs: number;
}

/** @param breathe asked now and then: a message may be about ten thousand monitors */
export async function messageOf(
  begun: BegunNotification,
  { base, acknowledge, nowMs }: MessageContext,
  breathe: Breathe,
): Promise<Message> {
  const tally = await tallyOf(begun, breathe);
  const { firing, over } = tally;
  const isOver = firing.members.length === 0 && begun.reason !== "notice";
  const shown = firing.members.slice(0, MOST_ITEMS);
  if (shown.length < MOST_ITEMS) shown.push(...over.members.slice(0, MOST_ITEMS - shown.length));
  return {
    reason: reasonOf(begun, tally, isOver),
    severity: severityOf(begun, tally),
    title: titleOf(begun, tally, nowMs),
    summary: summaryOf(begun, tally),
    facts: factsOf(begun, tally, nowMs),
    items: shown.map((member) => itemOf(member, begun, base, nowMs)),
    more: Math.max(0, tally.size - shown.length),
    link: linkOf(tally, base),
    acknowledge: firing.hasUnacknowledged ? acknowledge : null,
    groupKey: begun.groupKey,
    at: formatIso(nowMs),
  };
}

/** A monitor without a readable name is shown by its id. */
function nameOf({ name, monitorId, subject }: ToldMember): string {
  const shown = tidy(name, LONGEST_NAME);
  if (shown !== "") return shown;
  return monitorId === null ? subject : formatId("server", monitorId);
}

function reasonOf({ reason }: BegunNotification, { first, firing }: Tally, isOver: boolean): MessageReason {
  if (reason === "notice") return NOTICES[first?.event ?? "partial"] ?? "partial";
  // Only what is over as a whole is said to be over: services close what they opened by it.
  if (reason === "recovered" && isOver) return "recovered";
  if (reason === "recovered" || reason === "changed") return "reminder";
  // Services take what is acknowledged as a whole.
  if (reason === "acknowledged") return firing.acknowledged === firing.members.length ? reason : "reminder";
  return reason;
}

const NOTICES: Readonly<Partial<Record<ToldMember["event"], MessageReason>>> = {
  partial: "partial",
  certificate: "expiring",
  domain: "expiring",
  sync: "sync",
  channel: "channel",
};

function severityOf({ reason }: BegunNotification, { firing, size, isUnwatched }: Tally): MessageSeverity {
  if (reason === "notice") return "warning";
  if (isUnwatched) return "info";
  if (firing.isCritical) return "critical";
  if (firing.members.length > 0) return "warning";
  return size === 0 || reason === "digest" ? "info" : "ok";
}

function titleOf(begun: BegunNotification, tally: Tally, nowMs: number): string {
  const { reason, isFold } = begun;
  const { first, firing, over, size } = tally;
  const down = firing.members.length;
  if (reason === "digest") return digestTitle(begun, firing);
  if (reason === "acknowledged" && down > 0) return acknowledgedTitle(begun, tally);
  if (first !== null && size === 1) return titleOfOne(first, reason, nowMs);
  const host = isFold ? null : sharedHost(tally);
  const what = things(firing, over);
  if (reason === "notice") return `${size} ${what} need attention`;
  if (tally.isUnwatched) return `${size} ${what} are no longer monitored`;
  if (down === 0) {
    const lasted = lastedOf(tally, nowMs);
    return host === null
      ? `${size} ${what} work again after ${lasted}`
      : `${host}: all ${size} ${what} work again after ${lasted}`;
  }
  if (host !== null) return `${host}: ${down} of ${begun.hostMonitors ?? size} ${what} ${stateWord(firing)}`;
  const rest = size - down;
  return `${down} ${what} ${stateWord(firing)}${rest > 0 ? `, ${rest} work again` : ""}`;
}

function titleOfOne(member: ToldMember, reason: BegunNotification["reason"], nowMs: number): string {
  const name = nameOf(member);
  const why = tidy(member.why, LONGEST_WHY);
  if (reason === "notice" && member.event === "channel") return `The channel ${name} does not take messages: ${why}`;
  if (reason === "notice") return `${name}: ${lowered(why)}`;
  if (member.isUnwatched) return `${name} is no longer monitored`;
  if (!member.firing) return `${name} works again after ${lastedOf(member, nowMs)}`;
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

/** As it goes on after a colon; `HTTP` and `TLS` stay. */
function lowered(text: string): string {
  return /^\p{Lu}\p{Ll}/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function stateWord({ areDown }: Part): string {
  return areDown ? "down" : "not working";
}

function digestTitle({ cameAndWent }: BegunNotification, firing: Part): string {
  const passed = cameAndWent === 0 ? "" : `${cameAndWent} came and went`;
  const [only] = firing.members;
  if (only === undefined) return `After quiet hours: ${passed === "" ? "everything works again" : passed}`;
  const what = firing.members.length === 1 ? nameOf(only) : `${firing.members.length} ${things(firing)}`;
  return `After quiet hours: ${what} ${stateWord(firing)}${passed === "" ? "" : `, ${passed}`}`;
}

/** "Berlin 3 is acknowledged", "de7.example: 4 of 6 tunnels acknowledged". */
function acknowledgedTitle({ isFold }: BegunNotification, tally: Tally): string {
  const { firing } = tally;
  const [only] = firing.members;
  if (firing.members.length === 1 && only !== undefined) return `${nameOf(only)} is acknowledged`;
  const host = isFold ? null : sharedHost(tally);
  const what = `${firing.acknowledged} of ${firing.members.length} ${things(firing)} acknowledged`;
  return host === null ? what : `${host}: ${what}`;
}

const TUNNEL_NAME = "tunnels";

function things(...parts: readonly Part[]): string {
  return parts.every(({ areTunnels }) => areTunnels) ? TUNNEL_NAME : "monitors";
}

function sharedHost({ host }: Tally): string | null {
  return host === null ? null : tidy(host, LONGEST_NAME);
}

/** In which places; null where none were chosen. */
function placesOf({ locations }: ToldMember): string | null {
  const chosen = locations.filter((location) => location !== "any");
  return chosen.length === 0 ? null : tidy(chosen.join(", "), LONGEST_NAME);
}

function summaryOf(begun: BegunNotification, { firing, over, size }: Tally): string {
  const told = firing.members.length > 0 ? firing : over;
  if (begun.isFold || size > MOST_ITEMS) {
    const causes = causesOf(told);
    if (causes !== "") return causes;
  }
  const names = told.members.slice(0, MOST_CAUSES).map(nameOf);
  const [first] = told.members;
  if (names.length === 1 && first !== undefined) return tidy(first.why, LONGEST_WHY);
  const more = told.members.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** "12 on de7.example, 9 tagged edge": what many have in common, the most first. */
function causesOf({ hosts, tags }: Part): string {
  const shared = [...sharedBy("on", hosts), ...sharedBy("tagged", tags)].sort((a, b) => b[1] - a[1]);
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

function factsOf(begun: BegunNotification, tally: Tally, nowMs: number): readonly (readonly [string, string])[] {
  const facts: (readonly [string, string])[] = [];
  const { first, size, firing } = tally;
  if (size === 1 && first !== null) {
    facts.push(["Why", tidy(first.why, LONGEST_WHY)]);
    if (first.stage !== null) facts.push(["Stage", first.stage.replaceAll("_", " ")]);
    const places = placesOf(first);
    if (places !== null) facts.push(["Where", places]);
  }
  if (size > 0 && begun.reason !== "notice") {
    const sinceMs = Math.min(tally.sinceMs, nowMs);
    facts.push(["Since", formatIso(sinceMs)]);
    const isOver = firing.members.length === 0;
    if (!tally.isUnwatched)
      facts.push([isOver ? "Lasted" : "For", isOver ? lastedOf(tally, nowMs) : duration(nowMs - sinceMs)]);
  }
  if (begun.cameAndWent > 0) facts.push(["Came and went", String(begun.cameAndWent)]);
  return facts;
}

/** From the first beginning to the last end. */
function lastedOf({ sinceMs, endedAtMs }: Pick<ToldMember, "sinceMs" | "endedAtMs">, nowMs: number): string {
  const from = Math.min(sinceMs, nowMs);
  return duration(Math.max(endedAtMs ?? nowMs, from) - from);
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

/** Of a notice: it has no end, so it never says that it works again. */
const NOTICE_STATES: Readonly<Partial<Record<ToldMember["event"], string>>> = {
  partial: "down from some places",
  certificate: "certificate",
  domain: "domain",
  sync: "not synced",
  channel: "failing",
};

function stateOf({ event, firing, isUnwatched }: ToldMember, { reason }: BegunNotification): string {
  if (reason === "notice") return NOTICE_STATES[event] ?? "";
  if (isUnwatched) return "no longer monitored";
  return firing ? event.replaceAll("_", " ") : "works again";
}

function itemOf(member: ToldMember, begun: BegunNotification, base: string | null, nowMs: number): MessageItem {
  return {
    id: member.subject,
    name: nameOf(member),
    state: stateOf(member, begun),
    why: tidy(member.why, LONGEST_WHY),
    since: formatIso(Math.min(member.sinceMs, nowMs)),
    url: pageOf(member, base),
  };
}

function linkOf({ first, size }: Tally, base: string | null): string {
  if (base === null) return "";
  return size === 1 && first !== null ? pageOf(first, base) : `${base}/#/incidents`;
}

function pageOf({ event, incidentId, monitorId, isUnwatched }: ToldMember, base: string | null): string {
  if (base === null) return "";
  // Its pages may have gone with it.
  if (isUnwatched) return `${base}/#/incidents`;
  if (event === "channel") return `${base}/#/alerts`;
  if (incidentId !== null) return `${base}/#/incidents/${formatId("incident", incidentId)}`;
  return monitorId === null ? `${base}/#/incidents` : `${base}/#/monitors/${formatId("server", monitorId)}`;
}
