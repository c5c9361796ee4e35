/** The checker of test/fixtures/checker.mjs, driven from a test. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { CheckSpec } from "../engine/check.ts";

const CHECKER = new URL("./fixtures/checker.mjs", import.meta.url);
const BUILT = new URL("../dist/engine/pool.js", import.meta.url);

export interface CheckerReport {
  readonly probers: number;
  readonly isCut: boolean;
  /** Spec keys. */
  readonly inFlight: readonly number[];
  /** By spec key, then by verdict. */
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface CheckerOrder {
  readonly specs: readonly CheckSpec[];
  /** Length of a round. */
  readonly everyMs: number;
  readonly allowNets: readonly string[];
}

export interface Checker {
  readonly child: ChildProcess;
  until(holds: (report: CheckerReport) => boolean): Promise<CheckerReport>;
  close(): void;
}

/** @param within the command that runs it elsewhere, such as `ip netns exec <name>` */
export function startChecker(order: CheckerOrder, within: readonly string[] = []): Checker {
  if (!existsSync(BUILT)) throw new Error("dist is missing: run `npm run build` first");
  const [command = process.execPath, ...args] = [...within, process.execPath, fileURLToPath(CHECKER)];
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write(`${JSON.stringify(order)}\n`);
  let latest: CheckerReport = { probers: 0, isCut: false, inFlight: [], counts: {} };
  let look = () => {};
  createInterface(child.stdout).on("line", (line) => {
    latest = JSON.parse(line);
    look();
  });
  return {
    child,
    until: (holds) =>
      new Promise((resolve) => {
        look = () => {
          if (holds(latest)) resolve(latest);
        };
        look();
      }),
    close: () => {
      child.kill("SIGKILL");
    },
  };
}

/** Verdicts of some specs together. */
export function sum(report: CheckerReport, keys: readonly number[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const key of keys) {
    for (const [verdict, count] of Object.entries(report.counts[key] ?? {})) {
      total[verdict] = (total[verdict] ?? 0) + count;
    }
  }
  return total;
}
