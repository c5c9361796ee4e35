import { expect, it } from "vitest";
import type { RowStatus } from "../model/status.ts";
import { RecentRows } from "../store/recent/recent-rows.ts";
import type { CheckedMonitor } from "../store/sql/monitors/port.ts";
import { KnownMonitors } from "./known-monitors.ts";

const ID = 7;
const DOWNTIME = { down: [], pauseEvents: [], knownFromMs: 0 };

/** A process in which a scheduler's rows arrive when it catches up. */
function world() {
  const at = { nowMs: 1_000, generation: 1, number: 0, seq: 0 };
  const rows = new RecentRows({ maxBytes: 1_000_000, nowMs: () => at.nowMs });
  const underWay: (() => void)[] = [];
  const auth = { generation: () => at.generation };
  const catchUp = (): void => {
    for (const arrive of underWay.splice(0)) arrive();
  };
  const publish = (status: RowStatus): void => {
    at.seq += 1;
    const number = ++at.number;
    const measured = { latencyMs: 1, connectMs: null, errorMessage: null, testedAtMs: at.nowMs };
    const row = {
      monitorId: ID,
      projectId: 1,
      seq: at.seq,
      id: `1${at.seq}`,
      kind: "ping",
      status,
      ...measured,
    } as const;
    underWay.push(() => rows.take({ publisher: "p", number, rows: [{ ...row, liveStatus: status }], refused: [] }));
  };
  const found = (seq = at.seq): CheckedMonitor => ({
    ...{ id: ID, projectId: 1, name: "Shop", createdAtMs: 0, seq },
    latest: {
      ...{ monitorId: ID, kind: "ping", lastRowId: `1${seq}`, lastRowStatus: "healthy" },
      ...{ lastCheckedAtMs: 0, latencyMs: 1, connectMs: null, errorMessage: null },
    },
  });
  return { at, rows, publish, found, known: new KnownMonitors({ auth, rows, catchUp }), auth };
}

it("knows a monitor while its status, the generation and memory stay, whatever checks come, for half a minute", () => {
  const { at, publish, found, known } = world();
  publish("healthy");
  known.keep(found(), DOWNTIME, 1, at.nowMs);
  const kept = { monitor: { id: ID, projectId: 1, seq: 1, latest: undefined }, name: "Shop", downtime: DOWNTIME };
  expect(known.find(1, ID, at.nowMs)).toMatchObject(kept);
  for (let n = 0; n < 5; n++) publish("healthy");
  expect(known.find(1, ID, at.nowMs)).toMatchObject(kept);
  expect([
    known.find(2, ID, at.nowMs),
    known.find(1, 8, at.nowMs),
    known.find(1, ID, 31_000),
    known.find(1, ID, 999),
  ]).toEqual([undefined, undefined, undefined, undefined]);
  expect(known.find(1, ID, 30_999)).toMatchObject(kept);
  at.generation = 2;
  expect(known.find(1, ID, at.nowMs)).toBeUndefined();
});

it("does not know its incidents any more when its status may have changed, though the row is still under way", () => {
  const { at, rows, publish, found, known } = world();
  publish("healthy");
  known.keep(found(), DOWNTIME, 1, at.nowMs);
  publish("down");
  publish("healthy");
  expect(known.find(1, ID, at.nowMs)?.downtime).toBeNull();
  known.keep(found(), DOWNTIME, 1, at.nowMs);
  expect(known.find(1, ID, at.nowMs)?.downtime).toBe(DOWNTIME);
  rows.missed();
  expect(known.find(1, ID, at.nowMs)?.downtime).toBeNull();
  rows.forget(ID);
  expect(known.find(1, ID, at.nowMs)).toBeUndefined();
});

it("keeps nothing that is of another generation, that SQL is behind with, or whose rows may be under way", () => {
  const { at, rows, publish, found, known, auth } = world();
  known.keep(found(), DOWNTIME, 1, at.nowMs);
  publish("healthy");
  known.keep(found(), DOWNTIME, 0, at.nowMs);
  publish("healthy");
  known.keep(found(1), DOWNTIME, 1, at.nowMs);
  expect(known.find(1, ID, at.nowMs)).toBeUndefined();
  const apart = new KnownMonitors({ auth, rows, catchUp: undefined });
  apart.keep(found(), DOWNTIME, 1, at.nowMs);
  expect(apart.find(1, ID, at.nowMs)).toBeUndefined();
});
