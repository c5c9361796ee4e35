/** Badges: one line of a page, or the page as a whole, as an image or as what shields.io asks for. */
import { DAY_MS } from "../../model/days.ts";
import { formatIso } from "../../model/time.ts";
import { plain } from "./html.ts";
import type { LineState, LineView, StatusView } from "./view.ts";
import type { PageWords } from "./words-en.ts";

export type BadgeKind = "status" | "uptime" | "latency" | "certificate";
export const BADGE_STYLES = ["flat", "flat-square", "for-the-badge"] as const;
export type BadgeStyle = (typeof BADGE_STYLES)[number];

/** Code points of a label that a reader chooses. */
const LONGEST_LABEL = 60;

export interface BadgeText {
  readonly label: string;
  readonly message: string;
  /** A name of badge-maker's. */
  readonly color: string;
}

const COLORS: Readonly<Record<LineState, string>> = {
  works: "brightgreen",
  degraded: "yellow",
  partial: "orange",
  down: "red",
  maintenance: "blue",
  unknown: "lightgrey",
  paused: "lightgrey",
};

/** What a badge is about: a line, or the page. */
export type BadgeSubject = Pick<LineView, "title" | "state" | "latencyMs" | "certificateDays" | "days">;

/** @returns undefined when the page has nothing of that name */
export function subjectOf(view: StatusView, badge: string): BadgeSubject | undefined {
  const lines = view.groups.flatMap((group) => group.lines);
  if (badge !== view.badge) return lines.find((line) => line.badge === badge);
  return {
    title: view.title,
    state: view.state,
    latencyMs: null,
    certificateDays: null,
    days: lines.flatMap((line) => line.days),
  };
}

/** Percent over so many days, the running one included; null: nothing was watched. @param atMs when the page was read */
export function uptimeOver({ days }: BadgeSubject, length: number, atMs: number): number | null {
  const since = formatIso(atMs - (length - 1) * DAY_MS).slice(0, 10);
  const counted = days.filter(({ date }) => date >= since);
  const watched = counted.reduce((sum, day) => sum + day.watchedS, 0);
  const down = counted.reduce((sum, day) => sum + day.downS, 0);
  return watched === 0 ? null : (1 - down / watched) * 100;
}

/** What one badge is of. */
interface BadgeOf {
  readonly kind: BadgeKind;
  readonly subject: BadgeSubject;
  readonly uptime: number | null;
}

/** @param words of the page's language @param label what the reader wants it to say; empty: what it is */
export function badgeText(of: BadgeOf, words: PageWords, label: string): BadgeText {
  const text = plain(label).trim();
  const [message, color] = said(of, words);
  return { label: text === "" ? words.badges[of.kind] : [...text].slice(0, LONGEST_LABEL).join(""), message, color };
}

function said({ kind, subject, uptime }: BadgeOf, words: PageWords): [string, string] {
  const { state, latencyMs, certificateDays } = subject;
  const nothing: [string, string] = [words.looks.none, "lightgrey"];
  switch (kind) {
    case "status":
      return [words.states[state].toLowerCase(), COLORS[state]];
    case "uptime":
      if (uptime === null) return nothing;
      return [
        words.percent(uptime),
        uptime >= 99.9 ? "brightgreen" : uptime >= 99 ? "green" : uptime >= 95 ? "yellow" : "red",
      ];
    case "latency":
      return latencyMs === null ? nothing : [words.latency(latencyMs), "blue"];
    case "certificate":
      if (certificateDays === null) return nothing;
      if (certificateDays < 0) return [words.badges.expired, "red"];
      return [
        words.badges.days(certificateDays),
        certificateDays < 7 ? "red" : certificateDays < 21 ? "yellow" : "brightgreen",
      ];
  }
}

/**
 * Made when the first badge is asked for: the widths of letters that it needs are two megabytes of source, a tenth of what a start costs.
 * @returns what draws one
 */
export async function badgeImages(): Promise<(text: BadgeText, style: BadgeStyle) => string> {
  const { makeBadge } = await import("badge-maker");
  return ({ label, message, color }, style) => makeBadge({ label, message, color, style });
}

/** As https://shields.io/badges/endpoint-badge reads it. */
export function badgeJson({ label, message, color }: BadgeText): string {
  return JSON.stringify({ schemaVersion: 1, label, message, color });
}
