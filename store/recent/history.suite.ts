/** Random histories: rows are judged, published, lost and stored, processes restart, and at any moment lists are asked for. */
import fc from "fast-check";
import { expect } from "vitest";
import { PERIOD_MS, PERIODS, type Period } from "../../model/result.ts";
import { ROW_STATUSES, type RowStatus } from "../../model/status.ts";
import type { ResultStore } from "../results/result-store.ts";
import { batchText, parseBatch } from "./batch.ts";
import { type JudgedRow, newestFirst, PlainResults } from "./plain-results.suite.ts";
import { type KnownMonitor, RecentResults } from "./recent-results.ts";
import { RecentRows } from "./recent-rows.ts";

/** Rows that may wait for the store at one time: those of some seconds. */
const MOST_WAITING = 50;
/** Two monitors of one project, one of another; each checked about as often as its number of seconds. */
const EVERY_MS = [1_000, 60_000, 900_000] as const;
const PROJECTS = [1, 1, 2] as const;
const MESSAGES = ["no answer", "refused ü", null] as const;

const monitor = fc.nat(EVERY_MS.length - 1);
const word = fc.constantFrom<RowStatus | null>(null, "healthy", "down", "degraded");
const period = fc.constantFrom<Period>(...PERIODS);
export const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("judge" as const),
      monitor,
      rows: fc.integer({ min: 1, max: 140 }),
      status: fc.array(fc.constantFrom(...ROW_STATUSES), { minLength: 1, maxLength: 9 }),
      // Later ones may have begun earlier.
      slow: fc.array(fc.nat(9_000), { minLength: 1, maxLength: 5 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("store" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lose" as const), monitor, isNoticed: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(3 * 3_600_000) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("monitor" as const),
      monitor,
      period,
      status: word,
      limit: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 1_000 })),
      offset: fc.oneof(fc.constant(0), fc.nat(120)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("project" as const),
      period,
      onlyDown: fc.boolean(),
      limit: fc.integer({ min: 1, max: 1_000 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("beats" as const), limit: fc.integer({ min: 1, max: 90 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

export interface HistoryStore {
  readonly store: ResultStore;
  /** Now has these, in the order in which they were judged, and no others. */
  put(rows: readonly JudgedRow[]): Promise<void>;
}

export class History {
  readonly #under: HistoryStore;
  readonly #truth = new PlainResults();
  readonly #firstMonitor: number;
  readonly #maxBytes: number;
  #nowMs: number;
  #recent: RecentResults;
  #rows: JudgedRow[] = [];
  #number = 0;
  /** Neither stored nor in memory: on their way, and nothing but the live state tells of them. */
  #isLate = false;
  #storedRows = 0;
  readonly #isTight: boolean;
  /** How often memory alone has answered. */
  fromMemory = 0;

  /** @param maxBytes of memory: little makes monitors give way to each other */
  constructor(
    under: HistoryStore,
    { startMs, firstMonitor, maxBytes }: { startMs: number; firstMonitor: number; maxBytes: number },
  ) {
    this.#under = under;
    this.#nowMs = startMs;
    this.#firstMonitor = firstMonitor;
    this.#maxBytes = maxBytes;
    this.#isTight = new RecentRows({ maxBytes, nowMs: () => 0 }).mostMonitors < EVERY_MS.length;
    this.#recent = this.#open();
  }

  #open(): RecentResults {
    return new RecentResults(this.#under.store, new RecentRows({ maxBytes: this.#maxBytes, nowMs: () => this.#nowMs }));
  }

  async run(one: Step): Promise<void> {
    switch (one.do) {
      case "judge":
        for (let row = 0; row < one.rows; row++) {
          this.#nowMs += EVERY_MS[one.monitor] ?? 0;
          const status = one.status[row % one.status.length] ?? "healthy";
          this.#publish(this.#judge(one.monitor, status, one.slow[row % one.slow.length] ?? 0));
          if (this.#rows.length - this.#storedRows >= MOST_WAITING) await this.#store();
        }
        return;
      case "lose":
        this.#nowMs += 1_000;
        this.#judge(one.monitor, "down", 0);
        this.#number += 1;
        this.#isLate = true;
        if (one.isNoticed) this.#recent.rows.missed();
        // Otherwise the next batch tells; it is a second away at most.
        else this.#publish(this.#judge(one.monitor, "healthy", 0));
        return;
      case "store":
        return this.#store();
      case "restart":
        this.#recent = this.#open();
        this.#isLate = true;
        this.#number = 0;
        return;
      case "wait":
        this.#nowMs += one.ms;
        return;
      default:
        // One that makes room takes with it what the store does not have yet; of seven days the store tells what is kept.
        if (this.#isLate || this.#isTight || one.do === "beats" || one.period === "7d") await this.#store();
        // An answer is given again for a second.
        this.#nowMs += 1_001;
        return this.#ask(one);
    }
  }

  #judge(monitor: number, status: RowStatus, slowMs: number): JudgedRow {
    const monitorId = this.#firstMonitor + monitor;
    const before = this.#rows.findLast(({ row }) => row.monitorId === monitorId);
    const judged: JudgedRow = {
      row: {
        id: String(BigInt(this.#nowMs) * 1_000_000n + BigInt(this.#rows.length % 1_000_000)),
        monitorId,
        kind: monitor === 2 ? "wireguard" : "http",
        status,
        latencyMs: status === "healthy" ? (this.#rows.length % 97) + 0.5 : null,
        connectMs: monitor === 2 && status === "healthy" ? 0.1 : null,
        testedAtMs: this.#nowMs - slowMs,
        errorMessage: status === "healthy" ? null : (MESSAGES[this.#rows.length % MESSAGES.length] ?? null),
        details: null,
      },
      projectId: this.#firstMonitor + (PROJECTS[monitor] ?? 0),
      seq: (before?.seq ?? 0) + 1,
      changed: before?.row.status === status ? 0 : 1,
      durationMs: slowMs,
    };
    this.#rows.push(judged);
    this.#truth.rows = this.#rows;
    return judged;
  }

  #publish({ row, projectId, seq }: JudgedRow): void {
    const { details: _, ...shown } = row;
    const rows = [{ ...shown, projectId, seq, liveStatus: "healthy" as const }];
    const batch = parseBatch(batchText({ publisher: "spool", number: ++this.#number, rows, refused: [] }));
    if (batch === undefined) throw new Error("a batch of ours cannot be read");
    this.#recent.rows.take(batch);
  }

  async #store(): Promise<void> {
    if (this.#storedRows < this.#rows.length) await this.#under.put([...this.#rows]);
    this.#storedRows = this.#rows.length;
    this.#isLate = false;
  }

  #known(monitor: number): KnownMonitor {
    const id = this.#firstMonitor + monitor;
    const latest = this.#rows.findLast(({ row }) => row.monitorId === id);
    const projectId = this.#firstMonitor + (PROJECTS[monitor] ?? 0);
    return { id, projectId, seq: latest?.seq ?? 0, latest: latest?.row };
  }

  async #ask(one: Exclude<Step, { do: "judge" | "lose" | "store" | "restart" | "wait" }>): Promise<void> {
    const nowMs = this.#nowMs;
    if (one.do === "monitor") {
      const { do: _, monitor, ...page } = one;
      const known = this.#known(monitor);
      const asked = this.#recent.ofMonitor({ ...page, monitor: known, nowMs, details: false });
      if (!(asked instanceof Promise)) this.fromMemory += 1;
      const wanted = { ...page, projectId: known.projectId, monitorId: known.id, nowMs, details: false };
      // Of later pages only the store can tell, and it has what was judged some seconds ago.
      if (page.offset > 0 && asked instanceof Promise) {
        await asked;
        await this.#store();
        this.#nowMs += 1_001;
        const again = await this.#recent.ofMonitor({ ...page, monitor: known, nowMs: this.#nowMs, details: false });
        expect(again).toEqual(await this.#truth.ofMonitor({ ...wanted, nowMs: this.#nowMs }));
      } else expect(await asked).toEqual(await this.#truth.ofMonitor(wanted));
    } else if (one.do === "project") {
      const { do: _, ...page } = one;
      const projectId = this.#firstMonitor + 1;
      const asked = this.#recent.ofProject({
        ...{ ...page, projectId, nowMs, details: false },
        isShown: () => true,
        more: async () => ({ deleted: [], latest: [0, 1].flatMap((each) => this.#known(each).latest ?? []) }),
      });
      if (!(asked instanceof Promise)) this.fromMemory += 1;
      const wanted = { ...page, projectId, nowMs, details: false, withoutMonitorIds: [] };
      expect(await asked).toEqual(await this.#truth.ofProject(wanted));
    } else {
      const known = EVERY_MS.map((_, each) => this.#known(each));
      const beats = await this.#recent.beats(known, one.limit, nowMs);
      for (const { id } of known) {
        const newest = this.#rows
          .filter(({ row }) => row.monitorId === id && row.testedAtMs >= nowMs - 8 * PERIOD_MS["24h"])
          .map(({ row }) => row)
          .sort(newestFirst)
          .slice(0, one.limit)
          .reverse();
        expect(beats.get(id)?.testedAtMs).toEqual(newest.map(({ testedAtMs }) => testedAtMs));
        expect(beats.get(id)?.statuses).toEqual(newest.map(({ status }) => status));
        expect(beats.get(id)?.latencyMs).toEqual(newest.map(({ latencyMs }) => latencyMs));
      }
    }
  }
}
