/** Status pages: what a person sets of one, and what the public reads of its systems. Pure. */
import type { Selector } from "./selector.ts";

/** How several monitors make one line: a line for each · the worst of them · how many of them work. */
export const MERGES = ["each", "worst", "share"] as const;
export const PAGE_THEMES = ["auto", "light", "dark"] as const;
/** Pages of which sites may show the page in a frame. */
export const PAGE_FRAMES = ["none", "self", "*"] as const;
/** When a group shows its lines without a click: while one of them has a problem, always, never. */
export const GROUP_OPENS = ["problems", "always", "never"] as const;
export const PAGE_ACCESSES = ["public", "link", "password", "session"] as const;
export const UPDATE_LEVELS = ["info", "maintenance", "warning", "outage", "resolved"] as const;

export type PageAccess = (typeof PAGE_ACCESSES)[number];
export type UpdateLevel = (typeof UPDATE_LEVELS)[number];

export interface PageComponent {
  readonly servers: Selector;
  /** null: the monitor's own name, of a line for each. */
  readonly title: string | null;
  readonly text: string;
  readonly merge: (typeof MERGES)[number];
}

export interface PageGroup {
  readonly title: string;
  readonly open: (typeof GROUP_OPENS)[number];
  readonly components: readonly PageComponent[];
}

export interface PageShow {
  readonly uptime: boolean;
  readonly latency: boolean;
  readonly certificate: boolean;
  /** How far past incidents go back. */
  readonly incidentsDays: number;
}

/** Small settings, kept as one. */
export interface PageSettings {
  /** Markdown. */
  readonly text: string;
  /** In the list of pages of the service. */
  readonly listed: boolean;
  /** Search engines may keep it. */
  readonly index: boolean;
  /** IANA name. */
  readonly timezone: string;
  /** BCP 47. */
  readonly language: string;
  readonly theme: (typeof PAGE_THEMES)[number];
  /** `#rrggbb`. */
  readonly accent: string;
  readonly links: { readonly home: string | null; readonly contact: string | null };
  readonly frame: (typeof PAGE_FRAMES)[number];
  /** Days that a line shows. */
  readonly days: number;
  readonly show: PageShow;
}

export interface StatusPage {
  /** Its name in the address; unique in the service. */
  readonly slug: string;
  readonly title: string;
  readonly published: boolean;
  readonly settings: PageSettings;
  /** In lower case; each belongs to one page of the service. */
  readonly domains: readonly string[];
  readonly access: PageAccess;
  readonly groups: readonly PageGroup[];
  readonly css: string | null;
  /** A data URL. */
  readonly logo: string | null;
}

/** What a person says to readers, beside incidents. */
export interface PageUpdate {
  readonly level: UpdateLevel;
  readonly title: string;
  /** Markdown. */
  readonly text: string;
  readonly atMs: number;
  /** Shown at the top of the page until then; null: it stays a week. */
  readonly endsAtMs: number | null;
}

export const NEW_PAGE: Omit<StatusPage, "slug" | "title"> = {
  published: false,
  settings: {
    text: "",
    listed: false,
    index: true,
    timezone: "UTC",
    language: "en",
    theme: "auto",
    accent: "#0a7d53",
    links: { home: null, contact: null },
    frame: "none",
    days: 90,
    show: { uptime: true, latency: false, certificate: false, incidentsDays: 30 },
  },
  domains: [],
  access: "public",
  groups: [],
  css: null,
  logo: null,
};
