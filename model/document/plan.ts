/** What applying a document would do. Types and words, pure. */
import type { Section } from "./document.ts";

export const THING_KINDS = [
  "monitor",
  "subscription",
  "channel",
  "quiet_hours",
  "alert_rule",
  "maintenance",
  "status_page",
] as const;
export type ThingKind = (typeof THING_KINDS)[number];

export const SECTION_OF = {
  monitor: "monitors",
  subscription: "subscriptions",
  channel: "channels",
  quiet_hours: "quiet_hours",
  alert_rule: "alert_rules",
  maintenance: "maintenance",
  status_page: "status_pages",
} as const satisfies Record<ThingKind, Section>;

/**
 * create · change · adopt: a thing that was there gets the key, and what differs is changed · replace: removed with its history, and made anew ·
 * remove: because of prune · release: it is no longer in the document, and stays as it is
 */
export const ACTS = ["create", "adopt", "change", "replace", "remove", "release"] as const;
export type Act = (typeof ACTS)[number];

export interface FieldChange {
  readonly field: string;
  /** As it is; absent: it has none, or it is secret. */
  readonly from?: unknown;
  /** As the document has it; absent: it is secret. */
  readonly to?: unknown;
  /** Its values are not shown. */
  readonly secret?: true;
  /** It was changed elsewhere since the document was applied. */
  readonly drift?: true;
}

export interface Change {
  readonly act: Act;
  readonly kind: ThingKind;
  readonly key: string;
  /** Of the service; null: it is not there yet. */
  readonly id: string | null;
  readonly name: string;
  readonly fields: readonly FieldChange[];
  /** In words: why it changes, where the document does not say so, or what is lost. */
  readonly note?: string;
}

export interface RefusedThing {
  readonly kind: ThingKind;
  readonly key: string;
  readonly path: string;
  readonly line: number | null;
  readonly message: string;
}

export interface Plan {
  readonly name: string;
  /** Of all that is shown here and of all that would be written. */
  readonly hash: string;
  readonly changes: readonly Change[];
  readonly unchanged: number;
  readonly refused: readonly RefusedThing[];
}
