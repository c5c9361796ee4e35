/** The report of all benches: what ran, under which conditions, and what it printed. Pure. */

export interface MachineConditions {
  readonly sonde: string;
  readonly node: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryMiB: number;
  readonly kernel: string;
}

export interface BenchRun {
  /** As it is typed after `npm run bench --`. */
  readonly command: string;
  readonly startedAt: string;
  /** Load of the machine over the minute before it (proc_loadavg(5)): what else ran makes every figure worse. */
  readonly loadBefore: number;
  readonly seconds: number;
  readonly ending: "ok" | "failed" | "too late";
  /** What it printed: figures and their conditions. */
  readonly lines: readonly string[];
  /** What it said of its progress or of its failure, the last lines of it. */
  readonly notes: readonly string[];
}

export interface BenchReport {
  readonly conditions: MachineConditions;
  readonly runs: readonly BenchRun[];
}

/** Of the progress of a bench that failed. */
const NOTES_SHOWN = 15;

export function markdownOf({ conditions, runs }: BenchReport): string {
  const { sonde, node, processor, cores, memoryMiB, kernel } = conditions;
  const lines = [
    "# Benches of Sonde",
    "",
    `Sonde ${sonde}, Node ${node}, ${processor}, ${cores} cores, ${memoryMiB} MiB, Linux ${kernel}.`,
    "Compare machines by runs in which nothing else ran: the load before each run is beside it.",
    "",
    "| bench | began | load before | took | ended |",
    "| --- | --- | --- | --- | --- |",
    ...runs.map(
      ({ command, startedAt, loadBefore, seconds, ending }) =>
        `| \`${command}\` | ${startedAt} | ${loadBefore.toFixed(2)} | ${Math.round(seconds)} s | ${ending} |`,
    ),
    ...runs.flatMap(sectionOf),
  ];
  return `${lines.join("\n")}\n`;
}

function sectionOf({ command, ending, lines, notes }: BenchRun): readonly string[] {
  const said = ending === "ok" ? lines : [...lines, ...notes.slice(-NOTES_SHOWN)];
  // A longer fence than any inside ends the block where we say.
  const fence = "`".repeat(Math.max(3, ...said.map((line) => (/^`+/.exec(line.trim())?.[0].length ?? 0) + 1)));
  return [
    "",
    `## ${command}`,
    "",
    ...(ending === "ok" ? [] : [`It ${ending === "failed" ? "failed" : "was ended: it took too long"}.`, ""]),
    `${fence}text`,
    ...said,
    fence,
  ];
}
