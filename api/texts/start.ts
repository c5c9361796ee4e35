/**
 * Has long texts read by a separate thread, one at a time. It starts with the first of them and ends when none has come for a while, because it takes 20 MiB. A text
 * that takes too long or too much memory ends it; the next one starts another.
 */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { DocumentWords } from "../../model/document/shape.ts";
import type { ToReadingThread } from "./reading-thread.ts";
import { textsHere } from "./steps.ts";
import { TextRefused, type Texts, type TextWork, type TextWorkName } from "./texts.ts";

/** The longest document as a tree, several times over. */
const LIMITS = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 32 };
/** Characters that are read on the caller's thread: some 10 ms of the most expensive texts that repeat nothing. */
const MOST_HERE = 32_768;
/** What YAML names so may be repeated, and a short text be a long one then. */
const NAMED = /(?:^|[\s[{,:-])&\S/;
/** The most expensive text takes some seconds of a processor. */
const WITHIN_MS = 60_000;
const MOST_WAITING = 16;
/** Of one workspace, so that it cannot take all places. */
const MOST_OF_ONE = 4;
const IDLE_MS = 30_000;

interface Waiting {
  readonly workspace: number;
  readonly order: ToReadingThread;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export interface ReadingThread extends Texts {
  /** What is being read is refused. */
  close(): Promise<void>;
}

export interface ReadingThreadOptions {
  /** Characters up to which a text is read on the caller's thread; absent: ours. */
  readonly mostHere?: number;
  /** For one text; absent: ours. */
  readonly withinMs?: number;
  /** Called with why the thread died: its heap was full, or a fault of ours. */
  readonly onDeath?: (error: unknown) => void;
}

export function startTexts(words: DocumentWords, options: ReadingThreadOptions = {}): ReadingThread {
  const { mostHere = MOST_HERE } = options;
  const here = textsHere(words);
  const thread = new OneAtATime(words, options);
  const there = <Name extends TextWorkName>(work: Name, workspace: number, ...asked: Parameters<TextWork[Name]>) =>
    thread.ask(workspace, { work, asked }) as Promise<ReturnType<TextWork[Name]>>;
  const isShort = (text: string): boolean => text.length <= mostHere && !NAMED.test(text);
  return {
    readDocument: (workspace, text) =>
      isShort(text) ? here.readDocument(workspace, text) : there("readDocument", workspace, text),
    linesOf: (workspace, text, paths) =>
      isShort(text) ? here.linesOf(workspace, text, paths) : there("linesOf", workspace, text, paths),
    convert(workspace, order) {
      const isHere = isShort(order.files.map(({ text }) => text).join("\n"));
      return isHere ? here.convert(workspace, order) : there("convert", workspace, order);
    },
    linksOf: (workspace, text, most) =>
      isShort(text) ? here.linksOf(workspace, text, most) : there("linksOf", workspace, text, most),
    close: () => thread.close(),
  };
}

class OneAtATime {
  readonly #words: DocumentWords;
  readonly #withinMs: number;
  readonly #onDeath: (error: unknown) => void;
  #waiting: Waiting[] = [];
  #running: Waiting | null = null;
  /** Whose text was begun last. */
  #latest = 0;
  /** Why the present thread is about to end; undefined: we ended it, or its text took too much. */
  #fault: Error | undefined;
  #thread: Worker | null = null;
  /** Of the text that is being read, or of a thread without work. */
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(words: DocumentWords, { withinMs = WITHIN_MS, onDeath = () => {} }: ReadingThreadOptions) {
    this.#words = words;
    this.#withinMs = withinMs;
    this.#onDeath = onDeath;
  }

  /** @throws TextRefused */
  ask(workspace: number, order: ToReadingThread): Promise<unknown> {
    const ofOne = this.#waiting.filter((one) => one.workspace === workspace).length;
    const isFull = this.#waiting.length >= MOST_WAITING || ofOne >= MOST_OF_ONE;
    if (this.#isClosed || isFull) return Promise.reject(new TextRefused(true));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ workspace, order, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const left = this.#waiting;
    this.#waiting = [];
    for (const { reject } of left) reject(new TextRefused(true));
    await this.#end();
  }

  #next(): void {
    if (this.#running !== null) return;
    clearTimeout(this.#timer);
    const next = this.#take();
    this.#timer = setTimeout(() => void this.#end(), next === undefined ? IDLE_MS : this.#withinMs).unref();
    if (next === undefined) return;
    this.#running = next;
    this.#thread ??= this.#start();
    this.#thread.postMessage(next.order);
  }

  /** The first of another workspace than the latest, so that one with many texts does not go before all others; else the first. */
  #take(): Waiting | undefined {
    const next = this.#waiting.find(({ workspace }) => workspace !== this.#latest) ?? this.#waiting[0];
    if (next === undefined) return undefined;
    this.#waiting = this.#waiting.filter((one) => one !== next);
    this.#latest = next.workspace;
    return next;
  }

  #start(): Worker {
    const started = new Worker(new URL(`./reading-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: this.#words,
      resourceLimits: LIMITS,
    });
    const isOurs = (): boolean => this.#thread === started;
    started.on("message", (answer) => {
      if (isOurs()) this.#settle((one) => one.resolve(answer));
    });
    started.on("error", (error) => {
      if (isOurs() && !isOfText(error)) this.#fault = error;
      this.#onDeath(error);
    });
    started.once("exit", () => {
      if (!isOurs()) return;
      this.#thread = null;
      const fault = this.#fault;
      this.#fault = undefined;
      this.#settle((one) => one.reject(fault ?? new TextRefused(false)));
    });
    return started;
  }

  #settle(how: (one: Waiting) => void): void {
    const one = this.#running;
    this.#running = null;
    if (one !== null) how(one);
    if (!this.#isClosed) this.#next();
  }

  /** The next text has another thread. */
  async #end(): Promise<void> {
    clearTimeout(this.#timer);
    const ending = this.#thread;
    this.#thread = null;
    if (this.#running !== null) this.#settle((one) => one.reject(new TextRefused(false)));
    await ending?.terminate();
  }
}

/** Whether a text took more than there is: of the heap, or of the stack. */
function isOfText(error: Error): boolean {
  return error instanceof RangeError || ("code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY");
}
