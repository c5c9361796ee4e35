/**
 * Pages of the list of monitors, kept for a second at most and only while nothing that they show has changed: pages and dashboards ask for the same
 * ones all day. A page is made of rows, each kept as text, so a page of which a few monitors were checked meanwhile reads those and words those:
 * of what a row tells, a check moves a few members, and only those are read and put into words again (Rewriter).
 *
 * What is kept is current while the database's stamp is the one under which it was read. It is also current when monitors, rights and plans are
 * the same (the generation) and no later check of its monitors is known: rows of checks are in memory before their statuses are in the database.
 */
import { BoundedMap } from "../../model/bounded-map.ts";
import type { MonitorFilter, Monitors, MonitorWithLive } from "../../store/sql/monitors/port.ts";
import type { AuthCache } from "../auth-cache.ts";
import { tagOf } from "../etag.ts";
import { type ApiResponse, JSON_HEADERS } from "../http.ts";
import type { Rewriter } from "./view.ts";

/** Rows tell days until a certificate ends and the span of maintenance, and states of locations may move without a check: so old at most, ms. */
const KEPT_MS = 1_000;
/** Bounds memory: about 2 KiB each. */
const MOST_ROWS = 10_000;
/** Of all pages that are kept together. */
const MOST_BYTES = 12 * 1_048_576;
/** Orders of whole lists, by their filters. */
const MOST_ORDERS = 64;
/** A longer list is read page by page: reading its order takes a millisecond for 3,000 monitors, and each change of a monitor makes that due. */
const LONGEST_ORDER = 20_000;
const COMMA = 0x2c;

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

interface KeptRow extends WordedRow, Moment {
  readonly id: number;
  /** Of its latest check. */
  readonly seq: number;
}

interface KeptPage extends Omit<Moment, "stamp"> {
  /** The latest under which it was found to be current. */
  stamp: number | null;
  readonly rows: readonly KeptRow[];
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
  readonly #rows = new BoundedMap<string, KeptRow>(MOST_ROWS);
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
    return pageOf(await this.#worded(rows, wanted, now, words), total, now);
  }

  /** Of the rows that are kept, and of those that are read because they have changed. @returns null when one is gone */
  async #fromRows(ids: readonly number[], wanted: WantedPage, now: Moment, words: WordRows): Promise<KeptPage | null> {
    const { projectId, filter } = wanted;
    const onPage = ids.slice(filter.offset, filter.offset + filter.limit);
    const rows = new Map<number, KeptRow>();
    for (const id of onPage) {
      const row = this.#rows.get(rowKey(id, wanted));
      if (row !== undefined && this.#isCurrentRow(row, now)) rows.set(id, row);
    }
    for (const row of await this.#moved(onPage, rows, wanted, now)) rows.set(row.id, row);
    const changed = onPage.filter((id) => !rows.has(id));
    const found = changed.length === 0 ? [] : await this.#options.monitors.findAll(projectId, changed);
    for (const row of await this.#worded(found, wanted, now, words)) rows.set(row.id, row);
    const inOrder = onPage.flatMap((id) => rows.get(id) ?? []);
    return inOrder.length === onPage.length ? pageOf(inOrder, ids.length, now) : null;
  }

  /** Those that only a check has changed since they were put into words. @param but rows that are current */
  async #moved(
    ids: readonly number[],
    but: ReadonlyMap<number, KeptRow>,
    wanted: WantedPage,
    now: Moment,
  ): Promise<readonly KeptRow[]> {
    const before = new Map<number, KeptRow>();
    for (const id of ids) {
      const row = but.has(id) ? undefined : this.#rows.get(rowKey(id, wanted));
      if (row?.generation === now.generation && row.rewrite) before.set(id, row);
    }
    if (before.size === 0) return [];
    const lives = await this.#options.monitors.lives(wanted.projectId, [...before.keys()]);
    return lives.flatMap((live) => {
      const row = before.get(live.monitorId);
      if (!row?.rewrite) return [];
      const moved = { ...row, ...now, seq: live.seq, text: row.rewrite(live, wanted.nowMs) };
      this.#rows.set(rowKey(row.id, wanted), moved);
      return [moved];
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
      const row = { ...now, id, seq, text, holdsSecrets, rewrite };
      this.#rows.set(rowKey(id, wanted), row);
      return row;
    });
  }

  #isCurrentPage(page: KeptPage, nowMs: number): boolean {
    const { generation, stamp } = this.#moment();
    if (page.generation !== generation || !isYoung(page, nowMs)) return false;
    if (stamp !== null && page.stamp === stamp) return true;
    if (!page.rows.every((row) => this.#options.newestSeq(row.id) === row.seq)) return false;
    page.stamp = stamp;
    return true;
  }

  #isCurrentRow(row: KeptRow, now: Moment): boolean {
    if (row.generation !== now.generation || !isYoung(row, now.atMs)) return false;
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

function pageOf(rows: readonly KeptRow[], total: number, now: Moment): KeptPage {
  const body = bodyOf(rows, total);
  const holdsSecrets = rows.some((row) => row.holdsSecrets);
  const plain = { status: 200, headers: JSON_HEADERS, body, tag: tagOf(body) };
  // Its oldest row tells how old it is.
  const atMs = Math.min(now.atMs, ...rows.map((row) => row.atMs));
  return { ...now, atMs, rows, answer: holdsSecrets ? { ...plain, holdsSecrets } : plain };
}

/** Row by row into its place: one text of all rows, made into bytes then, takes more than twice as long. */
function bodyOf(rows: readonly KeptRow[], total: number): Buffer {
  const head = '{"servers":[';
  const tail = `],"total":${total}}`;
  let bytes = head.length + tail.length + Math.max(0, rows.length - 1);
  for (const { text } of rows) bytes += Buffer.byteLength(text);
  const body = Buffer.allocUnsafe(bytes);
  let length = body.write(head);
  for (const [at, { text }] of rows.entries()) {
    if (at > 0) body[length++] = COMMA;
    length += body.write(text, length);
  }
  body.write(tail, length);
  return body;
}

function orderKey(projectId: number, filter: MonitorFilter): string {
  return `${projectId} ${JSON.stringify({ ...filter, limit: 0, offset: 0 })}`;
}

function rowKey(id: number, { shown }: WantedPage): string {
  return `${id} ${shown}`;
}
