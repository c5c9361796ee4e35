/** Documents of `sonde apply`: what their keys stand for, and all that one apply writes, in one transaction. */
import type { Actor } from "../../../model/actor.ts";
import type { AlertRule } from "../../../model/alerting-rule.ts";
import type { ThingKind } from "../../../model/document/plan.ts";
import type { QuietHours } from "../../../model/quiet-hours.ts";
import type { StatusPage } from "../../../model/status-page.ts";
import type { ChannelChanges, NewChannel } from "../alerts/channels-port.ts";
import type { Draft } from "../alerts/port.ts";
import type { MonitorChange, MonitorWithLive, NewMonitor } from "../monitors/port.ts";
import type { MaintenanceSchedule, ScheduleDraft } from "../monitors/schedules-port.ts";
import type { ToSeal } from "../schema/seal-new.ts";
import type { NewSubscription, SubscriptionChange } from "../subscriptions/port.ts";

export interface DocumentRecord {
  readonly id: number;
  readonly projectId: number;
  readonly name: string;
  readonly appliedAtMs: number;
  readonly appliedBy: Actor;
  readonly hash: string;
}

export type Marks = Readonly<Record<string, string>>;
/** Among a monitor's marks, which are named by fields: its generation when the document was applied. The store adds it. */
export const GENERATION_MARK = "#";

export interface DocumentThing {
  readonly kind: ThingKind;
  readonly key: string;
  readonly thingId: number;
  /** null: no document has it any more. */
  readonly documentId: number | null;
  /** By field, a keyed hash of what was applied last. */
  readonly marks: Marks;
  /** false: it was removed otherwise, and its key is free. */
  readonly isThere: boolean;
}

/** What a key stood for when an order was thought out: `seenThing()` by `kind key`. */
export type Seen = ReadonlyMap<string, string>;

export function seenThing({ thingId, documentId }: Pick<DocumentThing, "thingId" | "documentId">): string {
  return `${thingId} ${documentId}`;
}

/** With the number of its latest change, by which a later writer finds out that it is another one now. */
export interface MonitorOfProject extends Pick<MonitorWithLive, "monitor"> {
  readonly generation: number;
}

export interface Made<Input> {
  readonly key: string;
  readonly input: Input;
  readonly marks: Marks;
}

export interface Changed<Wanted> {
  readonly id: number;
  /** As it was when the change was thought out: a monitor's generation, otherwise when it was changed last, Unix ms. */
  readonly version: number;
  /** null: nothing of it. */
  readonly change: Wanted | null;
  /** null: it is in no document. */
  readonly managed: Managed | null;
}

export interface Managed {
  readonly key: string;
  readonly marks: Marks;
}

export interface Removed {
  readonly id: number;
  readonly version: number;
}

export interface Orders<Input, Wanted> {
  readonly create: readonly Made<Input>[];
  readonly change: readonly Changed<Wanted>[];
  readonly remove: readonly Removed[];
}

/** A list that is written as a whole, and not at all where nothing of it changes. */
export interface ListOrder<Item> {
  /** Of the list when the order was thought out. */
  readonly version: number;
  /** All that shall be there, in their order; null: it stays as it is. */
  readonly items: readonly Draft<Item>[] | null;
  /** By place in `items`, those that are made. */
  readonly made: ReadonlyMap<number, Managed>;
  /** Of those that are there. */
  readonly managed: readonly (Managed & { readonly id: number })[];
  /** Those that go when nothing names them any more. */
  readonly removed: readonly number[];
}

export interface NewPage {
  readonly page: StatusPage;
  readonly badgeName: string;
  readonly accessSealed: ToSeal;
}

export interface PageChange {
  readonly page: StatusPage;
  readonly accessSealed: string;
}

/** `before` is a schedule as it was then. */
export interface ScheduleChange {
  readonly draft: ScheduleDraft;
  readonly before: MaintenanceSchedule;
}

/**
 * Things that name others may name what the same order makes, which has no id yet: -1 stands for the first of its kind in `create` (of a
 * list: the first in `made`), -2 for the second.
 */
export interface ApplyOrder {
  readonly projectId: number;
  readonly organizationId: number;
  readonly name: string;
  readonly hash: string;
  readonly nowMs: number;
  readonly actor: Actor;
  /** Tunnels that the plan of the workspace allows; null: any number. */
  readonly slots: number | null;
  readonly monitors: Orders<NewMonitor, MonitorChange>;
  readonly subscriptions: Orders<NewSubscription, SubscriptionChange>;
  readonly channels: Orders<NewChannel, ChannelChanges>;
  readonly quietHours: ListOrder<QuietHours>;
  readonly rules: ListOrder<AlertRule>;
  readonly maintenance: Orders<ScheduleDraft, ScheduleChange>;
  readonly pages: Orders<NewPage, PageChange>;
  /** Every key of the project. */
  readonly seen: Seen;
  /** No longer in the document. */
  readonly release: readonly Pick<DocumentThing, "kind" | "key">[];
}

/** A key, and the thing that it stands for from now on. */
export interface Assigned {
  readonly kind: ThingKind;
  readonly key: string;
  readonly thingId: number;
  readonly marks: Marks;
}

/** Something is no longer as it was when the order was made: nothing was written. */
export class StaleOrderError extends Error {
  override readonly name = "StaleOrderError";
}

export interface Documents {
  list(projectId: number): Promise<readonly DocumentRecord[]>;
  /** Of every document of the project, and of none; some at a time. */
  things(projectId: number): AsyncIterable<readonly DocumentThing[]>;
  /** All of the project, some at a time, without their secrets. */
  monitors(projectId: number): AsyncIterable<readonly MonitorOfProject[]>;
  /** Sealed fields of monitors, by id. */
  sealedOf(monitorIds: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Hashes of the tokens of heartbeats, by monitor. */
  tokenHashes(monitorIds: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Those of the hashes that are a heartbeat's token. */
  takenTokens(hashes: readonly string[]): Promise<ReadonlySet<string>>;
  /** Open and closed incidents of each, where there are some. */
  incidentCounts(monitorIds: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Whole or not at all. @throws StaleOrderError, SlotsFullError, UrlTakenError */
  apply(order: ApplyOrder): Promise<void>;
}
