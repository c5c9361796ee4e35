/**
 * Status pages as they are shown, kept for ten seconds and shared by all who ask. While a store is away the last good one is shown, and says how
 * old it is. Bounded: pages, addresses that lead to none, and what is made at one time.
 */
import { setImmediate as turn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { BoundedMap } from "../../model/bounded-map.ts";
import type { Turn } from "../../model/maintenance-schedule.ts";
import type { MaybePromise } from "../../model/maybe-promise.ts";
import { isSlug } from "../../model/status-page-reader.ts";
import type { Sealing } from "../../store/sealed-text.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { MaintenanceSchedule } from "../../store/sql/monitors/schedules-port.ts";
import { ScheduleError, Turns } from "../../store/sql/monitors/turns.ts";
import type { PageMember, SealedPage, UpdateRecord } from "../../store/sql/status-pages/port.ts";
import { RETRY_SOON, refusal } from "../errors.ts";
import { tagOf } from "../etag.ts";
import type { ApiResponse } from "../http.ts";
import { wholeAnswer } from "../whole-answer.ts";
import { type ClosedDays, closedDays } from "./closed-days.ts";
import { type AnnouncedMaintenance, makeView, plannedLines } from "./make-view.ts";
import { openedSecrets, type PageSecrets, publicName } from "./secrets.ts";
import type { StatusView } from "./view.ts";
import { wordsIn } from "./words.ts";

/** How old what is shown may be, ms. */
const KEPT_MS = 10_000;
/** One that is little older is shown while the next is made: none of many readers waits. */
const SHOWN_MEANWHILE_MS = 15_000;
/** Bounds memory: a page takes 200 kB at most of them. */
const MOST_PAGES = 64;
/** Texts of one page: the page itself at two addresses, its incidents, feeds and badges. */
const MOST_TEXTS = 256;
const MOST_UNKNOWN = 1_000;
/** Pages that are made at one time; a further request is answered 503. */
const MOST_MAKING = 32;
/** Announcements without an end stand at the top for so long, ms. */
const WEEK_MS = 7 * 86_400_000;
const DAY_MS = 86_400_000;
/** Maintenance that begins later is not shown yet, ms. */
const ANNOUNCED_MS = 14 * DAY_MS;
/** Incidents that are read to find those that are shown. */
const MOST_INCIDENTS = 300;
const UPDATES_SHOWN = 50;

export interface PublicPagesOptions {
  readonly controlPlane: Pick<ControlPlane, "statusPages" | "incidents" | "schedules">;
  readonly sealing: Sealing;
  readonly nowMs: () => number;
  readonly log: { warn(fields: object, message: string): void };
}

/** What a caller gets of a text: that he has it, the text, or the text compressed. */
export type Form = "known" | "plain" | "packed";

/** A text that was made of a view, with the answers that were made of it. */
export class Made {
  readonly plain: Buffer;
  /** Weak: one for the text, whether it is compressed or not (RFC 9110 section 8.8.1). */
  readonly tag: string;
  readonly #answers = new Map<Form, ApiResponse>();

  constructor(text: string | Uint8Array) {
    this.plain = Buffer.from(text);
    this.tag = tagOf(this.plain);
  }

  packed(): Buffer {
    return gzipSync(this.plain);
  }

  /** Made when it is first asked for, and given to all who ask after that. */
  answer(form: Form, make: () => ApiResponse): ApiResponse {
    const known = this.#answers.get(form);
    if (known !== undefined) return known;
    const answer = wholeAnswer(make());
    this.#answers.set(form, answer);
    return answer;
  }
}

/** A page at one moment. */
export class ShownPage {
  readonly page: SealedPage;
  readonly secrets: PageSecrets;
  readonly view: StatusView;
  /** How old it is where the store is away; null: as new as it should be. */
  readonly ageMs: number | null;
  readonly #texts = new BoundedMap<string, Made>(MOST_TEXTS);

  constructor(page: SealedPage, secrets: PageSecrets, view: StatusView, ageMs: number | null) {
    this.page = page;
    this.secrets = secrets;
    this.view = view;
    this.ageMs = ageMs;
  }

  /** @param key what it is, within this page */
  text(key: string, make: () => string | Uint8Array): Made {
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const made = new Made(make());
    this.#texts.set(key, made);
    return made;
  }

  aged(ageMs: number): ShownPage {
    return new ShownPage(this.page, this.secrets, this.view, ageMs);
  }
}

interface Kept {
  /** null: there is no such page. */
  readonly shown: ShownPage | null;
  /** When the store said so, Unix ms. */
  readonly readAtMs: number;
  /** When the store was asked last. */
  triedAtMs: number;
}

interface Domains {
  /** By domain. */
  readonly slugs: ReadonlyMap<string, string>;
  /** When the store was asked last, Unix ms; minus infinity: it must be asked. */
  readonly triedAtMs: number;
}

export class PublicPages {
  readonly #options: PublicPagesOptions;
  readonly #kept = new BoundedMap<string, Kept>(MOST_PAGES);
  readonly #closed = new BoundedMap<string, ClosedDays>(MOST_PAGES);
  readonly #unknown = new BoundedMap<string, number>(MOST_UNKNOWN);
  readonly #making = new Map<string, Promise<ShownPage | null>>();
  readonly #slugs = new BoundedMap<string, string>(MOST_PAGES);
  #domains: Domains = { slugs: new Map(), triedAtMs: Number.NEGATIVE_INFINITY };
  #readingDomains: Promise<ReadonlyMap<string, string>> | null = null;
  #list: { readonly pages: readonly ListedPage[]; readonly triedAtMs: number } | null = null;

  constructor(options: PublicPagesOptions) {
    this.#options = options;
  }

  /** Drafts too: they are for those who make them (entry.ts). @returns null when there is no such page. @throws StoreError when nothing of it is known and the store is away */
  of(slug: string): MaybePromise<ShownPage | null> {
    // Callers choose it: of what no page can be called no store is asked, and nothing is kept.
    if (!isSlug(slug)) return null;
    const nowMs = this.#options.nowMs();
    const kept = this.#kept.use(slug);
    if (kept !== undefined) {
      if (isNew(kept.triedAtMs, nowMs, KEPT_MS)) return kept.shown;
      const making = this.#makeOnce(slug, nowMs);
      if (!isNew(kept.triedAtMs, nowMs, SHOWN_MEANWHILE_MS)) return making;
      making.catch(() => {});
      return kept.shown;
    }
    const unknownAtMs = this.#unknown.get(slug);
    if (unknownAtMs !== undefined && isNew(unknownAtMs, nowMs, KEPT_MS)) return null;
    return this.#makeOnce(slug, nowMs);
  }

  /** By what the addresses of its badges begin with. */
  async ofBadge(badgeName: string): Promise<ShownPage | null> {
    const slug = this.#slugs.get(badgeName);
    const shown = slug === undefined ? null : await this.of(slug);
    if (shown?.page.badgeName === badgeName) return shown.page.published ? shown : null;
    const nowMs = this.#options.nowMs();
    const unknownAtMs = this.#unknown.get(`badge ${badgeName}`);
    if (unknownAtMs !== undefined && isNew(unknownAtMs, nowMs, KEPT_MS)) return null;
    const page = await this.#options.controlPlane.statusPages.byBadge(badgeName);
    if (page === undefined) {
      this.#unknown.set(`badge ${badgeName}`, nowMs);
      return null;
    }
    this.#slugs.set(badgeName, page.slug);
    return this.of(page.slug);
  }

  /** The slug of the page whose domain it is; undefined: of none. While the store is away what was known before. */
  slugAt(domain: string): MaybePromise<string | undefined> {
    const nowMs = this.#options.nowMs();
    const { slugs, triedAtMs } = this.#domains;
    const isRead = Number.isFinite(triedAtMs);
    // One waits for the store. The others do so only where nothing is known, or a change made it untrue.
    if (isNew(triedAtMs, nowMs, KEPT_MS) || (isRead && this.#readingDomains !== null)) return slugs.get(domain);
    return this.#domainsOnce(nowMs).then((read) => read.get(domain));
  }

  /** Public pages that want to be in the list of all. */
  async list(): Promise<readonly ListedPage[]> {
    const nowMs = this.#options.nowMs();
    if (this.#list !== null && isNew(this.#list.triedAtMs, nowMs, KEPT_MS)) return this.#list.pages;
    const all = await this.#options.controlPlane.statusPages.list(null);
    const pages = all
      .filter(({ published, access, settings }) => published && settings.listed && access === "public")
      .map(({ slug, title }) => ({ slug, title }));
    this.#list = { pages, triedAtMs: nowMs };
    return pages;
  }

  /** The next caller gets what is true from now on. */
  drop(...slugs: readonly string[]): void {
    for (const slug of slugs) {
      this.#kept.delete(slug);
      // One that is being made may have read what is no longer true: it is not kept.
      this.#making.delete(slug);
      this.#unknown.delete(slug);
    }
    this.#domains = { slugs: this.#domains.slugs, triedAtMs: Number.NEGATIVE_INFINITY };
    this.#readingDomains = null;
    this.#list = null;
  }

  /** The same for the pages of a project that are kept. */
  dropProject(projectId: number): void {
    for (const [slug, { shown }] of [...this.#kept]) if (shown?.page.projectId === projectId) this.drop(slug);
  }

  #domainsOnce(nowMs: number): Promise<ReadonlyMap<string, string>> {
    if (this.#readingDomains !== null) return this.#readingDomains;
    const reading = this.#readDomains().then((slugs) => {
      // One that a change overtook may not know of it.
      if (this.#readingDomains === reading) {
        this.#domains = { slugs, triedAtMs: nowMs };
        this.#readingDomains = null;
      }
      return slugs;
    });
    this.#readingDomains = reading;
    return reading;
  }

  async #readDomains(): Promise<ReadonlyMap<string, string>> {
    try {
      return await this.#options.controlPlane.statusPages.domains();
    } catch (error) {
      this.#options.log.warn({ reason: String(error) }, "domains of status pages could not be read");
      return this.#domains.slugs;
    }
  }

  /** Those that are shown as long as incidents are, and those at the top. */
  async #updates(pageId: number, sinceMs: number, nowMs: number): Promise<readonly UpdateRecord[]> {
    const { rows } = await this.#options.controlPlane.statusPages.updates(pageId, UPDATES_SHOWN, 0);
    const saidSinceMs = Math.min(sinceMs, nowMs - WEEK_MS);
    return rows.filter(({ atMs, endsAtMs }) => atMs >= saidSinceMs || (endsAtMs ?? 0) > nowMs);
  }

  async #announced(projectId: number, nowMs: number): Promise<readonly AnnouncedMaintenance[]> {
    const schedules = await this.#options.controlPlane.schedules.list(projectId);
    return schedules.flatMap((schedule) => {
      const turn = schedule.announce ? turnOf(schedule, nowMs) : null;
      const { title, text, selector } = schedule;
      return turn === null ? [] : [{ title, text, selector, ...turn }];
    });
  }

  #makeOnce(slug: string, nowMs: number): Promise<ShownPage | null> {
    const running = this.#making.get(slug);
    if (running !== undefined) return running;
    if (this.#making.size >= MOST_MAKING) return Promise.reject(refusal("pagesBusy", { headers: RETRY_SOON }));
    const making: Promise<ShownPage | null> = this.#refresh(
      slug,
      nowMs,
      () => this.#making.get(slug) === making,
    ).finally(() => {
      if (this.#making.get(slug) === making) this.#making.delete(slug);
    });
    this.#making.set(slug, making);
    return making;
  }

  /** @param isWanted whether what is made may be kept */
  async #refresh(slug: string, nowMs: number, isWanted: () => boolean): Promise<ShownPage | null> {
    try {
      const shown = await this.#make(slug, nowMs);
      if (!isWanted()) return shown;
      if (shown === null) {
        this.#kept.delete(slug);
        this.#unknown.set(slug, nowMs);
      } else this.#kept.set(slug, { shown, readAtMs: nowMs, triedAtMs: nowMs });
      return shown;
    } catch (error) {
      const kept = this.#kept.get(slug);
      if (kept === undefined || kept.shown === null) throw error;
      const shown = kept.shown.aged(nowMs - kept.readAtMs);
      this.#kept.set(slug, { shown, readAtMs: kept.readAtMs, triedAtMs: nowMs });
      this.#options.log.warn({ slug, reason: String(error) }, "a status page is shown as it was");
      return shown;
    }
  }

  async #make(slug: string, nowMs: number): Promise<ShownPage | null> {
    const { controlPlane, sealing } = this.#options;
    const { statusPages, incidents } = controlPlane;
    const page = await statusPages.bySlug(slug);
    if (page === undefined) return null;
    const secrets = openedSecrets(sealing, page);
    const pause = (): Promise<void> => turn();
    const everyMember = page.groups.length === 0 ? [] : await statusPages.members(page.projectId, pause);
    const plans = await plannedLines(page.groups, everyMember, wordsIn(page.settings.language), pause);
    const members = [...new Set(plans.flat().flatMap((plan) => plan.members))];
    const { days, show } = page.settings;
    const pastsOf = (some: readonly PageMember[], sinceMs: number) => statusPages.pasts(some, sinceMs, pause);
    const options = { length: days, nowMs, pastsOf, pause };
    const closed = await closedDays(this.#closed.use(slug), plans.flat(), options);
    this.#closed.set(slug, closed);
    const pasts = members.length === 0 ? new Map() : await pastsOf(members, closed.untilMs);
    const monitorIds = members.map(({ id }) => id);
    const sinceMs = nowMs - show.incidentsDays * DAY_MS;
    const wanted = { incidentIds: [], monitorIds, sinceMs, limit: MOST_INCIDENTS };
    const found = members.length === 0 ? [] : await incidents.named(page.projectId, wanted);
    const words = await statusPages.words(found.map(({ id }) => id));
    const nameOf = (what: string): string => publicName(secrets, what);
    const view = await makeView({
      page,
      plans,
      closed: new Map([...closed.lines].map(([what, line]) => [what, line.days])),
      pasts,
      incidents: found,
      words,
      updates: await this.#updates(page.id, sinceMs, nowMs),
      announced: await this.#announced(page.projectId, nowMs),
      nowMs,
      nameOf,
      badgeOf: (what) => page.badgeName + nameOf(what),
      pause,
    });
    this.#slugs.set(page.badgeName, slug);
    return new ShownPage(page, secrets, view, null);
  }
}

/** The turn that is on or comes next; null: none within the time that is shown. A schedule that cannot be read has none. */
function turnOf(schedule: MaintenanceSchedule, nowMs: number): Turn | null {
  try {
    const turns = new Turns(schedule);
    const turn = turns.at(nowMs) ?? turns.after(nowMs);
    if (turn === null || turn.fromMs > nowMs + ANNOUNCED_MS || turn.fromMs >= (schedule.overAtMs ?? Infinity))
      return null;
    return turn.fromMs < (schedule.endedUntilMs ?? 0) ? turns.after(nowMs) : turn;
  } catch (error) {
    if (error instanceof ScheduleError) return null;
    throw error;
  }
}

export interface ListedPage {
  readonly slug: string;
  readonly title: string;
}

/** A clock that was set back makes it old. */
function isNew(atMs: number, nowMs: number, mostMs: number): boolean {
  return nowMs >= atMs && nowMs - atMs < mostMs;
}
