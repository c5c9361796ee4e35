/** `npm run bench -- api stalls`: how long one request, the most that it may ask, keeps the API's thread from all others. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conditions } from "../parts/conditions.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "../uptime/service.ts";
import { type StallCase, stallCases } from "./stall-cases.ts";
import { longestDuring, probeWords } from "./watch-stalls.ts";

export interface StallsBenchOptions {
  readonly monitors: number;
  /** Only cases with one of these words in their names. */
  readonly only: readonly string[];
  /** Folder for a CPU profile of each thread; null: none are taken. */
  readonly profileDir: string | null;
}

const GOAL_MS = 50;
const WITHIN_MS = 120_000;

interface Answered {
  readonly status: number;
  readonly text: string;
}

export async function runStalls({ monitors, only, profileDir }: StallsBenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "sonde-bench-"));
  const socket = join(folder, "stalls.sock");
  const profiling = profileDir === null ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`];
  const service = await startServiceUnderTest("127.0.0.1/32", [...probeWords(socket), ...profiling]);
  console.log(
    `api stalls\n  ${conditions()}; ${monitors} monitors; longest stretch of the API's thread, in ms of its processor and of the clock`,
  );
  try {
    for (const one of stallCases(monitors)) {
      if (only.length > 0 && one.applies !== true && !only.some((word) => one.name.includes(word))) continue;
      let answer: Answered | undefined;
      const { longestMs, longestOfProcessorMs } = await longestDuring(socket, async () => {
        answer = one.applies === true ? await applied(service, one) : await asked(service, one);
      });
      const over = longestOfProcessorMs > GOAL_MS ? "  OVER" : "";
      const told = `${longestOfProcessorMs.toFixed(0).padStart(5)} ${longestMs.toFixed(0).padStart(6)}`;
      console.log(`  ${told}  ${one.name.padEnd(48)} ${answer?.status} ${answer?.text.length ?? 0} bytes${over}`);
      // What is hostile may be refused; what only reads must be answered, or its figure says nothing.
      if (answer !== undefined && answer.status >= 400 && one.method === "GET")
        throw new Error(`${one.name} was answered with ${answer.status}: ${answer.text.slice(0, 150)}`);
      if (answer !== undefined && answer.status >= 400) console.log(`         ${answer.text.slice(0, 150)}`);
    }
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function applied(service: ServiceUnderTest, one: StallCase): Promise<Answered> {
  const planned = await asked(service, { ...one, body: { ...one.body, dry_run: true } });
  const { hash } = JSON.parse(planned.text) as { readonly hash: string };
  return asked(service, { ...one, body: { ...one.body, expect: hash } });
}

async function asked({ client, key }: ServiceUnderTest, one: StallCase): Promise<Answered> {
  const { method, path, body, leftAfterMs } = one;
  const url = path.startsWith("//") ? client.url + path.slice(1) : `${client.url}/api/v1${path}`;
  const headers = { "X-API-Key": key, "X-Project-Id": "prj_1", "Content-Type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(url, { method, headers, ...sent, signal: AbortSignal.timeout(leftAfterMs ?? WITHIN_MS) });
  const text = answer.text().catch((error: unknown) => {
    if (leftAfterMs === undefined) throw error;
    return "";
  });
  return { status: answer.status, text: await text };
}
