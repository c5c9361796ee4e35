/** `bench -- documents`: the plan of a document of many monitors and its apply, in a service of its own: wall time, and what the service's processes spend. */
import { conditions } from "../parts/conditions.ts";
import { percentile } from "../statistics.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "../uptime/service.ts";

export interface DocumentsBenchOptions {
  readonly monitors: number;
  readonly rounds: number;
  readonly profileDir: string | null;
}

interface Planned {
  readonly hash: string;
  readonly changes: readonly { readonly act: string; readonly fields: readonly { readonly field: string }[] }[];
  readonly unchanged: number;
  readonly refused: readonly object[];
}

interface Cost {
  readonly wallS: number;
  readonly cpuS: number;
}

const WITHIN_MS = 180_000;
/** Seconds: a person waits for a plan, a pipeline for an apply. */
const MOST_PLAN_S = 3;
const MOST_APPLY_S = 10;

export async function runDocuments({ monitors, rounds, profileDir }: DocumentsBenchOptions): Promise<void> {
  const nodeArgs = profileDir === null ? [] : ["--cpu-prof", "--cpu-prof-dir", profileDir];
  const service = await startServiceUnderTest("127.0.0.1/32", nodeArgs);
  console.log(`documents: ${monitors} websites in one, each with nine fields\n  ${conditions()}`);
  try {
    const first = documentOf(monitors, 0);
    await measured(service, "plan of all new", first, rounds, { create: monitors });
    await applied(service, "apply of all new", first);
    await measured(service, "plan of nothing to do", first, rounds, {});
    const second = documentOf(monitors, 1);
    await measured(service, "plan of three fields of each changed", second, rounds, { change: monitors });
    await applied(service, "apply of three fields of each changed", second);
    const few = documentOf(monitors, 1, 3);
    await measured(service, "plan of three fields of three monitors", few, rounds, { change: 3 });
    await applied(service, "apply of three fields of three monitors", few);
  } finally {
    await service.stop();
  }
}

/** @param version of three of the fields @param isNext how many monitors have the next version */
function documentOf(monitors: number, version: number, isNext = 0): string {
  const lines = ["sonde: 1", "name: bench", "monitors:"];
  for (let at = 0; at < monitors; at++) {
    const here = at < isNext ? version + 1 : version;
    lines.push(
      `  web-${at}:`,
      `    type: keyword`,
      `    name: Website ${at} of the bench`,
      `    url: https://w${at}.test-site.org/health?of=${here}`,
      `    keyword: In stock ${here}`,
      `    interval: ${300 + 60 * here}`,
      `    timeout: 20`,
      `    maxretries: 2`,
      `    active: false`,
      `    tags: [bench, t${at % 20}]`,
    );
  }
  return `${lines.join("\n")}\n`;
}

async function measured(
  service: ServiceUnderTest,
  name: string,
  document: string,
  rounds: number,
  acts: Readonly<Record<string, number>>,
): Promise<void> {
  const costs: Cost[] = [];
  for (let round = 0; round < rounds; round++) {
    const { answer, cost } = await asked(service, { document, dry_run: true });
    const counts: Record<string, number> = {};
    for (const { act } of answer.changes) counts[act] = (counts[act] ?? 0) + 1;
    if (JSON.stringify(counts) !== JSON.stringify(acts) || answer.refused.length > 0)
      throw new Error(`${name}: ${JSON.stringify(counts)}, ${answer.refused.length} refused`);
    costs.push(cost);
  }
  tell(name, costs, MOST_PLAN_S);
}

async function applied(service: ServiceUnderTest, name: string, document: string): Promise<void> {
  const { answer } = await asked(service, { document, dry_run: true });
  const { cost } = await asked(service, { document, expect: answer.hash });
  tell(name, [cost], MOST_APPLY_S);
}

async function asked(
  { client, use }: ServiceUnderTest,
  body: object,
): Promise<{ readonly answer: Planned; readonly cost: Cost }> {
  const [cpuS, startedAtMs] = [use().cpuS, performance.now()];
  const answer = await client.post<Planned>("/apply", body, WITHIN_MS);
  return { answer, cost: { wallS: (performance.now() - startedAtMs) / 1_000, cpuS: use().cpuS - cpuS } };
}

function tell(name: string, costs: readonly Cost[], most: number): void {
  const of = (values: readonly number[]): string =>
    `${percentile([...values], 0.5).toFixed(2)} s${costs.length > 1 ? ` (${Math.max(...values).toFixed(2)})` : ""}`;
  const wall = costs.map(({ wallS }) => wallS);
  const verdict = percentile([...wall], 0.5) <= most ? "within" : "OVER";
  console.log(
    `  ${name.padEnd(42)} ${of(wall).padStart(16)}, processor ${of(costs.map(({ cpuS }) => cpuS)).padStart(16)}   ${verdict} ${most} s`,
  );
}
