/**
 * Pages of the list of monitors, kept for a second at most and only while nothing that they show has changed: pages and dashboards ask for the same
 * ones all day. A page is made of rows, each kept as text, so a page of which a few monitors were checked meanwhile reads those and words those:
 * of what a row tells, a check moves a few members, and only those are read and put into words again (Rewriter).
 *
 * What is kept is current while the database's stamp is the one under which it was read. It is also current when monitors, rights and plans are
 * the same (the generation) and no later check of its monitors is known: rows of checks are in memory before their statuses are in the database.
 */
import { BoundedMap } from "../../model/bounded-map.ts";
import { IdTable } from "../../model/id-table.ts";
import { Slices } from "../../store/slices.ts";
import type { MonitorFilter, Monitors, MonitorWithLive } from "../../store/sql/monitors/port.ts";
import type { AuthCache } from "../auth-cache.ts";
import { GrowingTag } from "../etag.ts";
import { type ApiResponse, JSON_HEADERS } from "../http.ts";
import type { Rewriter } from "./view.ts";

/** Rows tell days until a certificate ends and the span of maintenance, and states of locations may move without a check: so old at most, ms. */
const KEPT_MS = 1_000;
/** Bounds memory: about 2 KiB each. Beyond it all are forgotten. */
const MOST_ROWS = 10_000;
/** Rows that are read and put into words before others may have their turn. */
const ROWS_AT_ONCE = 100;
/** Others have their turn so often while a page is made, ms: readers of pages that are there wait for it, and its own readers have the page before. */
const SLICE_MS = 2;
/** Of all pages that are kept together. */
const MOST_BYTES = 12 * 1_048_576;
/** Orders of whole lists, by their filters. */
const MOST_ORDERS = 64;
/** A longer list is read page by page: reading its order takes a millisecond for 3,000 monitors, and each change of a monitor makes that due. */
const LONGEST_ORDER = 20_000;
const HEAD = Buffer.from('{"servers":[');
const COMMA = Buffer.from(",");
const [COMMA_BYTE = 0] = COMMA;

export interface ListPagesOptions {
  readonly monitors: Pick<Monitors, "list" | "ids" | "findAll" | "lives">;
  readonly auth: Pick<AuthCache, "stamp" | "generation">;
  /** The number of the monitor's latest row that is known, whether the database has it or not; undefined: not known. */
  readonly newestSeq: (monitorId: number) => number | undefined;
}

export interface WantedPage {
  /** Names it among all pages: project, rights and question. */
  readonly key: string;
  readonly projectId: number;
  readonly filter: MonitorFilter;
  /** All that the words of a row depend on beside the monitor: who may see what, and what else is asked for. */
  readonly shown: string;
  readonly nowMs: number;
}

/** A row in words: JSON. */
export interface WordedRow {
  readonly text: string;
  readonly holdsSecrets: boolean;
  /** Makes the text for a later live state of the same monitor; absent or null: more than that moves. */
  readonly rewrite?: Rewriter | null;
}

export type WordRows = (rows: readonly MonitorWithLive[]) => Promise<readonly WordedRow[]>;

/** What was read, and as of when. */
interface Moment {
  readonly generation: number;
  readonly stamp: number | null;
  readonly atMs: number;
}

/** Changed in its place when it is put into words again: a page has its own copy of what it needs. */
interface KeptRow {
  readonly id: number;
  generation: number;
  stamp: number | null;
  atMs: number;
  /** Of its latest check. */
  seq: number;
  bytes: Buffer;
  holdsSecrets: boolean;
  rewrite: Rewriter | null;
}

interface KeptPage extends Omit<Moment, "stamp"> {
  /** The latest under which it was found to be current. */
  stamp: number | null;
  readonly ids: readonly number[];
  /** Of the latest check of each, as the page shows it. */
  readonly seqs: readonly number[];
  readonly answer: ApiResponse & { readonly body: Buffer };
}

/** Of a whole list. Its ids are read when a second page is asked for under the same generation. */
interface Order {
  readonly generation: number;
  readonly total: number;
  readonly ids: readonly number[] | null;
}

export class ListPages {
  readonly #options: ListPagesOptions;
  /** The oldest first. */
  readonly #pages = new Map<string, KeptPage>();
  #bytes = 0;
  /** By what is shown of them (WantedPage), and by monitor. */
  readonly #rows = new Map<string, IdTable<KeptRow>>();
  #rowCount = 0;
  readonly #orders = new BoundedMap<string, Order>(MOST_ORDERS);

  constructor(options: ListPagesOptions) {
    this.#options = options;
  }

  /** To be asked when the caller's rights were looked at: generation and stamp are those of now. */
  find(key: string, nowMs: number): ApiResponse | undefined {
    const kept = this.#pages.get(key);
    return kept !== undefined && this.#isCurrentPage(kept, nowMs) ? kept.answer : undefined;
  }

  async make(wanted: WantedPage, words: WordRows): Promise<ApiResponse> {
    const { auth } = this.#options;
    const now: Moment = { generation: auth.generation(), stamp: auth.stamp(), atMs: wanted.nowMs };
    const isKept = isFixed(wanted.filter);
    const ids = isKept ? await this.#idsOf(wanted, now.generation) : null;
    const page =
      (ids === null ? null : await this.#fromRows(ids, wanted, now, words)) ?? (await this.#read(wanted, now, words));
    if (isKept) this.#keep(wanted.key, page);
    return page.answer;
  }

  /** @returns null when the whole order is not known, nor worth reading */
  async #idsOf({ projectId, filter }: WantedPage, generation: number): Promise<readonly number[] | null> {
    const key = orderKey(projectId, filter);
    const known = this.#orders.use(key);
    if (known?.generation !== generation || known.total > LONGEST_ORDER) return null;
    if (known.ids !== null) return known.ids;
    const ids = await this.#options.monitors.ids(projectId, filter);
    this.#orders.set(key, { ...known, ids });
    return ids;
  }

  /** The page as a whole. */
  async #read(wanted: WantedPage, now: Moment, words: WordRows): Promise<KeptPage> {
    const { projectId, filter } = wanted;
    const { rows, total } = await this.#options.monitors.list(projectId, filter);
    const key = orderKey(projectId, filter);
    if (this.#orders.get(key)?.generation !== now.generation)
      this.#orders.set(key, { generation: now.generation, total, ids: null });
    const page = new PageInParts(now);
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE)
      await page.add(await this.#worded(rows.slice(from, from + ROWS_AT_ONCE), wanted, now, words));
    return page.end(total);
  }

  /**
   * Of the rows that are kept, and of those that are read because they have changed. Whether one is kept is asked when its part is made: two callers of one
   * page have its parts made by the one or the other.
   * @returns null when one is gone
   */
  async #fromRows(ids: readonly number[], wanted: WantedPage, now: Moment, words: WordRows): Promise<KeptPage | null> {
    const { offset, limit } = wanted.filter;
    const onPage = ids.slice(offset, offset + limit);
    const page = new PageInParts(now);
    for (let from = 0; from < onPage.length; from += ROWS_AT_ONCE) {
      const some = onPage.slice(from, from + ROWS_AT_ONCE);
      const rows = await this.#present(some, wanted, now, words);
      if (rows.length < some.length) return null;
      await page.add(rows);
    }
    return page.end(ids.length);
  }

  /** @returns those of these monitors that there are, in their order */
  async #present(
    ids: readonly number[],
    wanted: WantedPage,
    now: Moment,
    words: WordRows,
  ): Promise<readonly KeptRow[]> {
    const table = this.#rows.get(wanted.shown);
    const rows = new Map<number, KeptRow>();
    const before = new Map<number, KeptRow & { readonly rewrite: Rewriter }>();
    for (const id of ids) {
      const row = table?.get(id);
      if (row === undefined || row.generation !== now.generation) continue;
      if (this.#isCurrentRow(row, now)) rows.set(id, row);
      else if (hasRewriter(row)) before.set(id, row);
    }
    for (const row of await this.#moved(before, wanted, now)) rows.set(row.id, row);
    const changed = ids.filter((id) => !rows.has(id));
    const found = changed.length === 0 ? [] : await this.#options.monitors.findAll(wanted.projectId, changed);
    for (const row of await this.#worded(found, wanted, now, words)) rows.set(row.id, row);
    return ids.flatMap((id) => rows.get(id) ?? []);
  }

  /** Those that only a check has changed since they were put into words. */
  async #moved(
    before: ReadonlyMap<number, KeptRow & { readonly rewrite: Rewriter }>,
    { projectId, nowMs }: WantedPage,
    now: Moment,
  ): Promise<readonly KeptRow[]> {
    if (before.size === 0) return [];
    const lives = await this.#options.monitors.lives(projectId, [...before.keys()]);
    return lives.flatMap((live) => {
      const row = before.get(live.monitorId);
      if (row === undefined || row.generation !== now.generation) return [];
      // Another caller has read it later meanwhile.
      if (row.seq > live.seq) return [row];
      row.bytes = row.rewrite(live, nowMs, row.bytes);
      row.seq = live.seq;
      row.stamp = now.stamp;
      row.atMs = now.atMs;
      return [row];
    });
  }

  async #worded(
    rows: readonly MonitorWithLive[],
    wanted: WantedPage,
    now: Moment,
    words: WordRows,
  ): Promise<readonly KeptRow[]> {
    if (rows.length === 0) return [];
    const worded = await words(rows);
    return rows.map(({ monitor: { id }, live: { seq } }, at) => {
      const { text = "", holdsSecrets = true, rewrite = null } = worded[at] ?? {};
      return this.#keepRow(wanted.shown, { ...now, id, seq, bytes: Buffer.from(text), holdsSecrets, rewrite });
    });
  }

  #keepRow(shown: string, row: KeptRow): KeptRow {
    if (this.#rowCount >= MOST_ROWS) {
      this.#rows.clear();
      this.#rowCount = 0;
    }
    const table = this.#rows.get(shown) ?? new IdTable<KeptRow>();
    this.#rows.set(shown, table);
    const sizeBefore = table.size;
    table.set(row.id, row);
    this.#rowCount += table.size - sizeBefore;
    return row;
  }

  #isCurrentPage(page: KeptPage, nowMs: number): boolean {
    const { generation, stamp } = this.#moment();
    if (page.generation !== generation || !isYoung(page, nowMs)) return false;
    if (stamp !== null && page.stamp === stamp) return true;
    if (!page.ids.every((id, at) => this.#options.newestSeq(id) === page.seqs[at])) return false;
    page.stamp = stamp;
    return true;
  }

  #isCurrentRow(row: KeptRow, now: Moment): boolean {
    if (!isYoung(row, now.atMs)) return false;
    return (now.stamp !== null && row.stamp === now.stamp) || this.#options.newestSeq(row.id) === row.seq;
  }

  #moment(): Pick<Moment, "generation" | "stamp"> {
    const { auth } = this.#options;
    return { generation: auth.generation(), stamp: auth.stamp() };
  }

  #keep(key: string, page: KeptPage): void {
    const bytes = page.answer.body.length + key.length;
    this.#drop(key);
    if (bytes > MOST_BYTES) return;
    this.#pages.set(key, page);
    this.#bytes += bytes;
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= MOST_BYTES) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const page = this.#pages.get(key);
    if (page === undefined) return;
    this.#pages.delete(key);
    this.#bytes -= page.answer.body.length + key.length;
  }
}

/** Whether order and number are the same until the generation changes. */
function isFixed({ sort = "name", order = "asc", status, select }: MonitorFilter): boolean {
  const asksForLive = select?.status !== undefined || (status !== null && status !== "paused");
  return sort === "name" && order === "asc" && !asksForLive;
}

function isYoung({ atMs }: Moment, nowMs: number): boolean {
  return nowMs >= atMs && nowMs - atMs < KEPT_MS;
}

/** A page that is made part by part; between two parts others have their turn. */
class PageInParts {
  readonly #slices = new Slices(SLICE_MS);
  readonly #tag = new GrowingTag();
  readonly #now: Moment;
  readonly #ids: number[] = [];
  readonly #seqs: number[] = [];
  readonly #parts: Buffer[] = [];
  #atMs: number;
  #holdsSecrets = false;

  constructor(now: Moment) {
    this.#now = now;
    this.#atMs = now.atMs;
    this.#push(HEAD);
  }

  /** Takes what it shows of them now: they may be changed afterwards. */
  async add(rows: readonly KeptRow[]): Promise<void> {
    for (const { id, seq, atMs, holdsSecrets } of rows) {
      this.#ids.push(id);
      this.#seqs.push(seq);
      // Its oldest row tells how old it is.
      this.#atMs = Math.min(this.#atMs, atMs);
      this.#holdsSecrets ||= holdsSecrets;
    }
    if (rows.length === 0) return;
    if (this.#parts.length > 1) this.#push(COMMA);
    this.#push(bytesOf(rows));
    await this.#slices.rest();
  }

  #push(part: Buffer): void {
    this.#parts.push(part);
    this.#tag.add(part);
  }

  end(total: number): KeptPage {
    this.#push(Buffer.from(`],"total":${total}}`));
    const body = Buffer.concat(this.#parts);
    const plain = { status: 200, headers: JSON_HEADERS, body, tag: this.#tag.end() };
    const answer = this.#holdsSecrets ? { ...plain, holdsSecrets: true as const } : plain;
    return { ...this.#now, atMs: this.#atMs, ids: this.#ids, seqs: this.#seqs, answer };
  }
}

function bytesOf(rows: readonly KeptRow[]): Buffer {
  let length = rows.length - 1;
  for (const { bytes } of rows) length += bytes.length;
  const part = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { bytes } of rows) {
    if (at > 0) at = part.writeUInt8(COMMA_BYTE, at);
    part.set(bytes, at);
    at += bytes.length;
  }
  return part;
}

function hasRewriter(row: KeptRow): row is KeptRow & { readonly rewrite: Rewriter } {
  return row.rewrite !== null;
}

function orderKey(projectId: number, filter: MonitorFilter): string {
  return `${projectId} ${JSON.stringify({ ...filter, limit: 0, offset: 0 })}`;
}
