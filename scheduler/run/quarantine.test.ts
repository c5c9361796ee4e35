import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createFingerprint } from "../../engine/contract/fingerprint.ts";
import type { CheckRun, CheckSpec } from "../../engine/contract/messages.ts";
import type { Probers } from "../../engine/pool/probers.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { SchedulerQuarantine } from "./quarantine.ts";

const HOUR_MS = 3_600_000;
const REASON = "hangs in native code";

let dir: string;
let plane: ControlPlane;
beforeEach(async () => {
  dir = temporaryFolder();
  plane = await openControlPlane({ file: join(dir, "control.sqlite") }, { role: "api" });
});
afterEach(async () => {
  await plane.close();
});

/** Remembers what it was given last; one like it for each process. */
function start(store: Pick<ControlPlane, "quarantine"> = plane) {
  const defined = new Map<number, CheckSpec>();
  const runs: number[] = [];
  const inner: Probers = {
    define: (specs) => {
      for (const spec of specs) defined.set(spec.key, spec);
    },
    forget: (keys) => {
      for (const key of keys) defined.delete(key);
    },
    run: (sent) => {
      for (const { checkId } of sent) runs.push(checkId);
    },
    size: 1,
    inFlight: 0,
    overBudget: 0,
    close: async () => {},
  };
  const clock = { nowMs: 1_000_000 };
  let struck = 0;
  const keeper = new SchedulerQuarantine({
    store: store.quarantine,
    fingerprint: createFingerprint("the same in every process"),
    nowMs: () => clock.nowMs,
    log: { warn: () => {}, error: () => {} },
    onStruck: () => {
      struck++;
    },
  });
  return { keeper, probers: keeper.guard(inner), defined, runs, clock, struck: () => struck };
}

const spec = (key: number, config = key): CheckSpec => ({
  key,
  kind: "openvpn",
  settings: { config: `${config}`, password: "secret" },
  timeoutMs: 1_000,
});
const run = (checkId: number, specKey = checkId): CheckRun => ({
  checkId,
  specKey,
  dueAtMs: 0,
  alone: false,
  place: {
    location: "de",
    home: 7,
    elsewhere: false,
    expiresAtMs: 0,
    host: null,
    wasHealthy: false,
    account: null,
  },
});

describe("SchedulerQuarantine", () => {
  test("what brought a prober down is run by no one: not again, not under another key, not by another process", async () => {
    const one = start();
    one.probers.define([spec(1), spec(2)]);
    one.probers.run([run(1), run(2)]);
    expect(one.defined.get(1)).toEqual(spec(1));
    one.keeper.harmed(run(1), { spec: spec(1), configId: null, reason: REASON });
    one.probers.define([spec(3, 1)]);
    one.probers.run([run(11, 1), run(12, 2), run(13, 3)]);
    // It is still given its runs, and answers them without running anything.
    expect(one.runs).toEqual([1, 2, 11, 12, 13]);
    for (const key of [1, 3]) {
      expect(one.defined.get(key)).toMatchObject({ key, settings: {}, revision: 1 });
      expect(one.defined.get(key)?.fault).toMatch(/quarantined until .*hangs in native code/);
    }
    expect(one.defined.get(2)).toEqual(spec(2));
    await expect.poll(one.struck).toBe(1);
    const other = start();
    await other.keeper.refresh();
    other.probers.define([spec(9, 1)]);
    other.probers.run([run(90, 9)]);
    expect(other.defined.get(9)?.fault).toMatch(/quarantined/);
    expect(await plane.quarantine.all()).toMatchObject([
      { kind: "openvpn", reason: REASON, strikes: 1, monitorId: 7, location: "de" },
    ]);
    expect(JSON.stringify(await plane.quarantine.all())).not.toContain("secret");
  });

  test("is run again when its time is over, or when the operator lifts it", async () => {
    const { keeper, probers, defined, clock, struck } = start();
    probers.define([spec(1), spec(2)]);
    for (const key of [1, 2]) keeper.harmed(run(key), { spec: spec(key), configId: null, reason: REASON });
    await expect.poll(struck).toBe(2);
    probers.run([run(1), run(2)]);
    expect([defined.get(1)?.fault, defined.get(2)?.fault].every((fault) => fault !== undefined)).toBe(true);
    const [{ id } = { id: 0 }] = await plane.quarantine.held(clock.nowMs);
    await plane.quarantine.lift(id);
    await keeper.refresh();
    probers.run([run(1), run(2)]);
    expect(defined.get(1)).toEqual({ ...spec(1), revision: 2 });
    expect(defined.get(2)?.fault).toBeDefined();
    clock.nowMs += HOUR_MS;
    probers.run([run(2)]);
    expect(defined.get(2)).toEqual({ ...spec(2), revision: 2 });
    // Once more: longer.
    keeper.harmed(run(2), { spec: spec(2), configId: null, reason: REASON });
    await expect.poll(struck).toBe(3);
    await keeper.refresh();
    clock.nowMs += 2 * HOUR_MS;
    probers.run([run(2)]);
    expect(defined.get(2)?.fault).toBeDefined();
  });

  test("a monitor of many configs loses the one that did it", () => {
    const { keeper, probers, defined } = start();
    const config = (id: number) => ({ id, kind: "vless", settings: { server: id } }) as const;
    const group = (key: number, ...ids: number[]): CheckSpec => ({
      ...spec(key),
      settings: {},
      configs: ids.map(config),
    });
    probers.define([group(1, 11, 12), group(2, 12, 13), group(3, 11)]);
    keeper.harmed(run(1), { spec: group(1, 11, 12), configId: 12, reason: REASON });
    probers.run([run(1), run(2), run(3)]);
    const faults = (key: number) => defined.get(key)?.configs?.map(({ fault }) => fault !== undefined);
    expect([faults(1), faults(2), faults(3)]).toEqual([[false, true], [true, false], [false]]);
    expect(defined.get(1)?.configs?.[1]?.settings).toEqual({});
    expect(defined.get(1)?.fault).toBeUndefined();
  });

  test("a store that is away costs nothing that is known, and hears of it later", async () => {
    let isAway = true;
    const store: Pick<ControlPlane, "quarantine"> = {
      quarantine: {
        ...plane.quarantine,
        strike: (harm, nowMs) => (isAway ? Promise.reject(new Error("away")) : plane.quarantine.strike(harm, nowMs)),
      },
    };
    const { keeper, probers, defined, clock } = start(store);
    probers.define([spec(1)]);
    keeper.harmed(run(1), { spec: spec(1), configId: null, reason: REASON });
    await keeper.refresh();
    probers.run([run(1)]);
    expect(defined.get(1)?.fault).toBeDefined();
    expect(await plane.quarantine.all()).toEqual([]);
    isAway = false;
    await keeper.refresh();
    expect(await plane.quarantine.held(clock.nowMs)).toHaveLength(1);
    probers.run([run(1)]);
    expect(defined.get(1)?.fault).toBeDefined();
  });
});
