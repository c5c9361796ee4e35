/**
 * `npm run bench -- all`: every bench one after the other, each a process of its own with a deadline, and one report of all of them in Markdown and
 * JSON. The report is written after each bench, so what was measured is there when the run is broken off.
 */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { PLAN, type PlannedBench } from "./plan.ts";
import { type BenchReport, type BenchRun, type MachineConditions, markdownOf } from "./report.ts";

export interface AllOptions {
  /** Folder of the report. */
  readonly out: string;
  readonly quick: boolean;
}

const MAIN = fileURLToPath(new URL("../main.js", import.meta.url));
const PACKAGE = fileURLToPath(new URL("../../../package.json", import.meta.url));
/** Between SIGTERM and SIGKILL of a bench that took too long: it removes its data and ends its children, ms. */
const END_WITHIN_MS = 20_000;
/** Lines of one bench that are kept. */
const LINES_KEPT = 2_000;

/** @param only words in the commands of the benches; all without any */
export async function runAll(only: readonly string[], { out, quick }: AllOptions): Promise<void> {
  const chosen = PLAN.map((planned) => ({ ...planned, words: wordsOf(planned, quick) })).filter(
    ({ words }) => only.length === 0 || only.some((word) => words.join(" ").includes(word)),
  );
  if (chosen.length === 0) throw new Error(`no bench has one of these words: ${only.join(", ")}`);
  const folder = resolve(out);
  mkdirSync(folder, { recursive: true });
  const runs: BenchRun[] = [];
  for (const [index, { words, deadlineS }] of chosen.entries()) {
    process.stderr.write(`${index + 1} of ${chosen.length}: ${words.join(" ")} …\n`);
    const run = await runOne(words, deadlineS);
    process.stderr.write(`  ${run.ending}, ${Math.round(run.seconds)} s\n`);
    runs.push(run);
    write(folder, { conditions: machine(), runs });
  }
  console.log(`${join(folder, "report.md")}\n${join(folder, "report.json")}`);
  if (runs.some(({ ending }) => ending !== "ok")) process.exitCode = 1;
}

function wordsOf({ words, quickWords }: PlannedBench, quick: boolean): readonly string[] {
  return quick ? (quickWords ?? words) : words;
}

async function runOne(words: readonly string[], deadlineS: number): Promise<BenchRun> {
  const startedAt = new Date();
  const loadBefore = loadavg()[0] ?? 0;
  const child = spawn(process.execPath, [MAIN, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  const lines = kept(child.stdout);
  const notes = kept(child.stderr);
  let isLate = false;
  let killing: NodeJS.Timeout | undefined;
  const ending = setTimeout(() => {
    isLate = true;
    child.kill("SIGTERM");
    killing = setTimeout(() => child.kill("SIGKILL"), END_WITHIN_MS);
  }, deadlineS * 1_000);
  const code = await new Promise<number | null>((done) => child.once("close", done));
  clearTimeout(ending);
  clearTimeout(killing);
  return {
    command: words.join(" "),
    startedAt: startedAt.toISOString(),
    loadBefore,
    seconds: (Date.now() - startedAt.getTime()) / 1_000,
    ending: isLate ? "too late" : code === 0 ? "ok" : "failed",
    lines,
    notes,
  };
}

/** The last lines of a stream, while it runs. */
function kept(stream: NodeJS.ReadableStream): readonly string[] {
  const lines: string[] = [];
  createInterface({ input: stream }).on("line", (line) => {
    lines.push(line);
    if (lines.length > LINES_KEPT) lines.shift();
  });
  return lines;
}

function write(folder: string, report: BenchReport): void {
  writeFileSync(join(folder, "report.json"), `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(join(folder, "report.md"), markdownOf(report));
}

function machine(): MachineConditions {
  const cores = cpus();
  const { version } = JSON.parse(readFileSync(PACKAGE, "utf8")) as { readonly version: string };
  return {
    sonde: version,
    node: process.version,
    processor: cores[0]?.model.trim() ?? "unknown processor",
    cores: cores.length,
    memoryMiB: Math.round(totalmem() / 2 ** 20),
    kernel: release(),
  };
}
