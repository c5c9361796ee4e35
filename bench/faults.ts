/** `bench -- faults`: the fault test of the roles in its whole size. The test is what measures, so that both say the same. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface FaultsOptions {
  readonly monitors: number;
  readonly intervalS: number;
  readonly timeoutS: number;
  readonly lastsMs: number;
  readonly apis: number;
  readonly schedulers: number;
  readonly checkers: number;
  readonly rounds: number;
  readonly pauses: number;
  /** Words in the names of the faults; all when empty. */
  readonly only: readonly string[];
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SUITE = "test/faults/roles-fleet.test.ts";

export async function runFaults(options: FaultsOptions): Promise<void> {
  // The suite first: a word after a switch would be taken for its value.
  const words = ["vitest", "run", SUITE, "--retry=0", "--disable-console-intercept"];
  const child = spawn("npx", words, {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, FLEET: JSON.stringify(options) },
  });
  const [code] = await once(child, "exit");
  process.exitCode = code === 0 ? 0 : 1;
}
