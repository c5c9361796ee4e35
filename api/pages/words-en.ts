/** Every word that a status page says by itself, in English. Pure. */
import type { UpdateLevel } from "../../model/status-page.ts";
import { atMost, duration } from "./amounts.ts";
import type { LineState, NoteView } from "./view.ts";

const HEADLINES: Readonly<Record<LineState, string>> = {
  works: "All systems work",
  paused: "Nothing is watched right now",
  maintenance: "Maintenance is under way",
  unknown: "Nothing is known yet",
  degraded: "Some systems are degraded",
  partial: "Some systems are down",
  down: "All systems are down",
};

const STATES: Readonly<Record<LineState, string>> = {
  works: "Works",
  paused: "Not watched",
  maintenance: "Maintenance",
  unknown: "No data",
  degraded: "Degraded",
  partial: "Partly down",
  down: "Down",
};

const LEVELS: Readonly<Record<UpdateLevel, string>> = {
  info: "Note",
  maintenance: "Maintenance",
  warning: "Warning",
  outage: "Outage",
  resolved: "Resolved",
};

const PHASES: Readonly<Record<NonNullable<NoteView["phase"]>, string>> = {
  investigating: "Investigating",
  identified: "Identified",
  monitoring: "Monitoring",
  resolved: "Resolved",
};

/** The same words in another language. */
type Wide<Value> = Value extends string
  ? string
  : Value extends (...values: infer Values) => string
    ? (...values: Values) => string
    : { readonly [Name in keyof Value]: Wide<Value[Name]> };
export type PageWords = Wide<typeof english>;

const lasting = (seconds: number): string => duration(seconds, (count, unit) => `${count} ${unit}`);

export const english = {
  headlines: HEADLINES,
  states: STATES,
  levels: LEVELS,
  phases: PHASES,
  skip: "Skip to the status",
  systems: "Systems",
  announcements: "Announcements",
  open: "Open incidents",
  past: "Past incidents",
  noPast: (days: number) => `None in the last ${counted(days, "day")}.`,
  noSystems: "This page has no systems yet.",
  maintenance: "Maintenance",
  more: (count: number) => `${count} more`,
  share: (works: number, known: number) => `${works} of ${known} work`,
  certificate: (days: number) => (days < 0 ? "certificate has expired" : `certificate: ${counted(days, "day")}`),
  latency: (ms: number) => `${ms} ms`,
  daysAgo: (days: number) => `${counted(days, "day")} ago`,
  today: "Today",
  since: "since",
  ongoing: "ongoing",
  resolved: "Resolved",
  why: "Why it happened",
  postmortem: "Post-mortem",
  updates: "Updates",
  back: "Back to the status",
  noNotes: "Nothing was written about it.",
  began: "Began",
  ended: "Ended",
  lasted: "Lasted",
  subscribe: "Subscribe",
  badge: "Badge",
  badges: {
    status: "status",
    uptime: "uptime",
    latency: "latency",
    certificate: "certificate",
    expired: "expired",
    days: (days: number) => `${days} d`,
  },
  home: "Home",
  contact: "Contact",
  powered: "Powered by Sonde",
  old: (age: string) => `This is ${age} old: the service does not reach its data right now.`,
  draft: "This is a draft: only people who are signed in to its project see it.",
  notFound: "There is no such page",
  notFoundText: "The address may be misspelt, or the page may have been taken away.",
  passwordTitle: "This page asks for a password",
  password: "Password",
  enter: "Open the page",
  wrongPassword: "This is not the password.",
  signIn: "This page is for people who are signed in",
  signInLink: "Sign in",
  index: "Status pages",
  noPages: "There are none.",
  incident: (title: string, level: "down" | "degraded", isOver: boolean) =>
    `${title} ${isOver ? "was" : "is"} ${level === "down" ? "down" : "degraded"}`,
  barLabel(days: number, troubled: number, downS: number): string {
    if (troubled === 0) return `Last ${counted(days, "day")}: no outage`;
    return `Last ${counted(days, "day")}: outages on ${counted(troubled, "day")}, ${lasting(downS)} in all`;
  },
  duration: lasting,
  percent: (uptime: number): string => `${atMost(uptime)} %`,
  looks: {
    none: "no data",
    up: "no outage",
    maintenance: "maintenance",
    slight: "down",
    bad: "down",
    worse: "down",
  },
} as const;

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
