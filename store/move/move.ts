/**
 * Carries everything from one kind of stores to the other, in pieces that are each there or not, so that a move that died goes on where it was.
 * The source is only read. Nothing can be started on the target before both sides were found alike.
 */
import { randomUUID } from "node:crypto";
import { StoreError } from "../errors.ts";
import { COPIED_RESULTS, type CopiedResults } from "../results/copied-tables.ts";
import type { ResultsCopy, ResultsSum } from "../results/results-copy.ts";
import { COPIED_TABLES, type CopiedTable } from "../sql/copy/copied-tables.ts";
import {
  type CopiedRow,
  countOf,
  type Digest,
  digestOf,
  emptyTable,
  highestId,
  keyOf,
  readRows,
  setHighestId,
  writeRows,
} from "../sql/copy/rows.ts";
import { identityOf, type MissedTurns, missedTurns, setSkippedTurns, skippedTurns } from "../sql/copy/turns.ts";
import { type Database, statement } from "../sql/db/database.ts";
import { readCounters, writeCounters } from "../state/counters-copy.ts";
import type { StateLocation } from "../state/open.ts";
import { type Mark, readMark, removeMark, writeMark } from "./mark.ts";

/** What a move asks of a result store. */
export type MovedResults = Pick<
  ResultsCopy,
  "prepare" | "stopFeeding" | "feedAgain" | "empty" | "isEmpty" | "read" | "write" | "sum"
>;

/** The stores of one side. */
export interface MoveSide {
  readonly database: Database;
  readonly results: MovedResults;
  readonly state: StateLocation;
  /** For people. */
  readonly name: string;
}

export interface MoveOptions {
  readonly from: MoveSide;
  readonly to: MoveSide;
  /** What an unfinished move has put into the target goes. */
  readonly isAnew: boolean;
  readonly nowMs: () => number;
  readonly progress: (words: string, share?: number) => void;
}

export interface Moved {
  readonly tables: Readonly<Record<string, Digest>>;
  readonly results: Readonly<Record<string, ResultsSum>>;
  /** Workspaces whose counters were carried. */
  readonly counters: number;
  readonly missed: MissedTurns;
  /** It went on where another one had died. */
  readonly isResumed: boolean;
}

/** @throws StoreError, one line that says what to do; the target cannot be started on then */
export async function move(options: MoveOptions): Promise<Moved> {
  const work = new Move(options);
  const isResumed = await work.begin();
  for (const table of COPIED_TABLES) await work.carryRows(table);
  await work.carryAllResults();
  const counters = await work.carryCounters();
  const sums = await work.compare();
  const missed = await work.end();
  return { ...sums, counters, missed, isResumed };
}

/** Of the list of what is done: the target holds nothing that was there before. */
const EMPTIED = "emptied";

class Move {
  readonly #from: MoveSide;
  readonly #to: MoveSide;
  readonly #options: MoveOptions;
  #mark: Mark = { id: "", identity: "", begunAtMs: 0, done: [], table: null, after: null };

  constructor(options: MoveOptions) {
    this.#options = options;
    this.#from = options.from;
    this.#to = options.to;
  }

  /** @returns whether it goes on where another one has died */
  async begin(): Promise<boolean> {
    const { isAnew, nowMs } = this.#options;
    if ((await readMark(this.#from.database)) !== null)
      throw new StoreError(`a move into ${this.#from.name} was not finished: it is no source yet`);
    const identity = await identityOf(this.#from.database);
    await this.#to.results.prepare();
    const found = await readMark(this.#to.database);
    if (found === null) await this.#refuseUsed();
    else if (!isAnew && found.identity !== identity) {
      throw new StoreError(
        `${this.#from.name} changed since the move into ${this.#to.name} began: begin it anew with --anew`,
      );
    }
    const isResumed = found !== null && !isAnew;
    if (isResumed) this.#mark = found;
    else {
      await this.#keepMark({ id: randomUUID(), identity, begunAtMs: nowMs(), done: [], table: null, after: null });
    }
    if (!this.#mark.done.includes(EMPTIED)) await this.#empty();
    await this.#to.results.stopFeeding();
    return isResumed;
  }

  async #refuseUsed(): Promise<void> {
    const users = COPIED_TABLES.find(({ name }) => name === "users");
    if (users !== undefined && (await countOf(this.#to.database, users)) > 0)
      throw new StoreError(
        `${this.#to.name} is in use: a move needs an empty database, on which no service was started`,
      );
    for (const table of COPIED_RESULTS) {
      if (!(await this.#to.results.isEmpty(table)))
        throw new StoreError(
          `the result store of ${this.#to.name} holds rows (${table.name}): a move needs an empty one`,
        );
    }
  }

  /** What the migrations put there, or a move that is begun anew. */
  async #empty(): Promise<void> {
    for (const table of COPIED_RESULTS) await this.#to.results.empty(table);
    const next = this.#doneWith(EMPTIED);
    await this.#to.database.write(async (session) => {
      for (const table of [...COPIED_TABLES].reverse()) await emptyTable(session, table);
      await writeMark(session, next);
    });
    this.#mark = next;
  }

  async carryRows(table: CopiedTable): Promise<void> {
    if (this.#mark.done.includes(table.name)) return;
    const { progress } = this.#options;
    const all = await countOf(this.#from.database, table);
    const highest = await highestId(this.#from.database, table);
    let after = this.#mark.table === table.name ? this.#mark.after : null;
    let count = 0;
    for (;;) {
      const rows = await readRows(this.#from.database.read, table, after);
      const last = rows.at(-1);
      count += rows.length;
      const isLast = last === undefined || rows.length < table.rows;
      after = last === undefined ? after : keyOf(table, last);
      await this.#keepRows(table, rows, isLast ? highest : null, isLast ? null : after);
      progress(`carrying ${table.name}`, all === 0 ? 1 : Math.min(1, count / all));
      if (isLast) return;
    }
  }

  /** @param after null: these are the last */
  async #keepRows(table: CopiedTable, rows: readonly CopiedRow[], highest: number | null, after: CopiedRow | null) {
    const next = after === null ? this.#doneWith(table.name) : { ...this.#mark, table: table.name, after };
    await this.#to.database.write(async (session) => {
      if (rows.length > 0) await writeRows(session, table, rows);
      if (highest !== null) await setHighestId(session, table, highest);
      await writeMark(session, next);
    });
    this.#mark = next;
  }

  #doneWith(name: string): Mark {
    return { ...this.#mark, done: [...this.#mark.done, name], table: null, after: null };
  }

  async carryAllResults(): Promise<void> {
    for (const table of COPIED_RESULTS) await this.#carryResults(table);
    await this.#to.results.feedAgain();
  }

  async #carryResults(table: CopiedResults): Promise<void> {
    const name = `results: ${table.name}`;
    if (this.#mark.done.includes(name)) return;
    const { begunAtMs, id } = this.#mark;
    const all = await this.#from.results.sum(table, begunAtMs);
    let after = this.#mark.table === name ? (this.#mark.after as readonly string[] | null) : null;
    let count = 0;
    for (;;) {
      const lines = await this.#from.results.read(table, after, begunAtMs);
      if (lines.last === null) break;
      // The same lines again after a death have the same token.
      await this.#to.results.write(table, lines, `${id} ${table.name} ${after?.join(" ") ?? ""}`);
      after = lines.last;
      count += lines.rows;
      await this.#keepMark({ ...this.#mark, table: name, after });
      this.#options.progress(`carrying ${name}`, all.rows === 0 ? 1 : Math.min(1, count / all.rows));
    }
    await this.#keepMark(this.#doneWith(name));
  }

  async #keepMark(mark: Mark): Promise<void> {
    await this.#to.database.write((session) => writeMark(session, mark));
    this.#mark = mark;
  }

  async carryCounters(): Promise<number> {
    this.#options.progress("carrying counters");
    const workspaces = statement("ids_of_workspaces", "select id from workspaces order by id");
    const ids = (await this.#from.database.read.query<{ readonly id: number }>(workspaces)).map(({ id }) => id);
    const nowMs = this.#options.nowMs();
    const counters = await readCounters(this.#from.state, ids, nowMs);
    await writeCounters(this.#to.state, counters, nowMs);
    const written = await readCounters(this.#to.state, ids, nowMs);
    if (JSON.stringify(written) !== JSON.stringify(counters)) throw this.#unlike("counters");
    return counters.filter(({ requests, endpoints }) => requests.month > 0 || endpoints.length > 0).length;
  }

  /** @throws StoreError when the sides differ */
  async compare(): Promise<Pick<Moved, "tables" | "results">> {
    const { progress, nowMs } = this.#options;
    const tables: Record<string, Digest> = {};
    for (const table of COPIED_TABLES) {
      const tell = (): void => progress(`comparing ${table.name}`);
      const [source, target] = [
        await digestOf(this.#from.database, table, tell),
        await digestOf(this.#to.database, table, tell),
      ];
      // Read by a key that is not unique, both sides would lack the same rows.
      const isWhole = source.rows === (await countOf(this.#from.database, table));
      if (!isWhole || source.rows !== target.rows || source.sha256 !== target.sha256) throw this.#unlike(table.name);
      tables[table.name] = target;
    }
    const results: Record<string, ResultsSum> = {};
    // What has expired meanwhile may have gone from one side.
    const keptAtMs = nowMs();
    for (const table of COPIED_RESULTS) {
      progress(`comparing results: ${table.name}`);
      const [source, target] = [
        await this.#from.results.sum(table, keptAtMs),
        await this.#to.results.sum(table, keptAtMs),
      ];
      if (source.rows !== target.rows || source.sum !== target.sum) throw this.#unlike(`results: ${table.name}`);
      results[table.name] = target;
    }
    return { tables, results };
  }

  #unlike(what: string): StoreError {
    return new StoreError(
      `${what} of ${this.#from.name} and ${this.#to.name} differ: make sure that nothing runs on either, and begin anew with --anew`,
    );
  }

  /** From now on a service may start on the target. */
  async end(): Promise<MissedTurns> {
    const skipped = await skippedTurns(this.#from.database);
    await this.#to.database.write(async (session) => {
      await setSkippedTurns(session, skipped);
      await removeMark(session);
    });
    return missedTurns(this.#to.database, this.#options.nowMs());
  }
}
