/**
 * `npm run fuzz`: mutated inputs for every parser of the list, in a thread that is watched: one that hangs or runs out of heap is replaced,
 * and what it ran then is a fault. Prints a table, saves the inputs of faults as hex, and ends with 1 when there were any.
 */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import Table from "cli-table3";
import type { Fault, Tally } from "./driver.ts";
import { Signs } from "./signs.ts";
import type { FuzzTarget } from "./target.ts";
import type { Order, Report } from "./worker.ts";

const STANDARD_LIST = new URL("./targets/index.ts", import.meta.url).href;
const STANDARD_SECONDS = 60;
/** Processor time of one input after which it counts as one that never ends. */
const HANGS_AFTER_S = 20;
const LOOK_EVERY_MS = 500;
const TELL_EVERY_MS = 10_000;
/** Of the thread's heap: a parser that needs more for an input of a MiB is at fault. */
const HEAP_MIB = 768;

const USAGE = `npm run fuzz -- [--seconds N] [--only NAME]... [--seed S] [--inputs N] [--faults FOLDER] [--json] [--list]
  --only    targets whose name contains it
  --targets another module with a list of them
  --hang    what one input may take, seconds of processor time
  --inputs  of each target, at most
  --faults  where inputs of faults are saved, as hex`;

interface Options {
  readonly list: string;
  readonly targets: readonly FuzzTarget[];
  readonly hangMs: number;
  readonly seconds: number;
  readonly chosen: readonly number[];
  readonly seed: number;
  readonly inputs: number;
  readonly faults: string;
  readonly isJson: boolean;
}

async function optionsOf(args: readonly string[]): Promise<Options> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: "string", default: String(STANDARD_SECONDS) },
      only: { type: "string", multiple: true, default: [] },
      seed: { type: "string", default: String(Date.now() % 2 ** 31) },
      inputs: { type: "string", default: String(Number.MAX_SAFE_INTEGER) },
      faults: { type: "string", default: "node_modules/.cache/fuzz" },
      targets: { type: "string" },
      hang: { type: "string", default: String(HANGS_AFTER_S) },
      json: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
    },
  });
  const list = values.targets === undefined ? STANDARD_LIST : pathToFileURL(values.targets).href;
  const { TARGETS: targets } = (await import(list)) as { readonly TARGETS: readonly FuzzTarget[] };
  if (values.list) {
    process.stdout.write(`${targets.map(({ name }) => name).join("\n")}\n`);
    process.exit(0);
  }
  const numbers = [values.seconds, values.seed, values.inputs, values.hang].map(Number);
  if (!numbers.every((number) => Number.isFinite(number) && number >= 0)) throw new Error("a number is none");
  const [seconds = 0, seed = 0, inputs = 0, hang = 0] = numbers;
  const { only } = values;
  const isChosen = (name: string): boolean => only.length === 0 || only.some((part) => name.includes(part));
  const chosen = targets.flatMap(({ name }, place) => (isChosen(name) ? [place] : []));
  if (chosen.length === 0) throw new Error(`no target is called ${only.join(" or ")}`);
  const { faults, json: isJson } = values;
  return { list, targets, hangMs: hang * 1_000, seconds, chosen, seed, inputs, faults, isJson };
}

interface Result {
  readonly tallies: readonly Tally[];
  readonly faults: readonly Fault[];
}

/** Until the time is over, with a new thread after each that had to be ended. */
async function fuzzAll(options: Options, tell: (report: Result) => void): Promise<Result> {
  const endAt = Date.now() + options.seconds * 1_000;
  const results: Result[] = [];
  let chosen = options.chosen;
  for (let round = 0; chosen.length > 0; round++) {
    const ms = endAt - Date.now();
    if (ms <= 0 && round > 0) break;
    const { result, lost } = await fuzzInThread({ ...options, chosen, seed: options.seed + round }, ms, tell);
    results.push(result);
    if (lost === null) break;
    chosen = chosen.filter((place) => place !== lost);
  }
  return {
    tallies: sumOf(results.map(({ tallies }) => tallies)),
    faults: onlyOnce(results.flatMap(({ faults }) => faults)),
  };
}

/** A new thread finds the same again. */
function onlyOnce(faults: readonly Fault[]): readonly Fault[] {
  const keyOf = ({ target, kind, words }: Fault): string =>
    `${target} ${kind} ${kind === "throws" ? words.split("\n", 1)[0] : kind === "breaks a rule" ? words : ""}`;
  return [...new Map(faults.map((fault) => [keyOf(fault), fault])).values()];
}

/** @returns lost: the place of the target that the thread did not survive */
function fuzzInThread(
  { list, targets, hangMs, chosen, seed, inputs }: Options,
  ms: number,
  tell: (report: Result) => void,
): Promise<{ readonly result: Result; readonly lost: number | null }> {
  const signs = new Signs();
  const workerData: Order = { list, chosen, seed, ms, mostInputs: inputs, memory: signs.memory };
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  let latest: Result = { tallies: [], faults: [] };
  return new Promise((resolve, reject) => {
    const watch = setInterval(look, LOOK_EVERY_MS);
    let begun = -1;
    let cpuAtChange = process.cpuUsage();
    function look(): void {
      if (signs.begun !== begun) {
        begun = signs.begun;
        cpuAtChange = process.cpuUsage();
        return;
      }
      const { user, system } = process.cpuUsage(cpuAtChange);
      if ((user + system) / 1_000 < hangMs || begun === 0) return;
      lose("never ends", `${hangMs / 1_000} s of processor time and no end`);
    }
    function lose(kind: Fault["kind"], words: string): void {
      clearInterval(watch);
      const { target, input } = signs.last;
      const fault: Fault = { target: targets[target]?.name ?? "", kind, words, inputHex: input.toString("hex") };
      const tallies = latest.tallies.map((tally) =>
        tally.name === fault.target ? { ...tally, faults: tally.faults + 1 } : tally,
      );
      void worker.terminate();
      resolve({ result: { tallies, faults: [...latest.faults, fault] }, lost: target });
    }
    worker.on("message", (report: Report) => {
      latest = report;
      tell(report);
      if (report.type !== "done") return;
      clearInterval(watch);
      resolve({ result: latest, lost: null });
    });
    worker.on("error", (error: Error & { readonly code?: string }) => {
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY") return lose("fills the heap", `more than ${HEAP_MIB} MiB`);
      clearInterval(watch);
      reject(error);
    });
  });
}

function sumOf(lists: readonly (readonly Tally[])[]): readonly Tally[] {
  const sums = new Map<string, Tally>();
  for (const tally of lists.flat()) {
    const sum = sums.get(tally.name);
    sums.set(tally.name, sum === undefined ? { ...tally } : added(sum, tally));
  }
  return [...sums.values()];
}

function added(one: Tally, other: Tally): Tally {
  return {
    name: one.name,
    inputs: one.inputs + other.inputs,
    taken: one.taken + other.taken,
    ms: one.ms + other.ms,
    slowestMs: Math.max(one.slowestMs, other.slowestMs),
    kinds: Math.max(one.kinds, other.kinds),
    faults: one.faults + other.faults,
  };
}

function tableOf(tallies: readonly Tally[]): string {
  const table = new Table({
    head: ["parser", "inputs", "taken", "kinds", "seconds", "inputs/s", "slowest ms", "faults"],
    style: { head: [], border: [] },
    chars: { mid: "", "left-mid": "", "mid-mid": "", "right-mid": "" },
    colAligns: ["left", "right", "right", "right", "right", "right", "right", "right"],
  });
  for (const { name, inputs, taken, kinds, ms, slowestMs, faults } of tallies) {
    const seconds = ms / 1_000;
    table.push([
      name,
      inputs,
      taken,
      kinds,
      seconds.toFixed(1),
      Math.round(inputs / Math.max(0.001, seconds)),
      slowestMs.toFixed(1),
      faults,
    ]);
  }
  const sum = tallies.reduce((all, one) => added(all, one), {
    name: "",
    inputs: 0,
    taken: 0,
    ms: 0,
    slowestMs: 0,
    kinds: 0,
    faults: 0,
  });
  const all = sum.ms / 1_000;
  table.push([
    `${tallies.length} parsers`,
    sum.inputs,
    sum.taken,
    "",
    all.toFixed(1),
    Math.round(sum.inputs / Math.max(0.001, all)),
    sum.slowestMs.toFixed(1),
    sum.faults,
  ]);
  return table.toString();
}

/** @returns where it is now */
function save(folder: string, { target, inputHex }: Fault): string {
  const hash = createHash("sha256").update(inputHex).digest("hex").slice(0, 12);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${target.replace(/[^a-z0-9]+/gi, "-")}-${hash}.hex`);
  writeFileSync(path, `${inputHex}\n`);
  return path;
}

async function main(options: Options): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  say(`fuzzing ${options.chosen.length} parsers for ${options.seconds} s, --seed ${options.seed}`);
  let toldAt = Date.now();
  const { tallies, faults } = await fuzzAll(options, ({ tallies: now, faults: found }) => {
    if (Date.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = Date.now();
    say(`${now.reduce((sum, { inputs }) => sum + inputs, 0)} inputs, ${found.length} faults`);
  });
  for (const fault of faults) {
    say(`FAULT ${fault.target}: ${fault.kind}: ${fault.words}\n  saved as ${save(options.faults, fault)}`);
  }
  process.stdout.write(
    `${options.isJson ? JSON.stringify({ seed: options.seed, tallies, faults }) : tableOf(tallies)}\n`,
  );
  process.exitCode = faults.length > 0 ? 1 : 0;
}

try {
  await main(await optionsOf(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`fuzz: ${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
  process.exitCode = 2;
}
