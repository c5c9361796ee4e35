/**
 * Foreign keys are opened in one process of its own, because a computation of OpenSSL can only be ended with the process that it is in. It is
 * started by the first key, lives on for the others, is killed when one takes too long, and dies with us. Lives in the main thread, because a
 * child with a parent-death signal dies with the thread that started it; probers ask over ports (opener-port.ts).
 */

import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { BoundedMap } from "../../model/bounded-map.ts";
import type { Log } from "../../model/log.ts";
import { cpuMsOf } from "../../model/proc-stat.ts";
import { boundsHere, isRefusedBound, spawnBound } from "../cores/core-process.ts";
import { MessageBatcher } from "../cores/message-batcher.ts";
import type { ForeignKey, KeyAnswer, KeyOpener } from "./key-opener.ts";
import type { FromOpener, ToOpener } from "./opener-port.ts";

/** As it goes through the channel, which is JSON. */
export interface ToChild {
  readonly id: number;
  readonly key: { readonly kind: "pkcs12"; readonly bytes: string } | { readonly kind: "key"; readonly pem: string };
}
export type FromChild =
  | { readonly type: "ready" }
  | { readonly type: "answer"; readonly id: number; readonly answer: KeyAnswer };

/** The part of pino's logger that is used. */
/** For the metrics and for tests. */
export interface OpenerStats {
  readonly started: number;
  readonly killed: number;
  readonly opened: number;
  readonly waiting: number;
}

export interface OpenerOptions {
  readonly log: Pick<Log, "warn">;
  /** How much of a processor's time one key may take, ms; only tests have another. */
  readonly withinMs?: number;
}

/** A key at the bounds of protocols/keys takes 2 s of a processor; our choice, ms. */
const ANSWER_TIMEOUT_MS = 5_000;
/** So many times as long may it wait for one, on a machine that is busy with other things. */
const PATIENCE = 5;
/** Between two looks at what it has taken, ms. */
const LOOK_EVERY_MS = 100;
/** A process that has not begun by then never will, ms. */
const START_TIMEOUT_MS = 15_000;
/** What waits; each is of some 10 kB, and beyond it the answer is that we are busy. */
const WAITING_LIMIT = 256;
const KEY_BYTES = 400_000;
/** Answers that are remembered, keys among them: this process has them anyway. */
const REMEMBERED = 512;
const HEAP_MB = 128;

const BUSY = refused("unfit", "cannot be opened now: this checker has too many keys to open");
const NOT_NOW = refused("unfit", "could not be opened in time on this checker");
const TOO_LONG = refused("misconfigured", "takes too long to open or to sign with");
const DEADLY = refused("misconfigured", "ends the process that opens it");

interface Job {
  readonly id: number;
  readonly name: string;
  readonly word: ToChild;
  deaths: number;
  settle(answer: KeyAnswer): void;
}

export class KeyOpenerProcess implements KeyOpener {
  readonly #options: OpenerOptions;
  readonly #known = new BoundedMap<string, Promise<KeyAnswer>>(REMEMBERED);
  readonly #ports = new Set<MessagePort>();
  #waiting: Job[] = [];
  #running: Job | null = null;
  #child: ChildProcess | null = null;
  #isReady = false;
  #isLoose = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #lastId = 0;
  #started = 0;
  #killed = 0;
  #opened = 0;

  constructor(options: OpenerOptions) {
    this.#options = options;
  }

  get stats(): OpenerStats {
    return { started: this.#started, killed: this.#killed, opened: this.#opened, waiting: this.#waiting.length };
  }

  /** Of the process, while there is one. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** A key is being opened. */
  get isAtWork(): boolean {
    return this.#running !== null;
  }

  /** @returns what a thread gives to connectKeyOpener() */
  connect(): MessagePort {
    const { port1: port, port2: theirs } = new MessageChannel();
    const mailbox = new MessageBatcher<FromOpener>(port);
    this.#ports.add(port);
    port.on("message", (words: readonly ToOpener[]) => {
      for (const { id, key } of words) void this.open(key).then((answer) => mailbox.post({ id, answer }));
    });
    port.on("close", () => this.#ports.delete(port));
    port.unref();
    return theirs;
  }

  open(key: ForeignKey): Promise<KeyAnswer> {
    const bytes = key.kind === "pkcs12" ? Buffer.from(key.bytes) : Buffer.from(key.pem);
    if (this.#isClosed || this.#waiting.length >= WAITING_LIMIT || bytes.length > KEY_BYTES)
      return Promise.resolve(BUSY);
    const name = createHash("sha256").update(`${key.kind}\0`).update(bytes).digest("base64");
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const id = ++this.#lastId;
    const word: ToChild = {
      id,
      key: key.kind === "pkcs12" ? { kind: "pkcs12", bytes: bytes.toString("base64") } : key,
    };
    const answer = new Promise<KeyAnswer>((settle) => this.#waiting.push({ id, name, word, deaths: 0, settle }));
    this.#remember(name, answer);
    this.#next();
    return answer;
  }

  /** Kills the process; what waits is told that it cannot be opened now. */
  close(): void {
    this.#isClosed = true;
    this.#stopWatching();
    for (const port of this.#ports) port.close();
    this.#child?.kill("SIGKILL");
    for (const job of [...(this.#running === null ? [] : [this.#running]), ...this.#waiting]) job.settle(NOT_NOW);
    this.#running = null;
    this.#waiting = [];
  }

  #remember(name: string, answer: Promise<KeyAnswer>): void {
    this.#known.set(name, answer);
    void answer.then((result) => {
      // What is ours to mend may be mended by the next time.
      if (result.type === "refused" && result.refusal.verdict !== "misconfigured") this.#known.delete(name);
    });
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
    const job = this.#waiting.shift();
    if (job === undefined || this.#child === null) return;
    this.#running = job;
    this.#child.send(job.word);
    this.#watchWork(this.#options.withinMs ?? ANSWER_TIMEOUT_MS);
  }

  #tryToStart(): void {
    try {
      this.#start();
    } catch (error) {
      // No process can be had now: what waits is told so, all of it, and the next key tries again.
      this.#options.log.warn({ err: error }, "no process to open keys in");
      for (const job of this.#waiting.splice(0)) job.settle(NOT_NOW);
    }
  }

  #start(): void {
    this.#isReady = false;
    const file = fileURLToPath(new URL(`./opener-child${extname(import.meta.url)}`, import.meta.url));
    const isBound = !this.#isLoose && boundsHere().includes("bound");
    const child = spawnBound(process.execPath, [`--max-old-space-size=${HEAP_MB}`, file], isBound ? [] : null, {
      env: {},
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child = child;
    this.#started += 1;
    let complaint = "";
    child.stderr?.on("data", (bytes: Buffer) => {
      complaint = `${complaint}${bytes.toString("latin1")}`.slice(0, 500);
    });
    child.on("message", (word: FromChild) => this.#hear(child, word));
    child.on("error", () => {});
    child.once("close", () => this.#ended(child, complaint));
    this.#stopWatching();
    this.#timer = setTimeout(() => this.#giveUp(NOT_NOW, { withinMs: START_TIMEOUT_MS }), START_TIMEOUT_MS);
  }

  #hear(child: ChildProcess, word: FromChild): void {
    if (child !== this.#child) return;
    if (word.type === "ready") {
      this.#isReady = true;
      this.#stopWatching();
    } else if (word.id === this.#running?.id) {
      this.#opened += 1;
      this.#settle(this.#running, word.answer);
    }
    this.#next();
  }

  #settle(job: Job, answer: KeyAnswer): void {
    this.#stopWatching();
    if (this.#running === job) this.#running = null;
    job.settle(answer);
  }

  /** The configuration is to blame only where its process was at work, and not where this machine had no time for it. */
  #watchWork(withinMs: number): void {
    this.#stopWatching();
    const sinceMs = performance.now();
    const busyBefore = busyMs(this.pid);
    this.#timer = setInterval(() => {
      const tookMs = performance.now() - sinceMs;
      const worked = busyMs(this.pid) - busyBefore;
      // Where the kernel does not tell, time is what it took.
      if ((Number.isNaN(worked) ? tookMs : worked) >= withinMs) this.#giveUp(TOO_LONG, { tookMs, worked });
      else if (tookMs >= withinMs * PATIENCE) this.#giveUp(NOT_NOW, { tookMs, worked });
    }, LOOK_EVERY_MS);
  }

  #stopWatching(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#timer);
  }

  #giveUp(answer: KeyAnswer, took: object): void {
    this.#options.log.warn(took, "a key could not be opened in time; its process is replaced");
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
    else this.#options.log.warn({ complaint }, "the process that opens keys has ended");
    const job = this.#running ?? (wasReady || wasRefused ? undefined : this.#waiting.shift());
    this.#running = null;
    if (job !== undefined) this.#again(job, wasReady);
    this.#next();
  }

  /** Once more: the first time it may have been ended by something else. */
  #again(job: Job, hadBegun: boolean): void {
    job.deaths += 1;
    if (job.deaths < 2) this.#waiting.unshift(job);
    else job.settle(hadBegun ? DEADLY : NOT_NOW);
  }
}

function refused(verdict: "unfit" | "misconfigured", words: string): KeyAnswer {
  return { type: "refused", refusal: { verdict, words } };
}

/** Processor time of a process, ms; NaN where the kernel does not tell. */
function busyMs(pid: number | undefined): number {
  try {
    return cpuMsOf(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? Number.NaN;
  } catch {
    return Number.NaN;
  }
}
