/** Changes of plan, and what they do to monitors. */
import { describe, expect, it } from "vitest";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { PLANS } from "../../model/plan.ts";
import { holdsSlot } from "../../model/plan-fit.ts";
import { SlotsFullError } from "../../store/sql/monitors/port.ts";
import {
  ADA,
  type Another,
  batch,
  EVERYTHING,
  type Ground,
  liveOf,
  make,
  NOW_MS,
  newHeartbeat,
  newMonitor,
  opening,
} from "./ground.suite.ts";

const TWO_SLOTS = { ...PLANS, starter: { ...PLANS.starter, tunnelSlots: 2 } };

async function reasonsOf({ plane }: Ground, ids: readonly number[]): Promise<readonly string[]> {
  const found = await Promise.all(ids.map((id) => plane.monitors.recall(id)));
  return found.map((row) => row?.monitor.pauseReasons.join("+") ?? "gone");
}

export function planChangeTests(currentGround: () => Ground, another: Another): void {
  describe("plans", () => {
    it("raise intervals and periods below the shortest, with history, and tell the plan", async () => {
      const ground = currentGround();
      const { plane, organizationId, projectId } = ground;
      const fast = await make(ground, { intervalS: 30 });
      const slow = await make(ground, { intervalS: 3_600 });
      const push = await plane.monitors.create(newHeartbeat(ground, { settings: { period: 60 }, intervalS: 60 }), ADA);
      const { generation } = await plane.monitors.changedSince(Number.POSITIVE_INFINITY);
      const effects = await plane.plans.setPlan(organizationId, "starter", PLANS, NOW_MS + 9);
      expect(effects).toEqual({ raised: 2, paused: 0, resumed: 0 });
      expect((await plane.accounts.workspace(organizationId))?.plan).toBe("starter");
      const seen = await plane.monitors.changedSince(generation);
      expect(seen.changed.map(({ monitor }) => [monitor.id, monitor.intervalS])).toEqual([
        [fast, 180],
        [push.id, 180],
      ]);
      expect((await plane.monitors.find(projectId, push.id))?.monitor.settings).toEqual({ period: 180 });
      expect((await plane.monitors.find(projectId, slow))?.monitor.updatedAtMs).toBe(NOW_MS);
      const [entry] = (await plane.history.list(fast, 5, 0)).rows;
      expect(entry).toMatchObject({ message: "Updated interval", actor: SYSTEM_ACTOR, atMs: NOW_MS + 9 });
      expect(await plane.plans.setPlan(organizationId, "starter", PLANS, NOW_MS)).toEqual({
        raised: 0,
        paused: 0,
        resumed: 0,
      });
      expect(await plane.plans.setPlan(999, "pro", PLANS, NOW_MS)).toBeUndefined();
    });

    it("raise the interval of a subscription with those of its monitors, and keep what is sealed", async () => {
      const ground = currentGround();
      const { plane, organizationId, projectId } = ground;
      const { id: subscriptionId } = await plane.subscriptions.create({
        projectId,
        organizationId,
        name: null,
        urlSealed: "sealed url",
        urlHash: "hash",
        syncIntervalS: 60,
        timeoutS: 30,
        maxWorkers: 50,
        configAlertPercent: 50,
        enabled: true,
        nowMs: NOW_MS,
      });
      const sealed = "sealed settings";
      const imported = await make(ground, { kind: "vless", intervalS: 60, subscriptionId, sealed });
      await plane.plans.setPlan(organizationId, "free", PLANS, NOW_MS + 1);
      expect((await plane.subscriptions.find(projectId, subscriptionId))?.syncIntervalS).toBe(300);
      expect((await plane.monitors.find(projectId, imported))?.monitor.intervalS).toBe(300);
      expect((await plane.monitors.recall(imported))?.monitor.sealed).toBe(sealed);
    });

    it("pause tunnels beyond the slots, newest first, and let the oldest return", async () => {
      const ground = currentGround();
      const { plane, organizationId, projectId } = ground;
      const second = (await plane.accounts.createProject(organizationId, "Second", NOW_MS))?.id ?? 0;
      const ids: number[] = [];
      for (const [index, project] of [projectId, second, projectId, second, projectId].entries()) {
        const kind = index % 2 === 0 ? ("wireguard" as const) : ("vless" as const);
        ids.push(await make(ground, { kind, projectId: project, intervalS: 300, nowMs: NOW_MS + 10 - index }));
      }
      const web = await make(ground, { intervalS: 300 });
      // The last made is the oldest: times decide, not ids.
      const [a = 0, b = 0, c = 0, d = 0, e = 0] = ids;
      await plane.monitors.update(projectId, e, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      await plane.sink.apply(batch(1, { incidents: [opening(a)] }));
      expect(await plane.plans.setPlan(organizationId, "starter", TWO_SLOTS, NOW_MS + 20)).toEqual({
        raised: 0,
        paused: 3,
        resumed: 0,
      });
      expect(await reasonsOf(ground, [a, b, c, d, e, web])).toEqual(["plan", "plan", "plan", "", "user", ""]);
      const [paused] = (await plane.history.list(a, 5, 0)).rows;
      expect(paused).toMatchObject({ type: "paused", message: "Monitoring paused", actor: SYSTEM_ACTOR });
      const [incident] = await plane.incidents.list(projectId, { monitorId: a, limit: 5 });
      expect(incident).toBeUndefined();

      const three = { ...TWO_SLOTS, pro: { ...PLANS.pro, tunnelSlots: 3 } };
      expect(await plane.plans.setPlan(organizationId, "pro", three, NOW_MS + 30)).toEqual({
        raised: 0,
        paused: 0,
        resumed: 1,
      });
      expect(await reasonsOf(ground, [a, b, c, d, e])).toEqual(["plan", "plan", "", "", "user"]);
      expect((await plane.history.list(c, 5, 0)).rows[0]).toMatchObject({ type: "resumed", actor: SYSTEM_ACTOR });
      await plane.plans.setPlan(organizationId, "business", PLANS, NOW_MS + 40);
      expect(await reasonsOf(ground, [a, b, c, d, e])).toEqual(["", "", "", "", "user"]);
      const [open] = await plane.incidents.list(projectId, { monitorId: a, limit: 5 });
      const events = open === undefined ? [] : (await plane.incidents.events(open.id, 9, 0)).rows;
      expect(events.map(({ type }) => type)).toEqual(["opened", "monitor_paused", "monitor_resumed"]);
    });

    it("agree with tunnels made, monitors changed and checks applied meanwhile", async () => {
      const ground = currentGround();
      const { plane, organizationId, projectId } = ground;
      const second = await another("api");
      const sink = await another("sink");
      try {
        const ids: number[] = [];
        for (let index = 0; index < 10; index++) ids.push(await make(ground, { name: `web ${index}` }));
        const work: Promise<unknown>[] = [];
        for (let round = 1; round <= 10; round++) {
          const plan = round % 2 === 0 ? ("business" as const) : ("starter" as const);
          work.push(plane.plans.setPlan(organizationId, plan, TWO_SLOTS, NOW_MS + round));
          const tunnel = newMonitor(ground, { name: `t${round}`, kind: "wireguard", nowMs: NOW_MS + round });
          work.push(
            second.monitors
              .create(tunnel, ADA, 2)
              .catch((error: unknown) => expect(error).toBeInstanceOf(SlotsFullError)),
          );
          const id = ids[round % ids.length] ?? 0;
          work.push(second.monitors.update(projectId, id, NOW_MS, ADA, () => ({ intervalS: 30 + round })));
          const live = ids.map((monitorId) => liveOf(monitorId, { seq: round }));
          work.push(sink.sink.apply(batch(round, { live, incidents: [opening(id)] })));
        }
        await Promise.all(work);
        await plane.plans.setPlan(organizationId, "starter", TWO_SLOTS, NOW_MS + 99);
        const { rows } = await plane.monitors.list(projectId, EVERYTHING);
        const held = rows.filter(({ monitor }) => holdsSlot(monitor));
        expect(held.length).toBeLessThanOrEqual(2);
        expect(held.length).toBeGreaterThan(0);
        for (const { monitor } of rows) expect(monitor.intervalS).toBeGreaterThanOrEqual(180);
      } finally {
        await second.close();
        await sink.close();
      }
    });

    it("suspend everything, and restore what they paused, other reasons kept", async () => {
      const ground = currentGround();
      const { plane, organizationId, projectId } = ground;
      const web = await make(ground, { intervalS: 300 });
      const off = await make(ground, { intervalS: 300, pauseReasons: ["user"], pausedAtMs: NOW_MS });
      const tunnel = await make(ground, { kind: "trojan", intervalS: 300 });
      const elsewhere = await plane.accounts.createWorkspace({
        name: "Other",
        plan: "pro",
        projectName: "P",
        owner: ground.userId,
        nowMs: NOW_MS,
      });
      const foreign = await make(ground, {
        organizationId: elsewhere?.organizationId ?? 0,
        projectId: elsewhere?.projectId ?? 0,
      });
      expect(await plane.plans.setSuspended(organizationId, true, PLANS, NOW_MS)).toMatchObject({ paused: 2 });
      expect((await plane.accounts.workspace(organizationId))?.suspended).toBe(true);
      expect(await reasonsOf(ground, [web, off, tunnel, foreign])).toEqual(["plan", "user+plan", "plan", ""]);
      // A larger plan does not end a suspension.
      await plane.plans.setPlan(organizationId, "business", PLANS, NOW_MS);
      expect(await reasonsOf(ground, [web, off, tunnel])).toEqual(["plan", "user+plan", "plan"]);
      expect((await plane.monitors.list(projectId, { ...EVERYTHING, activeOnly: true })).total).toBe(0);
      const none = { ...PLANS, business: { ...PLANS.business, tunnelSlots: 0 } };
      expect(await plane.plans.setSuspended(organizationId, false, none, NOW_MS)).toMatchObject({ resumed: 1 });
      expect(await reasonsOf(ground, [web, off, tunnel])).toEqual(["", "user", "plan"]);
      expect(await plane.plans.setSuspended(999, true, PLANS, NOW_MS)).toBeUndefined();
    });
  });
}
