/**
 * Runs parsers on mutated inputs and judges each run: only a refusal of the parser's own may leave it, its properties hold, it takes
 * processor time in proportion to the input's length and a bounded heap. Inputs that lead to a result of a new kind are kept and mutated
 * further. Which inputs are made follows from the seed and the targets' own.
 */
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Random } from "../../testkit/random.ts";
import { type Material, mutate } from "./mutate.ts";
import type { FuzzTarget } from "./target.ts";
import { Violation } from "./violation.ts";

/** Processor time that any input may take, ms, and for each byte; a quadratic reader of 64 KiB takes seconds. */
const BUDGET_MS = 25;
const BUDGET_MS_PER_BYTE = 0.003;
/** Of several measurements the least counts, so that a busy machine decides nothing. */
const MEASUREMENTS = 5;
/** Where a run takes longer than this, its processor time and its heap are looked at: 64 MiB cannot be filled in less, ms. */
const LOOK_CLOSER_MS = 5;
/** What one run may leave or fill, bytes, and for each byte of the input. */
const HEAP_BYTES = 64 * 2 ** 20;
const HEAP_PER_BYTE = 512;
const MOST_KEPT = 256;
/** Longer inputs are not kept. */
const KEPT_BYTES = 8_192;
const MOST_KINDS = 4_096;
const STANDARD_LONGEST = 64 * 1024;
const STANDARD_MESSAGE = 300;
/** Of a refusal, for its kind: what follows may repeat the input. */
const SHAPE_CHARACTERS = 48;
/** Of one kind of fault one is told. */
const MOST_FAULTS = 16;
/** Smaller inputs with the same fault are looked for so often. */
const SHRINKS = 400;
const ERRORS = [Error.stackTraceLimit, 4] as const;

export interface Fault {
  readonly target: string;
  readonly kind: "throws" | "breaks a rule" | "tells too much" | "takes too long" | "fills the heap" | "never ends";
  readonly words: string;
  readonly inputHex: string;
}

export interface Tally {
  readonly name: string;
  inputs: number;
  /** That were accepted. */
  taken: number;
  ms: number;
  slowestMs: number;
  /** Kinds of results. */
  kinds: number;
  faults: number;
}

/** Told before each input is run: what hangs or ends the thread can be named. */
export type Announce = (input: Buffer) => void;

export class TargetFuzzer {
  readonly #target: FuzzTarget;
  readonly #random: Random;
  readonly #material: { corpus: Uint8Array[]; words: readonly Uint8Array[]; longest: number };
  readonly #seeds: number;
  readonly #kinds = new Set<string>();
  readonly #known = new Set<string>();
  readonly #announce: Announce;
  readonly faults: Fault[] = [];
  readonly tally: Tally;

  constructor(target: FuzzTarget, seed: number, announce: Announce = () => {}) {
    this.#target = target;
    this.#random = new Random(seed ^ hashOf(target.name));
    const words = (target.words ?? []).map((word) => Buffer.from(word));
    this.#material = { corpus: [...target.seeds], words, longest: target.longest ?? STANDARD_LONGEST };
    this.#seeds = target.seeds.length;
    this.#announce = announce;
    this.tally = { name: target.name, inputs: 0, taken: 0, ms: 0, slowestMs: 0, kinds: 0, faults: 0 };
  }

  /** The seeds as they are: a target whose seeds are refused tests little. @returns how many are taken */
  runSeeds(): number {
    for (const seed of this.#target.seeds) this.#one(Buffer.from(seed));
    return this.tally.taken;
  }

  /** So many inputs or so long, whichever is less. */
  run(mostInputs: number, mostMs: number): void {
    const [before, short] = ERRORS;
    Error.stackTraceLimit = short;
    const endAt = performance.now() + mostMs;
    for (let count = 0; count < mostInputs && performance.now() < endAt; count++) {
      this.#one(mutate(this.#random, this.#chosen()));
    }
    Error.stackTraceLimit = before;
  }

  /** Half of the time of the seeds alone: kept ones are more and less valid. */
  #chosen(): Material {
    const { corpus, words, longest } = this.#material;
    return this.#random.below(2) === 0 ? { corpus: corpus.slice(0, this.#seeds), words, longest } : this.#material;
  }

  #one(input: Buffer): void {
    const given = Buffer.from(input);
    const startedAt = performance.now();
    const ended = this.#end(given);
    const ms = performance.now() - startedAt;
    this.tally.inputs++;
    this.tally.ms += ms;
    if (ended.fault !== undefined) this.#report(ended.fault, input);
    else if (ended.isTaken) this.tally.taken++;
    this.#keep(ended.shape, input);
    if (ms > this.tally.slowestMs) this.tally.slowestMs = ms;
    if (ms > LOOK_CLOSER_MS) this.#judgeCost(input);
  }

  /** Changes the input, if its target does. */
  #end(input: Buffer): RunResult {
    this.#announce(input);
    return endOf(this.#target, input);
  }

  #keep(shape: string, input: Buffer): void {
    if (this.#kinds.has(shape) || this.#kinds.size >= MOST_KINDS || input.length > KEPT_BYTES) return;
    this.#kinds.add(shape);
    this.tally.kinds = this.#kinds.size;
    const { corpus } = this.#material;
    if (corpus.length >= this.#seeds + MOST_KEPT) corpus.splice(this.#seeds + this.#random.below(MOST_KEPT), 1);
    corpus.push(input);
  }

  #judgeCost(input: Buffer): void {
    const run = (): RunResult => this.#end(Buffer.from(input));
    // Most were only waiting for a processor.
    if (leastCpuMs(run, 1, 0) <= LOOK_CLOSER_MS) return;
    const budgetMs = budgetMsOf(this.#target, input.length);
    const cpuMs = leastCpuMs(run, MEASUREMENTS, budgetMs);
    if (cpuMs > budgetMs) {
      const words = `${cpuMs.toFixed(0)} ms of processor time for ${input.length} bytes; ${budgetMs.toFixed(0)} ms are allowed`;
      this.#report({ kind: "takes too long", words, key: "time" }, input);
    }
    const most = HEAP_BYTES + HEAP_PER_BYTE * input.length;
    const filled = leastHeap(run, most);
    if (filled > most) this.#report({ kind: "fills the heap", words: `${filled} bytes`, key: "heap" }, input);
  }

  #report({ kind, words, key }: FoundFault, input: Buffer): void {
    if (this.#known.has(key) || this.faults.length >= MOST_FAULTS) return;
    this.#known.add(key);
    const smallest =
      kind === "takes too long" || kind === "fills the heap"
        ? input
        : shrunk(input, (shorter) => this.#end(Buffer.from(shorter)).fault?.key === key);
    this.faults.push({ target: this.#target.name, kind, words, inputHex: smallest.toString("hex") });
    this.tally.faults = this.faults.length;
  }
}

interface FoundFault {
  readonly kind: Fault["kind"];
  readonly words: string;
  /** Equal for what is the same fault. */
  readonly key: string;
}

interface RunResult {
  /** Of the result, without numbers: inputs of one shape are alike. */
  readonly shape: string;
  readonly isTaken: boolean;
  readonly fault?: FoundFault;
}

function endOf(target: FuzzTarget, input: Buffer): RunResult {
  const { refusals = [], mostMessage = STANDARD_MESSAGE } = target;
  try {
    return { shape: `taken ${target.run(input) ?? ""}`, isTaken: true };
  } catch (error) {
    const { name, message, stack = "" } = error instanceof Error ? error : new Error(String(error));
    const shape = `${name}: ${message.slice(0, SHAPE_CHARACTERS).replace(/\d+/g, "#")}`;
    if (error instanceof Violation) {
      return { shape, isTaken: false, fault: { kind: "breaks a rule", words: message, key: shape } };
    }
    if (!refusals.some((refusal) => error instanceof refusal)) {
      const words = stack.slice(0, 2_000);
      return { shape, isTaken: false, fault: { kind: "throws", words, key: `${name} ${placeOf(stack)}` } };
    }
    if (message.length > mostMessage) {
      return { shape, isTaken: false, fault: { kind: "tells too much", words: message.slice(0, 500), key: "message" } };
    }
    return { shape, isTaken: false };
  }
}

/** Where it was thrown. */
function placeOf(stack: string): string {
  return /\n\s+at .*?([\w.-]+\.[cm]?[jt]s:\d+)/.exec(stack)?.[1] ?? "";
}

function budgetMsOf({ cost = 1 }: FuzzTarget, sizeBytes: number): number {
  return cost * (BUDGET_MS + BUDGET_MS_PER_BYTE * sizeBytes);
}

/** Measured so often, or until it is not more than enough. */
function leastCpuMs(run: () => void, times: number, enoughMs: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < times && least > enoughMs; time++) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function leastHeap(run: () => void, enough: number): number {
  const filled = (): number => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 2 && least > enough; time++) {
    collectGarbage();
    const before = filled();
    run();
    least = Math.min(least, filled() - before);
  }
  return least;
}

/** The shortest input that is found with the same fault. */
function shrunk(input: Buffer, hasFault: (shorter: Buffer) => boolean): Buffer {
  let now = input;
  let left = SHRINKS;
  for (let size = Math.ceil(now.length / 2); size >= 1 && left > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < now.length && left > 0; left--) {
      const shorter = Buffer.concat([now.subarray(0, at), now.subarray(at + size)]);
      if (hasFault(shorter)) now = shorter;
      else at += size;
    }
  }
  return now;
}

function hashOf(words: string): number {
  let hash = 0;
  for (const letter of words) hash = (Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0)) | 0;
  return hash;
}
