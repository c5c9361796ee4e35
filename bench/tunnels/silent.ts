/** Thousands of WireGuard servers that say nothing, beside checks of ports and websites: what they cost in memory, and in the others' lateness. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { conditions } from "../parts/conditions.ts";
import { ip, SERVER_IP, withLab } from "./frame.ts";
import type { SilentOrder, SilentReport } from "./silent-load.ts";

const LOAD = fileURLToPath(new URL("./silent-load.js", import.meta.url));
/** Routed to the other namespace, which forwards nothing and says nothing. */
const SILENT_NETWORK = "10.78.0.0/16";
/** Half of the silent servers are in flight at a time, and other checks run beside them. */
const ORDER: SilentOrder = { servers: 10_000, inFlight: 5_000, timeoutMs: 10_000, othersPerS: 300, quietS: 5 };
const MOST_MB = 300;
const MOST_LATENESS_MS = 100;

export async function run(): Promise<void> {
  await withLab(async (lab) => {
    ip("-n", lab.client, "route", "add", SILENT_NETWORK, "via", SERVER_IP);
    const { servers, inFlight, timeoutMs, othersPerS } = ORDER;
    console.log(
      `${servers} silent WireGuard servers, ${inFlight} in flight, time-out ${timeoutMs / 1_000} s, beside ${othersPerS} port and http checks a second in the same prober; goal < ${MOST_MB} MB, lateness of the others < ${MOST_LATENESS_MS} ms\n  ${conditions()}`,
    );
    const words = ["netns", "exec", lab.client, process.execPath, ...process.execArgv, LOAD];
    const child = spawn("ip", words, { stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.end(JSON.stringify(ORDER));
    lab.onClose(() => child.kill("SIGKILL"));
    createInterface(child.stdout).on("line", (line) => print(JSON.parse(line)));
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`the load ended with ${code}`);
  });
}

function print({ name, seconds, silent, others, latenessMs, rssMb, cores }: SilentReport): void {
  const verdicts = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([verdict, count]) => `${count} ${verdict}`)
      .join(", ") || "none";
  const { p50, p99, max } = latenessMs;
  console.log(
    `  ${name.padEnd(34)} ${seconds.toFixed(1)} s: silent ${verdicts(silent)}; others ${verdicts(others)}, lateness p50 ${p50} ms, p99 ${p99} ms, max ${max} ms; at most ${rssMb} MB, ${cores.toFixed(2)} cores`,
  );
}
