/**
 * What a status page shows, as types that have no place for a host, an address, an id or a message of a check: what cannot be carried cannot be
 * shown by mistake. Names of incidents and badges are made by a hash with the page's own key, so nothing can be counted through.
 */
import type { PageSettings, UpdateLevel } from "../../model/status-page.ts";
import type { Html } from "./html.ts";

/** The worst last. */
export const LINE_STATES = ["works", "paused", "maintenance", "unknown", "degraded", "partial", "down"] as const;
export type LineState = (typeof LINE_STATES)[number];

export const DAY_LOOKS = ["none", "up", "maintenance", "slight", "bad", "worse"] as const;
export type DayLook = (typeof DAY_LOOKS)[number];

export interface DayView {
  /** `2026-11-21`, UTC. */
  readonly date: string;
  readonly look: DayLook;
  /** Of one monitor, or of the mean of all that make the line, as the next. */
  readonly downS: number;
  readonly watchedS: number;
}

export interface LineView {
  readonly title: string;
  readonly text: string;
  readonly state: LineState;
  /** Of a line for many: how many work, and of how many that is known; null: a line for one, or for the worst. */
  readonly share: { readonly works: number; readonly known: number } | null;
  readonly days: readonly DayView[];
  /** Percent; null: nothing was watched. */
  readonly uptime: number | null;
  readonly latencyMs: number | null;
  /** Whole days that its certificate is good for. */
  readonly certificateDays: number | null;
  readonly badge: string;
}

export interface GroupView {
  readonly title: string;
  readonly state: LineState;
  readonly uptime: number | null;
  readonly isOpen: boolean;
  readonly lines: readonly LineView[];
}

export interface NoteView {
  readonly atMs: number;
  readonly phase: "investigating" | "identified" | "monitoring" | "resolved" | null;
  readonly words: Html;
  /** As it was written, for feeds of text. */
  readonly text: string;
}

export interface IncidentView {
  /** In its address. */
  readonly name: string;
  readonly title: string;
  readonly level: "down" | "degraded";
  readonly fromMs: number;
  /** null: it lasts. */
  readonly toMs: number | null;
  /** Oldest first. */
  readonly notes: readonly NoteView[];
  readonly postmortem: Html | null;
}

export interface UpdateView {
  readonly name: string;
  readonly level: UpdateLevel;
  readonly title: string;
  readonly words: Html;
  readonly text: string;
  readonly atMs: number;
  readonly endsAtMs: number | null;
  /** It is shown at the top. */
  readonly isCurrent: boolean;
}

export interface MaintenanceView {
  /** Of lines, or of the maintenance itself where it is announced. */
  readonly titles: readonly string[];
  readonly words: Html | null;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface StatusView {
  readonly slug: string;
  readonly title: string;
  /** Only its makers see it. */
  readonly isDraft: boolean;
  readonly words: Html | null;
  readonly settings: Omit<PageSettings, "text" | "listed">;
  readonly hasLogo: boolean;
  readonly state: LineState;
  readonly groups: readonly GroupView[];
  /** Open ones first, then the newest. */
  readonly incidents: readonly IncidentView[];
  /** Newest first. */
  readonly updates: readonly UpdateView[];
  readonly maintenance: readonly MaintenanceView[];
  /** Of the page as a whole. */
  readonly badge: string;
  /** When it was read, Unix ms. */
  readonly atMs: number;
}
