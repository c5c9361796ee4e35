/**
 * Has long texts read by a thread of their own, one at a time. It starts with the first of them and ends when none has come for a while, because it takes 20 MiB. A text
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
/** Characters that are read on the caller's thread: some 10 ms of the dearest ones. */
const MOST_HERE = 32_768;
/** The dearest takes some seconds of a processor. */
const WITHIN_MS = 60_000;
const MOST_WAITING = 16;
const IDLE_MS = 30_000;

interface Waiting {
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
  /** Told why the thread died: as a rule its heap was full. */
  readonly onDeath?: (error: unknown) => void;
}

export function startTexts(words: DocumentWords, options: ReadingThreadOptions = {}): ReadingThread {
  const { mostHere = MOST_HERE } = options;
  const here = textsHere(words);
  const thread = new OneAtATime(words, options);
  const there = <Name extends TextWorkName>(work: Name, ...asked: Parameters<TextWork[Name]>) =>
    thread.ask({ work, asked }) as Promise<ReturnType<TextWork[Name]>>;
  return {
    readDocument: (text) => (text.length <= mostHere ? here.readDocument(text) : there("readDocument", text)),
    linesOf: (text, paths) => (text.length <= mostHere ? here.linesOf(text, paths) : there("linesOf", text, paths)),
    convert(order) {
      const characters = order.files.reduce((sum, { text }) => sum + text.length, 0);
      return characters <= mostHere ? here.convert(order) : there("convert", order);
    },
    close: () => thread.close(),
  };
}

class OneAtATime {
  readonly #words: DocumentWords;
  readonly #withinMs: number;
  readonly #onDeath: (error: unknown) => void;
  readonly #waiting: Waiting[] = [];
  #running: Waiting | null = null;
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
  ask(order: ToReadingThread): Promise<unknown> {
    if (this.#isClosed || this.#waiting.length >= MOST_WAITING) return Promise.reject(new TextRefused(true));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ order, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new TextRefused(true));
    await this.#end();
  }

  #next(): void {
    if (this.#running !== null) return;
    clearTimeout(this.#timer);
    const next = this.#waiting.shift();
    this.#timer = setTimeout(() => void this.#end(), next === undefined ? IDLE_MS : this.#withinMs).unref();
    if (next === undefined) return;
    this.#running = next;
    this.#thread ??= this.#start();
    this.#thread.postMessage(next.order);
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
    started.on("error", (error) => this.#onDeath(error));
    started.once("exit", () => {
      if (!isOurs()) return;
      this.#thread = null;
      this.#settle((one) => one.reject(new TextRefused(false)));
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
