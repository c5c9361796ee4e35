/**
 * Rows of the newest checks wait for an insert, longer where few of them come (pump.ts). A read of the result store asks for that insert first, so
 * that it finds them. Only within one process: its scheduler's thread and its API's have the same notices.
 */
import { type Pump, WANTED_FOR_MS } from "./pump.ts";
import type { ResultStore } from "./result-store.ts";

type Topic = "rows-wanted" | "rows-inserted";
/** Of the Notices of store/state/state.ts. */
interface Notices {
  publish(topic: Topic): void;
  subscribe(topic: Topic, listener: () => void): () => void;
}

/** A read goes on without the newest rows after so long, ms. An insert takes 20. */
const LONGEST_WAIT_MS = 500;
/** How often it is said again that rows are read, ms: well within what the pump remembers. */
const SAY_AGAIN_MS = WANTED_FOR_MS / 6;

/** Of the thread that reads. */
export class WantedRows {
  readonly #notices: Notices;
  readonly #nowMs: () => number;
  #saidAtMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;

  /** @param nowMs monotonic, ms */
  constructor(notices: Notices, nowMs: () => number) {
    this.#notices = notices;
    this.#nowMs = nowMs;
  }

  /** Resolves when no row waits longer than usual, or after LONGEST_WAIT_MS. */
  async ask(): Promise<void> {
    const sinceMs = this.#nowMs() - this.#saidAtMs;
    if (sinceMs < SAY_AGAIN_MS) return this.#asking;
    this.#saidAtMs = this.#nowMs();
    if (sinceMs < WANTED_FOR_MS - SAY_AGAIN_MS) {
      this.#notices.publish("rows-wanted");
      return;
    }
    this.#asking = this.#inserted().finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
  }

  #inserted(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const timer = setTimeout(done, LONGEST_WAIT_MS);
      const stop = this.#notices.subscribe("rows-inserted", done);
      this.#notices.publish("rows-wanted");
    });
  }
}

/** The same store, whose reads ask first. */
export function askingFirst(store: ResultStore, wanted: Pick<WantedRows, "ask">): ResultStore {
  const asked = async <T>(read: () => Promise<T>): Promise<T> => {
    await wanted.ask();
    return read();
  };
  return {
    insert: (rows) => store.insert(rows),
    ofMonitor: (query) => asked(() => store.ofMonitor(query)),
    ofProject: (query) => asked(() => store.ofProject(query)),
    newestOf: (projectId, monitorIds, nowMs) => asked(() => store.newestOf(projectId, monitorIds, nowMs)),
    countsOf: (query) => asked(() => store.countsOf(query)),
    latencyOf: (query) => asked(() => store.latencyOf(query)),
    ping: () => store.ping(),
    thin: () => store.thin(),
    close: () => store.close(),
  };
}

/** Of the thread that inserts. @returns what ends it */
export function insertWhenWanted(notices: Notices, pump: Pick<Pump, "want">): () => void {
  return notices.subscribe("rows-wanted", () => void pump.want().then(() => notices.publish("rows-inserted")));
}
