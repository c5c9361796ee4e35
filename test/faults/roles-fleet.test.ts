/** The fleet of test/faults/fleet.ts under one fault of each kind; `npm run bench -- faults` brings them all, in their whole length. */
import { writeFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { phaseOf } from "../../scheduler/plan/phase.ts";
import { describeWith, missing } from "../prerequisites.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { cleanUp } from "../service.ts";
import { makeTable, type TableSize, tableOf } from "./fleet-table.ts";
import { openLinks } from "./links.ts";
import { wordOfTargets } from "./target-log.ts";
import { expectTruth } from "./truth.ts";

/** What the bench asks for, as JSON. */
const asked = process.env.FLEET === undefined ? {} : (JSON.parse(process.env.FLEET) as Partial<TableSize>);
const SIZE: TableSize = {
  monitors: 60,
  intervalS: 1,
  timeoutS: 3,
  lastsMs: 7_000,
  apis: 2,
  schedulers: 2,
  checkers: 4,
  rounds: 1,
  pauses: 0,
  only: [
    "kill scheduler 1",
    "kill checker any 1",
    "stop scheduler 2",
    "freeze scheduler 2",
    "restart redis",
    "redis away",
    "restart postgres",
    "cut scheduler 1 from redis",
    "cut scheduler 1 from postgres",
    "cut checker any 1 from redis",
    "cut checker de from redis",
    "cut checker de from targets",
  ],
  ...asked,
};

/** Faults under which no target may be asked twice. */
const TELLING = ["kill scheduler", "freeze scheduler", "stop scheduler", "cut scheduler 1 from postgres"];

const links = missing("network namespaces") === undefined ? openLinks() : undefined;
const shared = await startShared(links && { redis: [links.redis], postgres: [links.postgres] });
afterAll(async () => {
  await cleanUp();
  if (!isMissing(shared)) await shared.stop();
  links?.close();
});

it("what a target was asked twice, or not at all, is found in its log", () => {
  const monitor = { intervalS: 1, locations: ["any"], settings: { url: "http://target.test/0" } };
  const fromMs = 1_763_700_000_000;
  const firstMs = fromMs + phaseOf(1, "any", 1_000);
  // Not asked for 7 s, then once for all that was missed.
  const onTime = Array.from({ length: 20 }, (_, turn) => turn * 1_000).filter((ms) => ms < 5_000 || ms >= 12_000);
  const wordOf = (times: readonly number[], late: readonly number[] = []) => {
    const hits = [...times].sort((a, b) => a - b).map((ms) => ({ path: "/0", atMs: firstMs + ms }));
    const rows = late.map((ms) => ({ monitor_id: "1", tested_at_ms: String(firstMs + ms), lateness_ms: ms % 1_000 }));
    return wordOfTargets(new Map([[1, monitor]]), hits, rows, firstMs, firstMs + 20_000);
  };
  const seen = { pool: { due: 20, asked: 14, gapMs: 6_800 }, other: { due: 0, asked: 0, gapMs: 0 } };
  expect(wordOf([...onTime, 11_800])).toEqual({ ...seen, twice: 0, again: 0 });
  expect(wordOf([...onTime, 11_800, 15_100])).toEqual({ ...seen, twice: 1, again: 0 });
  // A result that was stored says that its check was late: its due time had been asked on time.
  expect(wordOf([...onTime, 11_800, 15_950, 17_100], [11_798, 15_940])).toEqual({ ...seen, twice: 1, again: 1 });
});

describeWith(["network namespaces"], "two APIs, two schedulers, four checkers", () => {
  withServer("lose and double nothing", shared, (servers) => {
    it("lose and double nothing, and call nothing down, whatever befalls them", { timeout: 3_600_000 }, async () => {
      if (links === undefined) throw new Error("there are no links");
      const { lines, paused, incidents, rows, plane, projectId } = await makeTable(servers, links, SIZE);
      try {
        console.info(`\n${SIZE.monitors} monitors every ${SIZE.intervalS} s\n${tableOf(lines)}`);
        if (SIZE.pauses > 0) console.info(paused);
        if (process.env.FLEET_FILE !== undefined) writeFileSync(process.env.FLEET_FILE, JSON.stringify(lines, null, 2));
        expect(lines.length).toBeGreaterThan(0);
        for (const line of lines) {
          expect(line).toMatchObject({ lost: 0, doubled: 0, down: 0 });
          // A run of which Redis did not say whether it arrived is sent again. Without that no target is asked by two schedulers.
          if (TELLING.some((words) => line.fault.startsWith(words))) expect(line).toMatchObject({ twice: 0 });
        }
        expect(paused).toMatchObject({ takenOver: 0, asked: 0 });
        expect(incidents).toBe(0);
        await expectTruth(plane, projectId, rows);
      } finally {
        await plane.close();
      }
    });
  });
});
