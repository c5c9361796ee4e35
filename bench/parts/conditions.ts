/** What every figure is printed with: figures without their conditions say nothing. */
import { cpus } from "node:os";
import type { Bench } from "tinybench";

export function conditions(): string {
  const cores = cpus();
  return `node ${process.version}, ${cores[0]?.model.trim() ?? "unknown processor"}, ${cores.length} cores`;
}

/**
 * Prints one line per task of a bench that has run.
 * @param itemsPerRun how many items one call of each task handles
 */
export function printTasks(title: string, bench: Bench, itemsPerRun: number, item: string): void {
  console.log(`\n${title}\n  ${conditions()}; ${itemsPerRun} ${item} per run`);
  for (const task of bench.tasks) {
    const result = task.result;
    if (!("latency" in result)) throw new Error(`${task.name} has no result: ${result.state}`);
    const nsPerItem = (result.latency.p50 * 1e6) / itemsPerRun;
    const perSecond = 1e3 / nsPerItem;
    console.log(
      `  ${task.name.padEnd(44)} p50 ${nsPerItem.toFixed(1).padStart(8)} ns/${item} ${perSecond.toFixed(2).padStart(8)} M/s` +
        `   p99 ${((result.latency.p99 * 1e6) / itemsPerRun).toFixed(1)} ns   ${result.latency.samplesCount} runs`,
    );
  }
}
