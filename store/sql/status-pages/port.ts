/** Status pages: what people set of them, and what their readers are shown (docs/api-contract.md#status-pages). */
import type { Actor } from "../../../model/actor.ts";
import type { Past } from "../../../model/days.ts";
import type { Family, Kind } from "../../../model/kind.ts";
import type { MaintenanceSpan } from "../../../model/monitor.ts";
import type { LiveStatus } from "../../../model/status.ts";
import type { PageUpdate, StatusPage } from "../../../model/status-page.ts";
import type { NoteData } from "../incidents/port.ts";
import type { ToSeal } from "../schema/seal-new.ts";

/** Of one project. */
export const MOST_PAGES = 100;
/** Of one page; the oldest goes when there is another. */
export const MOST_UPDATES = 500;

export interface StatusPageRecord extends StatusPage {
  readonly id: number;
  readonly projectId: number;
  /** What the addresses of its badges begin with. */
  readonly badgeName: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** With what its links, badges and password are judged by. */
export interface SealedPage extends StatusPageRecord {
  readonly accessSealed: string;
}

export type PageWrite =
  | { readonly type: "written"; readonly page: SealedPage }
  | { readonly type: "slug-taken" }
  | { readonly type: "domain-taken"; readonly domain: string }
  | { readonly type: "too-many" };

export interface UpdateRecord extends PageUpdate {
  readonly id: number;
  readonly actor: Actor;
}

/** A monitor, as much of it as a page can be made of. */
export interface PageMember {
  readonly id: number;
  readonly name: string;
  readonly kind: Kind;
  readonly family: Family;
  readonly tags: readonly string[];
  readonly subscriptionId: number | null;
  readonly isPaused: boolean;
  readonly maintenance: MaintenanceSpan | null;
  readonly createdAtMs: number;
  readonly status: LiveStatus;
  readonly latencyMs: number | null;
  readonly lastCheckedAtMs: number | null;
  readonly certificateExpiresAtMs: number | null;
}

/** What of an incident is meant for readers. */
export interface PublicWords {
  readonly title: string | null;
  readonly postmortem: string | null;
  /** Oldest first. */
  readonly notes: readonly (Pick<NoteData, "text" | "phase"> & { readonly atMs: number })[];
}

export interface StatusPages {
  create(input: {
    readonly projectId: number;
    readonly page: StatusPage;
    readonly badgeName: string;
    readonly accessSealed: ToSeal;
    readonly nowMs: number;
  }): Promise<PageWrite>;
  /**
   * Changes one in one transaction; what `decide` throws passes through.
   * @returns undefined when it is not there
   */
  update(
    projectId: number,
    id: number,
    nowMs: number,
    decide: (before: SealedPage) => { readonly page: StatusPage; readonly accessSealed: string },
  ): Promise<PageWrite | undefined>;
  /** @returns false when it was not there */
  remove(projectId: number, id: number): Promise<boolean>;
  find(projectId: number, id: number): Promise<SealedPage | undefined>;
  /** Of whatever project. */
  findById(id: number): Promise<SealedPage | undefined>;
  /** By slug; null: those of every project. */
  list(projectId: number | null): Promise<readonly StatusPageRecord[]>;
  bySlug(slug: string): Promise<SealedPage | undefined>;
  byBadge(badgeName: string): Promise<SealedPage | undefined>;
  /** Slugs by domain. */
  domains(): Promise<ReadonlyMap<string, string>>;
  /** Newest first. */
  updates(
    pageId: number,
    limit: number,
    offset: number,
  ): Promise<{ readonly rows: readonly UpdateRecord[]; readonly total: number }>;
  /** @returns undefined when there is no such page */
  addUpdate(pageId: number, update: PageUpdate, actor: Actor): Promise<UpdateRecord | undefined>;
  /** Changes or, where `decide` answers null, deletes one. @returns it as it is then, or was; undefined when it is not there */
  changeUpdate(
    pageId: number,
    id: number,
    decide: (before: UpdateRecord) => PageUpdate | null,
  ): Promise<UpdateRecord | undefined>;
  /** Every monitor of the project that is not deleted, by name without case, then id. */
  members(projectId: number, pause: () => Promise<void>): Promise<readonly PageMember[]>;
  /**
   * By monitor. What ended before `sinceMs` is left out, but for pauses. Monitors that nothing happened to are not in it.
   * @param pause lets others have a turn: it is read a piece at a time
   */
  pasts(
    members: readonly Pick<PageMember, "id" | "createdAtMs">[],
    sinceMs: number,
    pause: () => Promise<void>,
  ): Promise<ReadonlyMap<number, Past>>;
  /** By incident; those without words are not in it. */
  words(incidentIds: readonly number[]): Promise<ReadonlyMap<number, PublicWords>>;
}
