/** The fleet of test/faults/fleet.ts; `npm run bench -- faults` runs it whole, this suite a part that fits its time. */
import { writeFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { cleanUp } from "../service.ts";
import { type FleetSize, runFleet, tableOf } from "./fleet.ts";
import { expectTruth } from "./truth.ts";

/** What the bench asks for, as JSON; a scheduler and a checker killed otherwise. */
const asked = process.env.FLEET === undefined ? {} : (JSON.parse(process.env.FLEET) as Partial<FleetSize>);
const SIZE: FleetSize = {
  monitors: 200,
  intervalS: 5,
  only: ["kill scheduler 1", "kill checker de"],
  freezeMs: 30_000,
  ...asked,
};

const shared = await startShared();
afterAll(async () => {
  await cleanUp();
  if (!isMissing(shared)) await shared.stop();
});

withServer("two APIs, two schedulers, three checkers", shared, (servers) => {
  it("lose and double nothing, and call nothing down, whichever of them dies", { timeout: 3_600_000 }, async () => {
    const { lines, incidents, rows, plane, projectId } = await runFleet(servers, SIZE);
    try {
      console.info(`\n${SIZE.monitors} monitors every ${SIZE.intervalS} s\n${tableOf(lines)}`);
      if (process.env.FLEET_FILE !== undefined) writeFileSync(process.env.FLEET_FILE, JSON.stringify(lines, null, 2));
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) expect(line).toMatchObject({ lost: 0, doubled: 0, down: 0 });
      expect(incidents).toBe(0);
      await expectTruth(plane, projectId, rows);
    } finally {
      await plane.close();
    }
  });
});
