/** The rules on the sink's hot path: a check judged, merged and stepped through its incident. */
import { Bench } from "tinybench";
import { createResultIds } from "../../model/ids.ts";
import { incidentStep, type OpenIncident } from "../../model/incident.ts";
import { applyCheck, type JudgedMonitor, type JudgedOutcome, newLiveState } from "../../model/live.ts";
import type { LiveState } from "../../model/status.ts";
import type { Verdict } from "../../model/verdict.ts";
import { printTasks } from "./conditions.ts";

const MONITORS = 5_000;
/** One check in a hundred fails, as in the end-to-end bench. */
const FAILING_EVERY = 100;

function outcome(verdict: Verdict): JudgedOutcome {
  return {
    verdict,
    startedAtMs: 1_763_700_000_000,
    latenessMs: 1,
    latencyMs: verdict === "ok" ? 12 : null,
    connectMs: null,
    peerAnswered: true,
    message: verdict === "ok" ? null : "HTTP 503 is not accepted",
    certificate: null,
  };
}

const PASSED = outcome("ok");
const FAILED = outcome("rejected");

function addTask(bench: Bench, name: string, locations: readonly string[]): void {
  const monitor: JudgedMonitor = { kind: "http", maxRetries: 2, locations, disabledLocations: [] };
  const lives: LiveState[] = Array.from({ length: MONITORS }, (_, i) => newLiveState(i + 1));
  const open: (OpenIncident | null)[] = new Array<OpenIncident | null>(MONITORS).fill(null);
  let turn = 0;
  bench.add(name, () => {
    turn += 1;
    const location = locations[turn % locations.length] ?? "any";
    for (let i = 0; i < MONITORS; i++) {
      const before = lives[i] as LiveState;
      const checked = (i + turn) % FAILING_EVERY === 0 ? FAILED : PASSED;
      const { live, row } = applyCheck(before, monitor, location, checked, false);
      const check = { location, outcome: checked, errorCategory: row.error_category, inMaintenance: false };
      open[i] = incidentStep(open[i] ?? null, monitor, before, live, check).open;
      lives[i] = live;
    }
  });
}

export async function run(): Promise<void> {
  const bench = new Bench({ time: 1_000, warmupTime: 300 });
  addTask(bench, "judge, merge, incident: one location", ["any"]);
  addTask(bench, "judge, merge, incident: five locations", ["de", "nl", "us", "fr", "gb"]);
  const nextId = createResultIds(0);
  let nowMs = 1_763_700_000_000;
  bench.add("ids of rows", () => {
    nowMs += 1_000;
    for (let i = 0; i < MONITORS; i++) nextId(nowMs);
  });
  await bench.run();
  printTasks("rules, 1 % of the checks failing", bench, MONITORS, "check");
}
