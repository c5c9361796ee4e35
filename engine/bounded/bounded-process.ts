/**
 * Work on foreign material whose cost is not known before: done in one process of its own, one piece after the other, because a computation of
 * OpenSSL, or of an expression that a user wrote, can only be ended with the process that it is in. The process is started by the first piece, lives
 * on for the others, is killed when one takes too long, and dies with us. Lives in the main thread, because a child with a parent-death signal dies
 * with the thread that started it; probers ask over ports (bounded-port.ts).
 */

import type { ChildProcess, SerializationType } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Log } from "../../model/log.ts";
import { cpuMsOf } from "../../model/proc-stat.ts";
import { UsedTime } from "../../model/used-time.ts";
import { boundsHere, isRefusedBound, spawnBound } from "../cores/core-process.ts";
import { MessageBatcher } from "../cores/message-batcher.ts";
import type { FromBounded, ToBounded } from "./bounded-port.ts";

/** Of a process that does such work (bounded-child.ts). */
export interface ToChild<Word> {
  readonly id: number;
  readonly word: Word;
}
export type FromChild<Answer> =
  | { readonly type: "ready" }
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer };

/** For the metrics and for tests. */
export interface BoundedStats {
  readonly started: number;
  readonly killed: number;
  readonly answered: number;
  readonly waiting: number;
}

export interface BoundedWork<Answer> {
  readonly log: Pick<Log, "warn">;
  /** What is worked on, for the log: `a key`. */
  readonly piece: string;
  /** The module that the process runs. */
  readonly module: URL;
  readonly heapMb: number;
  /** `advanced` for pieces that are large texts. */
  readonly serialization: SerializationType;
  /** How much of a processor's time one piece may take, ms. */
  readonly withinMs: number;
  /** It is not our doing: the piece takes too long, or ends its process. */
  readonly tooLong: Answer;
  readonly deadly: Answer;
  /** It is: too many wait, or this machine has no time or no process for it now. */
  readonly busy: Answer;
  readonly notNow: Answer;
}

/** So many times as long may it wait for one, on a machine that is busy with other things. */
const PATIENCE = 5;
/** Between two looks at what it has taken, ms. */
const LOOK_EVERY_MS = 100;
/** A process that has not begun by then never will, ms. */
const START_TIMEOUT_MS = 15_000;
/** What waits; beyond it the answer is that we are busy. */
const WAITING_LIMIT = 256;

interface Job<Word, Answer> {
  readonly id: number;
  readonly word: Word;
  readonly workspace: number;
  deaths: number;
  settle(answer: Answer): void;
}

export class BoundedProcess<Word extends object, Answer> {
  readonly #work: BoundedWork<Answer>;
  readonly #ports = new Set<MessagePort>();
  #waiting: Job<Word, Answer>[] = [];
  #running: Job<Word, Answer> | null = null;
  #runningSinceMs = 0;
  /** Of the process, by workspace: one whose pieces take long makes others wait for one of them and not for all. */
  readonly #used = new UsedTime();
  #child: ChildProcess | null = null;
  #isReady = false;
  #isLoose = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #lastId = 0;
  #started = 0;
  #killed = 0;
  #answered = 0;

  constructor(work: BoundedWork<Answer>) {
    this.#work = work;
  }

  get stats(): BoundedStats {
    return { started: this.#started, killed: this.#killed, answered: this.#answered, waiting: this.#waiting.length };
  }

  /** Of the process, while there is one. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get isAtWork(): boolean {
    return this.#running !== null;
  }

  /** @param answer to each that asks. @returns what a thread gives to connectBounded() */
  connect<Asked>(answer: (word: Asked) => Promise<Answer>): MessagePort {
    const { port1: port, port2: theirs } = new MessageChannel();
    const mailbox = new MessageBatcher<FromBounded<Answer>>(port);
    this.#ports.add(port);
    port.on("message", (words: readonly ToBounded<Asked>[]) => {
      for (const { id, word } of words) void answer(word).then((said) => mailbox.post({ id, answer: said }));
    });
    port.on("close", () => this.#ports.delete(port));
    port.unref();
    return theirs;
  }

  /** Never rejects. @param workspace whose turn it is to be */
  run(word: Word, workspace = 0): Promise<Answer> {
    if (this.#isClosed || !this.#hasRoom(workspace)) return Promise.resolve(this.#work.busy);
    const id = ++this.#lastId;
    const answer = new Promise<Answer>((settle) => this.#waiting.push({ id, word, workspace, deaths: 0, settle }));
    this.#next();
    return answer;
  }

  /** Where all places are taken, the workspace with most of them gives its latest to one with fewer. */
  #hasRoom(workspace: number): boolean {
    if (this.#waiting.length < WAITING_LIMIT) return true;
    const counts = new Map<number, number>();
    for (const job of this.#waiting) counts.set(job.workspace, (counts.get(job.workspace) ?? 0) + 1);
    const most = Math.max(...counts.values());
    if ((counts.get(workspace) ?? 0) + 1 >= most) return false;
    const place = this.#waiting.findLastIndex((job) => counts.get(job.workspace) === most);
    this.#waiting.splice(place, 1)[0]?.settle(this.#work.busy);
    return true;
  }

  #takeNext(): Job<Word, Answer> | undefined {
    const workspaces = this.#waiting.map(({ workspace }) => workspace);
    const place = this.#used.placeOfLeast(workspaces, performance.now());
    return place < 0 ? undefined : this.#waiting.splice(place, 1)[0];
  }

  /** Kills the process; pieces that wait are answered with `notNow`. */
  close(): void {
    this.#isClosed = true;
    this.#stopWatching();
    for (const port of this.#ports) port.close();
    this.#child?.kill("SIGKILL");
    for (const job of [...(this.#running === null ? [] : [this.#running]), ...this.#waiting])
      job.settle(this.#work.notNow);
    this.#running = null;
    this.#waiting = [];
  }

  #next(): void {
    if (this.#running !== null || this.#isClosed) return;
    if (this.#waiting.length === 0) {
      this.#child?.unref();
      this.#child?.channel?.unref();
      return;
    }
    if (this.#child === null) this.#tryToStart();
    if (!this.#isReady) return;
    const job = this.#takeNext();
    if (job === undefined || this.#child === null) return;
    this.#running = job;
    this.#runningSinceMs = performance.now();
    const message: ToChild<Word> = { id: job.id, word: job.word };
    this.#child.send(message);
    this.#watchWork(this.#work.withinMs);
  }

  #tryToStart(): void {
    try {
      this.#start();
    } catch (error) {
      // No process can be started now: all pieces that wait are answered so, and the next piece tries again.
      this.#work.log.warn({ err: error }, `no process for ${this.#work.piece}`);
      for (const job of this.#waiting.splice(0)) job.settle(this.#work.notNow);
    }
  }

  #start(): void {
    this.#isReady = false;
    const { module, heapMb, serialization } = this.#work;
    const isBound = !this.#isLoose && boundsHere().includes("bound");
    const child = spawnBound(
      process.execPath,
      [`--max-old-space-size=${heapMb}`, fileURLToPath(module)],
      isBound ? [] : null,
      {
        env: {},
        cwd: "/",
        stdio: ["ignore", "ignore", "pipe", "ipc"],
        serialization,
      },
    );
    this.#child = child;
    this.#started += 1;
    let complaint = "";
    child.stderr?.on("data", (bytes: Buffer) => {
      complaint = `${complaint}${bytes.toString("latin1")}`.slice(0, 500);
    });
    child.on("message", (word: FromChild<Answer>) => this.#hear(child, word));
    child.on("error", () => {});
    child.once("close", () => this.#ended(child, complaint));
    this.#stopWatching();
    this.#timer = setTimeout(() => this.#giveUp(this.#work.notNow, { withinMs: START_TIMEOUT_MS }), START_TIMEOUT_MS);
  }

  #hear(child: ChildProcess, word: FromChild<Answer>): void {
    if (child !== this.#child) return;
    if (word.type === "ready") {
      this.#isReady = true;
      this.#stopWatching();
    } else if (word.id === this.#running?.id) {
      this.#answered += 1;
      this.#settle(this.#running, word.answer);
    }
    this.#next();
  }

  #settle(job: Job<Word, Answer>, answer: Answer): void {
    this.#stopWatching();
    if (this.#running === job) this.#stopRunning();
    job.settle(answer);
  }

  #stopRunning(): void {
    const nowMs = performance.now();
    if (this.#running !== null) this.#used.charge(this.#running.workspace, nowMs - this.#runningSinceMs, nowMs);
    this.#running = null;
  }

  /** The piece is to blame only where its process was at work, and not where this machine had no time for it. */
  #watchWork(withinMs: number): void {
    this.#stopWatching();
    const sinceMs = performance.now();
    const busyBefore = busyMs(this.pid);
    this.#timer = setInterval(() => {
      const tookMs = performance.now() - sinceMs;
      const worked = busyMs(this.pid) - busyBefore;
      // Where the kernel does not report processor time, wall time counts.
      if ((Number.isNaN(worked) ? tookMs : worked) >= withinMs) this.#giveUp(this.#work.tooLong, { tookMs, worked });
      else if (tookMs >= withinMs * PATIENCE) this.#giveUp(this.#work.notNow, { tookMs, worked });
    }, LOOK_EVERY_MS);
  }

  #stopWatching(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#timer);
  }

  #giveUp(answer: Answer, took: object): void {
    this.#work.log.warn(took, `${this.#work.piece} took too long; its process is replaced`);
    this.#stopWatching();
    const child = this.#child;
    this.#killed += 1;
    this.#child = null;
    this.#isReady = false;
    child?.kill("SIGKILL");
    const job = this.#running ?? this.#waiting.shift();
    if (job !== undefined) this.#settle(job, answer);
    this.#next();
  }

  #ended(child: ChildProcess, complaint: string): void {
    if (child !== this.#child) return;
    const wasReady = this.#isReady;
    this.#child = null;
    this.#isReady = false;
    this.#stopWatching();
    if (this.#isClosed) return;
    const wasRefused = !wasReady && !this.#isLoose && isRefusedBound(complaint);
    if (wasRefused) this.#isLoose = true;
    else this.#work.log.warn({ complaint }, `the process for ${this.#work.piece} has ended`);
    const job = this.#running ?? (wasReady || wasRefused ? undefined : this.#waiting.shift());
    this.#stopRunning();
    if (job !== undefined) this.#again(job, wasReady);
    this.#next();
  }

  /** Once more: the first time it may have been ended by something else. */
  #again(job: Job<Word, Answer>, hadBegun: boolean): void {
    job.deaths += 1;
    if (job.deaths < 2) this.#waiting.unshift(job);
    else job.settle(hadBegun ? this.#work.deadly : this.#work.notNow);
  }
}

/** Processor time of a process, ms; NaN where the kernel does not report it. */
function busyMs(pid: number | undefined): number {
  try {
    return cpuMsOf(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? Number.NaN;
  } catch {
    return Number.NaN;
  }
}
