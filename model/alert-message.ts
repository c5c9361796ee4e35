/** Messages about alerts, before a channel writes them in its own form. */

export const MESSAGE_REASONS = [
  "opened",
  "raised",
  "reminder",
  "recovered",
  "acknowledged",
  "partial",
  "expiring",
  "sync",
  "channel",
  "digest",
  "test",
] as const;

export type MessageReason = (typeof MESSAGE_REASONS)[number];

export type MessageSeverity = "critical" | "warning" | "info" | "ok";

export interface MessageItem {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly why: string;
  readonly since: string;
  readonly url: string;
}

/** What is said, before any markup: each channel escapes for its own. Names are already without control and bidirectional characters. */
export interface Message {
  readonly reason: MessageReason;
  readonly severity: MessageSeverity;
  /** One line, no markup. */
  readonly title: string;
  /** One line, no markup. */
  readonly summary: string;
  /** Why, stage, since, lasted, where, exit address. */
  readonly facts: readonly (readonly [string, string])[];
  /** At most 20. */
  readonly items: readonly MessageItem[];
  /** Further ones that are not listed. */
  readonly more: number;
  readonly link: string;
  readonly acknowledge: string | null;
  /** The same for all messages about one problem: the key by which receivers find duplicates and threads. */
  readonly groupKey: string;
  /** ISO 8601. */
  readonly at: string;
}

/** Nothing of what it is about holds any more, also where it sums up quiet hours: services close what they opened. */
export function isAllOver({ reason, severity }: Message): boolean {
  return reason === "recovered" || (reason === "digest" && severity === "info");
}
