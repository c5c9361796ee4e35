/**
 * The document of `sonde apply`: what a project shall have, as one plain structure that JSON and YAML can hold. Field names are those of the
 * API; what differs is that things name each other by their keys in the document, never by ids, which the service gives. Types only.
 */

/** Whole text, bytes of UTF-8. */
export const MOST_DOCUMENT_BYTES = 4_194_304;
/** Monitors, subscriptions, channels, rules, quiet hours, maintenances and status pages together. */
export const MOST_THINGS = 20_000;
/** Code points of a key, and of the document's name. */
export const LONGEST_KEY = 255;
/** Characters of a key: letters, digits and signs that need no quotes in YAML, in a path or on a command line. */
export const KEY = /^[\p{L}\p{N}_][\p{L}\p{N}_.:@/+-]*$/u;

/** A text that may hold `${env:NAME}` and `${file:PATH}`, which only the command line fills in; `$${` is a literal `${`. */
export type Text = string;
/** Whole seconds, or a text such as `90s`, `5m`, `2h`, `1d`, `1h30m`. */
export type Seconds = number | string;
/** What a field of the API takes. */
export type FieldValue =
  | string
  | number
  | boolean
  | null
  | readonly FieldValue[]
  | { readonly [name: string]: FieldValue | undefined };

export interface Document {
  /** Version of the form. */
  readonly sonde: 1;
  /** Whose things these are; `default` when absent. One project may have several documents. */
  readonly name?: string;
  /** For every monitor that does not say otherwise, as far as its kind has the field. */
  readonly defaults?: MonitorDefaults;
  readonly monitors?: Things<MonitorEntry>;
  readonly subscriptions?: Things<SubscriptionEntry>;
  readonly channels?: Things<ChannelEntry>;
  /** In order: the first that matches wins, unless it says `continue`. Their names are their keys. */
  readonly alert_rules?: readonly AlertRuleEntry[];
  readonly quiet_hours?: Things<QuietHoursEntry>;
  readonly maintenance?: Things<MaintenanceEntry>;
  readonly status_pages?: Things<StatusPageEntry>;
}

/** By key, which stays the same as long as the thing is the same: the service knows it by this. */
export type Things<Entry> = Readonly<Record<string, Entry>>;

export const SECTIONS = [
  "monitors",
  "subscriptions",
  "channels",
  "quiet_hours",
  "alert_rules",
  "maintenance",
  "status_pages",
] as const;
export type Section = (typeof SECTIONS)[number];

/** Fields of every kind that is checked; a heartbeat (push) has tags alone. */
export interface MonitorDefaults {
  readonly interval?: Seconds;
  readonly timeout?: Seconds;
  readonly timeout_follows_interval?: boolean;
  readonly maxretries?: number;
  readonly tags?: readonly string[];
  readonly locations?: readonly string[];
  readonly notify_on_partial?: boolean;
}

/**
 * A monitor of any kind: the body of POST /servers, with fields that have requests of their own there. Without `type` it is a tunnel or a
 * share link (`protocol`, `config`, `url` …).
 */
export interface MonitorEntry {
  /** `http`, `keyword`, `ping`, `port`, `dns`, `push`, … or `vpn`. */
  readonly type?: string;
  /** The key when absent. */
  readonly name?: string;
  readonly active?: boolean;
  readonly interval?: Seconds;
  readonly timeout?: Seconds;
  readonly timeout_follows_interval?: boolean;
  readonly maxretries?: number;
  /** In the place of the defaults' list. */
  readonly tags?: readonly string[];
  /** Beside the defaults' list. */
  readonly tags_add?: readonly string[];
  /** Of the defaults' list. */
  readonly tags_remove?: readonly string[];
  readonly locations?: readonly string[];
  readonly disabled_locations?: readonly string[];
  readonly notify_on_partial?: boolean;
  readonly ssl_expiration?: number | null;
  readonly domain_expiration?: number | null;
  /** Of a heartbeat, seconds. */
  readonly period?: Seconds;
  readonly grace?: Seconds;
  /** Of a heartbeat, 10 to 64 letters or digits, read when it is made: jobs that call it go on without a change. */
  readonly token?: Text;
  /** Another kind under the same key: the monitor is removed with its history, and made anew. */
  readonly replace?: boolean;
  /** Fields of the kind: `url`, `host`, `port`, `keyword`, `method`, `headers`, `protocol`, `config`, … */
  readonly [field: string]: FieldValue | undefined;
}

export interface SubscriptionEntry {
  readonly url: Text;
  /** The key when absent. */
  readonly name?: string | null;
  readonly syncIntervalSec?: Seconds;
  readonly timeoutSeconds?: Seconds;
  readonly maxWorkers?: number;
  readonly configAlertPercent?: number;
  readonly enabled?: boolean;
}

/** The fields of its kind stand beside these: `kind: telegram, chat_id: "-100…", token: …`. */
export interface ChannelEntry {
  readonly kind: string;
  /** The key when absent; unique in the project. */
  readonly name?: string;
  readonly active?: boolean;
  readonly [field: string]: FieldValue | undefined;
}

/** Which monitors are meant: all members are and-ed. Resolved when it is used, so that what is tagged later is covered. */
export interface DocumentSelector extends DocumentSelected {
  readonly not?: DocumentSelected;
}

export interface DocumentSelected {
  readonly all?: true;
  /** Of monitors of this document. */
  readonly keys?: readonly string[];
  readonly tags?: readonly string[];
  readonly any_tag?: readonly string[];
  readonly kinds?: readonly string[];
  readonly family?: "tunnel" | "uptime";
  /** Keys of subscriptions of this document. */
  readonly subscriptions?: readonly string[];
  readonly name?: string;
  readonly status?: readonly string[];
}

export interface AlertRuleEntry {
  /** Unique in the document: what the rule is known by. */
  readonly name: string;
  readonly active?: boolean;
  readonly continue?: boolean;
  readonly match?: {
    readonly events?: readonly string[];
    readonly select?: DocumentSelector;
    readonly severity?: readonly string[];
  };
  /** Keys of channels; null: every active channel. */
  readonly channels?: readonly string[] | null;
  readonly delay_s?: Seconds;
  /** `none`, `monitor`, `host`, `subscription`, `tag:<name>` or `project`. */
  readonly group_by?: string;
  readonly wait_s?: Seconds;
  readonly interval_s?: Seconds;
  /** null: never. */
  readonly repeat_s?: Seconds | null;
  readonly repeat_growth?: number;
  readonly recovered?: boolean;
  /** A key of quiet hours. */
  readonly quiet_hours?: string | null;
  readonly escalation?: readonly EscalationEntry[];
  readonly template?: FieldValue;
}

export interface EscalationEntry {
  readonly after_s: Seconds;
  /** Keys of channels. */
  readonly channels: readonly string[];
  readonly unless?: "acknowledged" | null;
}

export type Day = "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun";
/** `mon-sun` is a range. */
export type Days = Day | `${Day}-${Day}`;

export interface QuietHoursEntry {
  /** The key when absent. */
  readonly name?: string;
  readonly timezone?: string;
  /** Times as `22:00`; one that ends before it begins ends on the next day. */
  readonly spans: readonly { readonly days: readonly Days[]; readonly from: string; readonly to: string }[];
  readonly mode?: "hold" | "drop";
  readonly let_through?: { readonly severity?: readonly string[]; readonly tags?: readonly string[] };
}

export interface MaintenanceEntry {
  /** The key when absent. */
  readonly title?: string;
  readonly text?: string;
  readonly select: DocumentSelector;
  readonly schedule: MaintenanceSchedule;
  readonly timezone?: string;
  readonly starts_on?: string | null;
  readonly ends_on?: string | null;
  readonly announce?: boolean;
}

export type MaintenanceSchedule =
  | { readonly type: "once"; readonly starts_at: string; readonly ends_at: string }
  | { readonly type: "weekly"; readonly days: readonly Days[]; readonly from: string; readonly minutes: number }
  | { readonly type: "cron"; readonly cron: string; readonly minutes: number };

export interface StatusPageEntry {
  /** The key when absent. */
  readonly slug?: string;
  readonly title?: string;
  readonly groups: readonly StatusPageGroup[];
  /** `text`, `published`, `listed`, `index`, `domains`, `access`, `timezone`, `language`, `theme`, `accent`, `logo`, `css`, `links`, `frame`, `days`, `show`. */
  readonly [field: string]: FieldValue | readonly StatusPageGroup[] | undefined;
}

export interface StatusPageGroup {
  readonly title: string;
  readonly open?: string;
  readonly components: readonly StatusPageComponent[];
}

export interface StatusPageComponent {
  readonly select: DocumentSelector;
  readonly title?: string | null;
  readonly text?: string | null;
  readonly merge?: "each" | "worst" | "share";
}
