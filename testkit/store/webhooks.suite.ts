/** Webhooks: from the event in its transaction to the log of its attempts. */
import { describe, expect, it } from "vitest";
import { EVENT_TYPES, type EventType } from "../../model/event.ts";
import { OFF_AFTER_MS, RETRY_DELAYS_MS } from "../../model/webhook.ts";
import { LeaseLost, SENDER_LEASE } from "../../store/sql/coordination/leases-port.ts";
import type { DueDelivery, EndedAttempt } from "../../store/sql/webhooks/port.ts";
import { ADA, type Another, batch, type Ground, liveOf, make, NOW_MS, opening, WHY } from "./ground.suite.ts";

interface Body {
  readonly type: EventType;
  readonly timestamp: string;
  readonly data: Record<string, unknown>;
}

async function hear(
  { plane, projectId }: Ground,
  events: readonly EventType[] | null = null,
  url = "https://hooks.test-site.org/a",
): Promise<number> {
  const input = { projectId, url, events, secretSealed: "sealed", nowMs: NOW_MS };
  return (await plane.webhooks.create(input))?.id ?? 0;
}

async function hold({ plane }: Ground): Promise<number> {
  const seen = await plane.leases.read(SENDER_LEASE);
  return (await plane.leases.take(SENDER_LEASE, "test", seen)) ?? 0;
}

/** Everything that waits to be sent, oldest first. */
async function waiting(ground: Ground, epoch: number, nowMs = NOW_MS): Promise<readonly DueDelivery[]> {
  const { outgoing } = ground.plane;
  await outgoing.fanOut(epoch, { limit: 100, nowMs });
  const lanes = await Promise.all(
    [false, true].map((failing) => outgoing.due({ nowMs, failing, perWebhook: 100, webhooks: 100, except: [] })),
  );
  return lanes.flat();
}

async function bodies(ground: Ground): Promise<readonly Body[]> {
  return (await waiting(ground, await hold(ground))).map(({ body }) => JSON.parse(body) as Body);
}

function ended(delivery: DueDelivery, statusCode: number | null, atMs: number): EndedAttempt {
  const { id: deliveryId, webhookId } = delivery;
  const error = statusCode === null ? "ECONNREFUSED" : statusCode < 300 ? null : `HTTP ${statusCode}`;
  return { deliveryId, webhookId, statusCode, error, atMs, durationMs: 2.5, random: 0.5 };
}

export function webhookTests(currentGround: () => Ground, another: Another): void {
  describe("webhooks", () => {
    it("tells of each pause and resume once, with the status before and who did it", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      await hear(ground);
      const id = await make(ground);
      await plane.sink.apply(batch(1, { live: [liveOf(id)] }));
      const pause = () => plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      await pause();
      await pause();
      await plane.monitors.update(projectId, id, NOW_MS, ADA, () => ({ removePauseReasons: ["user"] }));
      const [paused, resumed, ...rest] = await bodies(ground);
      expect(rest).toEqual([]);
      expect(paused).toEqual({
        type: "monitor.paused",
        timestamp: "2026-11-21T06:10:00.000Z",
        data: {
          organization_id: ground.organizationId,
          project_id: `prj_${projectId}`,
          monitor: {
            id: `srv_${id}`,
            name: "Shop",
            type: "http",
            protocol: "http",
            status: "paused",
            active: false,
            tags: ["prod"],
          },
          previous_status: "healthy",
          actor: { type: "user", id: 7, name: "Ada", via: "api", key_id: 31 },
        },
      });
      expect(resumed).toMatchObject({
        type: "monitor.resumed",
        data: { monitor: { status: "healthy", active: true }, previous_status: "paused" },
      });
    });

    it("tells of an incident's turns as it was at each, though they come in one batch", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      await hear(ground);
      const id = await make(ground);
      await plane.sink.apply(
        batch(1, {
          live: [liveOf(id)],
          incidents: [
            opening(id, NOW_MS, "degraded"),
            { type: "raise", monitorId: id, atMs: NOW_MS + 1_000, ...WHY, message: "timed out" },
            { type: "message", monitorId: id, atMs: NOW_MS + 1_500, ...WHY, message: "still" },
          ],
        }),
      );
      const incident = (await plane.incidents.list(projectId, { monitorId: id, limit: 1 }))[0];
      await plane.incidents.acknowledge(projectId, incident?.id ?? 0, NOW_MS + 2_000, ADA, null);
      await plane.incidents.acknowledge(projectId, incident?.id ?? 0, NOW_MS + 3_000, ADA, null);
      await plane.sink.apply(batch(2, { incidents: [{ type: "close", monitorId: id, atMs: NOW_MS + 4_000 }] }));
      const heard = await bodies(ground);
      expect(heard.map(({ type, timestamp }) => [type, timestamp.slice(17, 19)])).toEqual([
        ["incident.opened", "00"],
        ["incident.level_changed", "01"],
        ["incident.acknowledged", "02"],
        ["incident.recovered", "04"],
      ]);
      const incidents = heard.map(({ data }) => data.incident);
      expect(incidents).toMatchObject([
        { id: `inc_${incident?.id}`, severity: "warning", error_type: "degraded", acknowledged: false, ended_at: null },
        { severity: "critical", error_type: "down", error_message: "timed out", status: "active" },
        { acknowledged: true, acknowledged_at: "2026-11-21T06:10:02.000Z", error_message: "still" },
        { status: "recovered", ended_at: "2026-11-21T06:10:04.000Z", acknowledged: true },
      ]);
      expect(heard.map(({ data }) => (data.monitor as { status: string }).status)).toEqual([
        "degraded",
        "down",
        "healthy",
        "healthy",
      ]);
      expect(heard[2]?.data.actor).toMatchObject({ id: 7, via: "api" });
    });

    it("tells of partial outages and of expiry in the sink's transaction, and remembers what was told", async () => {
      const ground = currentGround();
      const { plane } = ground;
      await hear(ground);
      const id = await make(ground);
      const gone = await make(ground, { name: "gone" });
      await plane.monitors.remove(ground.projectId, gone, NOW_MS, ADA);
      const expiry = { type: "expiring", status: "healthy", atMs: NOW_MS, thresholdDays: 14 } as const;
      const expiresAtMs = NOW_MS + 10 * 86_400_000;
      const alerts = [
        {
          type: "partial",
          monitorId: id,
          atMs: NOW_MS,
          previousStatus: "healthy",
          locationsDown: ["de"],
        },
        { ...expiry, monitorId: id, subject: "certificate", expiresAtMs },
        { ...expiry, monitorId: id, subject: "domain", expiresAtMs: NOW_MS - 86_400_000 },
        { ...expiry, monitorId: gone, subject: "certificate", expiresAtMs },
      ] as const;
      await plane.sink.apply(batch(1, { alerts }));
      await plane.sink.apply(batch(1, { alerts }));
      expect((await bodies(ground)).map(({ type, data }) => [type, data.days_remaining, data.locations_down])).toEqual([
        ["monitor.partial", undefined, ["de"]],
        ["monitor.certificate_expiring", 10, undefined],
        ["monitor.domain_expiring", -1, undefined],
      ]);
      const told = await plane.sink.sentExpiries();
      expect(told.get(id)).toHaveLength(2);
      expect(told.get(id)).toContainEqual({ subject: "certificate", expiresAtMs, thresholdDays: 14 });
      await plane.monitors.remove(ground.projectId, id, NOW_MS, ADA);
      expect((await plane.sink.sentExpiries()).size).toBe(0);
    });

    it("sends each event to the active webhooks of its project that want it, under one id", async () => {
      const ground = currentGround();
      const { plane } = ground;
      const all = await hear(ground);
      const some = await hear(ground, ["monitor.paused"]);
      await hear(ground, ["incident.opened"]);
      const off = await hear(ground);
      await plane.webhooks.setActive(off, false, NOW_MS);
      const id = await make(ground);
      await plane.monitors.update(ground.projectId, id, NOW_MS, ADA, () => ({ addPauseReason: "user" }));
      const due = await waiting(ground, await hold(ground));
      expect(due.map(({ webhookId }) => webhookId)).toEqual([all, some]);
      expect(new Set(due.map(({ eventId }) => eventId)).size).toBe(1);
      expect(await plane.outgoing.pending()).toBe(2);
    });

    it("tells when something is to be done next: at once for an event and a project that was switched off", async () => {
      const ground = currentGround();
      const { plane } = ground;
      const id = await hear(ground);
      const epoch = await hold(ground);
      expect(await plane.outgoing.nextAtMs()).toBeNull();
      await plane.webhooks.test(id, NOW_MS);
      expect(await plane.outgoing.nextAtMs()).toBe(0);
      const due = await waiting(ground, epoch);
      expect(await plane.outgoing.nextAtMs()).toBe(NOW_MS);
      await plane.outgoing.record(
        epoch,
        due.map((one) => ended(one, 500, NOW_MS)),
      );
      const next = await plane.outgoing.nextAtMs();
      expect(next).toBeGreaterThan(NOW_MS);
      expect(await waiting(ground, epoch, (next ?? 0) - 1)).toEqual([]);
      expect(await waiting(ground, epoch, next ?? 0)).toHaveLength(1);
      await plane.accounts.setProjectActive(ground.projectId, false);
      expect(await plane.outgoing.nextAtMs()).toBe(0);
      await plane.outgoing.cancelOrphans(epoch, NOW_MS);
      expect(await plane.outgoing.nextAtMs()).toBeNull();
    });

    it("sends a test to the one that is tested, whatever it has chosen, unless it is off", async () => {
      const ground = currentGround();
      const { plane } = ground;
      await hear(ground);
      const id = await hear(ground, ["incident.opened"]);
      expect(await plane.webhooks.test(id, NOW_MS)).toBe(true);
      expect(await plane.webhooks.test(id + 100, NOW_MS)).toBe(false);
      const due = await waiting(ground, await hold(ground));
      expect(due.map(({ webhookId, body }) => [webhookId, JSON.parse(body)])).toEqual([
        [
          id,
          {
            type: "webhook.test",
            timestamp: "2026-11-21T06:10:00.000Z",
            data: { organization_id: ground.organizationId, project_id: `prj_${ground.projectId}` },
          },
        ],
      ]);
      await plane.webhooks.setActive(id, false, NOW_MS);
      expect(await plane.webhooks.test(id, NOW_MS)).toBe(false);
    });

    it("tries again under the same id until it is delivered, and keeps the log", async () => {
      const ground = currentGround();
      const { plane } = ground;
      const id = await hear(ground);
      await plane.webhooks.test(id, NOW_MS);
      const epoch = await hold(ground);
      const [first] = await waiting(ground, epoch);
      if (first === undefined) throw new Error("nothing waits");
      const [judged] = await plane.outgoing.record(epoch, [ended(first, 500, NOW_MS)]);
      expect(judged).toMatchObject({ state: "pending", failingSinceMs: NOW_MS + 3 });
      const nextAtMs = NOW_MS + 3 + (RETRY_DELAYS_MS[0] ?? 0);
      expect(await waiting(ground, epoch, nextAtMs - 1)).toEqual([]);
      const [second] = await waiting(ground, epoch, nextAtMs);
      expect(second).toEqual({ ...first, attempts: 1 });
      expect(await plane.webhooks.find(id)).toMatchObject({ failingSinceMs: NOW_MS + 3, lastSuccessAtMs: null });
      await plane.outgoing.record(epoch, [ended(first, 204, nextAtMs)]);
      expect(await plane.webhooks.find(id)).toMatchObject({ failingSinceMs: null, lastSuccessAtMs: nextAtMs + 3 });
      const log = await plane.webhooks.deliveries(id, 10);
      expect(log).toMatchObject([
        {
          eventId: first.eventId,
          type: "webhook.test",
          state: "delivered",
          nextAttemptAtMs: null,
          attempts: [
            { atMs: NOW_MS, statusCode: 500, error: "HTTP 500", durationMs: 2.5 },
            { atMs: nextAtMs, statusCode: 204, error: null },
          ],
        },
      ]);
      expect(await plane.outgoing.pending()).toBe(0);
    });

    it("gives up after the last retry", async () => {
      const ground = currentGround();
      const { plane } = ground;
      const id = await hear(ground);
      await plane.webhooks.test(id, NOW_MS);
      const epoch = await hold(ground);
      let nowMs = NOW_MS;
      let attempts = 0;
      for (; attempts < 20; attempts++) {
        const [due] = await waiting(ground, epoch, nowMs);
        if (due === undefined) break;
        const [judged] = await plane.outgoing.record(epoch, [ended(due, null, nowMs)]);
        nowMs = judged?.nextAttemptAtMs ?? nowMs;
      }
      expect(attempts).toBe(10);
      const log = await plane.webhooks.deliveries(id, 10);
      expect(log).toMatchObject([{ state: "failed" }]);
      expect(log[0]?.attempts).toHaveLength(10);
      // About three days: not yet five without a success.
      expect((await plane.webhooks.find(id))?.active).toBe(true);
    });

    it("switches off at 410 and after five days without a success, and cancels what waits", async () => {
      const ground = currentGround();
      const { plane } = ground;
      for (const reason of ["gone", "failing"] as const) {
        const id = await hear(ground);
        await plane.webhooks.test(id, NOW_MS);
        await plane.webhooks.test(id, NOW_MS);
        const epoch = await hold(ground);
        const due = (await waiting(ground, epoch)).filter(({ webhookId }) => webhookId === id);
        const [first] = due;
        if (first === undefined) throw new Error("nothing waits");
        if (reason === "gone") await plane.outgoing.record(epoch, [ended(first, 410, NOW_MS)]);
        else {
          await plane.outgoing.record(epoch, [ended(first, 500, NOW_MS)]);
          await plane.outgoing.record(epoch, [ended(first, 500, NOW_MS + OFF_AFTER_MS)]);
        }
        const webhook = await plane.webhooks.find(id);
        expect(webhook).toMatchObject({ active: false, offReason: reason });
        const states = (await plane.webhooks.deliveries(id, 10)).map(({ state }) => state);
        expect(states.sort()).toEqual(["cancelled", "failed"]);
        expect(await waiting(ground, epoch, NOW_MS + 10 * OFF_AFTER_MS)).toEqual([]);
        const on = await plane.webhooks.setActive(id, true, NOW_MS);
        expect(on).toMatchObject({ active: true, offReason: null, offAtMs: null, failingSinceMs: null });
        await plane.webhooks.remove(id);
      }
    });

    it("says in the incident's events what came of its alerts", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      await hear(ground);
      const id = await make(ground);
      await plane.sink.apply(batch(1, { live: [liveOf(id)], incidents: [opening(id)] }));
      const incident = (await plane.incidents.list(projectId, { monitorId: id, limit: 1 }))[0];
      const epoch = await hold(ground);
      const [due] = await waiting(ground, epoch);
      if (due === undefined || incident === undefined) throw new Error("nothing waits");
      for (const [statusCode, atMs] of [
        [500, NOW_MS],
        [503, NOW_MS + 1_000],
        [200, NOW_MS + 2_000],
      ] as const) {
        await plane.outgoing.record(epoch, [ended(due, statusCode, atMs)]);
      }
      const { rows, total } = await plane.incidents.events(incident.id, 10, 0);
      expect(rows.map(({ type, data }) => [type, data])).toEqual([
        ["opened", { level: "down", error_message: "connection refused" }],
        ["alert_failed", { channel: "webhook", error: "HTTP 500" }],
        ["alert_sent", { channel: "webhook", error: null }],
      ]);
      expect((await plane.incidents.find(projectId, incident.id))?.eventCount).toBe(total);
    });

    it("goes on signing with the secret before, until its time is over", async () => {
      const ground = currentGround();
      const { plane } = ground;
      const id = await hear(ground);
      await plane.webhooks.rotate(id, "newer", NOW_MS + 100);
      await plane.webhooks.test(id, NOW_MS);
      const epoch = await hold(ground);
      expect((await waiting(ground, epoch, NOW_MS + 99))[0]?.secretsSealed).toEqual(["newer", "sealed"]);
      expect((await waiting(ground, epoch, NOW_MS + 100))[0]?.secretsSealed).toEqual(["newer"]);
      expect(await plane.webhooks.rotate(id + 1, "x", NOW_MS)).toBeUndefined();
    });

    it("ends cleanly what a deleted webhook or a project that was switched off has waiting", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const gone = await hear(ground);
      const kept = await hear(ground);
      await plane.webhooks.test(gone, NOW_MS);
      await plane.webhooks.test(kept, NOW_MS);
      const epoch = await hold(ground);
      const due = await waiting(ground, epoch);
      expect(await plane.webhooks.remove(gone)).toBe(true);
      expect(await plane.webhooks.remove(gone)).toBe(false);
      await plane.accounts.setProjectActive(projectId, false);
      await plane.outgoing.cancelOrphans(epoch, NOW_MS + 5);
      // Attempts that were under way are recorded where there is something left, and change nothing.
      expect(
        await plane.outgoing.record(
          epoch,
          due.map((one) => ended(one, 500, NOW_MS)),
        ),
      ).toHaveLength(1);
      expect(await plane.webhooks.deliveries(kept, 10)).toMatchObject([
        { state: "cancelled", endedAtMs: NOW_MS + 5, attempts: [{ statusCode: 500 }] },
      ]);
      expect(await waiting(ground, epoch, NOW_MS + OFF_AFTER_MS)).toEqual([]);
      // Nor does it hear of what happens while it is off.
      await plane.webhooks.test(kept, NOW_MS);
      expect(await waiting(ground, epoch)).toEqual([]);
      expect(await plane.outgoing.pending()).toBe(0);
    });

    it("keeps failing webhooks apart, leaves out those that are busy, and bounds each", async () => {
      const ground = currentGround();
      const { plane } = ground;
      const [good, bad] = [await hear(ground), await hear(ground)];
      for (const id of [good, bad, bad, good, good]) await plane.webhooks.test(id, NOW_MS);
      const epoch = await hold(ground);
      const first = (await waiting(ground, epoch)).find(({ webhookId }) => webhookId === bad);
      if (first === undefined) throw new Error("nothing waits");
      await plane.outgoing.record(epoch, [ended(first, 500, NOW_MS)]);
      const ask = async (failing: boolean, except: readonly number[] = []) =>
        (await plane.outgoing.due({ nowMs: NOW_MS, failing, perWebhook: 2, webhooks: 9, except })).map(
          ({ webhookId }) => webhookId,
        );
      expect(await ask(false)).toEqual([good, good]);
      expect(await ask(true)).toEqual([bad]);
      expect(await ask(false, [good])).toEqual([]);
    });

    it("refuses writes of a process that lost the lease, and gives the lease to one of two that ask at once", async () => {
      const ground = currentGround();
      const { plane } = ground;
      const id = await hear(ground);
      await plane.webhooks.test(id, NOW_MS);
      const other = await another("api");
      const mine = await hold(ground);
      const due = await waiting(ground, mine);
      expect(await plane.leases.beat(SENDER_LEASE, mine)).toBe(true);
      const seen = await other.leases.read(SENDER_LEASE);
      const taken = await Promise.all([
        other.leases.take(SENDER_LEASE, "b", seen),
        plane.leases.take(SENDER_LEASE, "c", seen),
      ]);
      expect(taken.filter((epoch) => epoch === mine + 1)).toHaveLength(1);
      expect(taken.filter((epoch) => epoch === undefined)).toHaveLength(1);
      expect(await plane.leases.beat(SENDER_LEASE, mine)).toBe(false);
      await plane.webhooks.test(id, NOW_MS);
      await expect(
        plane.outgoing.record(
          mine,
          due.map((one) => ended(one, 200, NOW_MS)),
        ),
      ).rejects.toThrow(LeaseLost);
      await expect(waiting(ground, mine)).rejects.toThrow(LeaseLost);
      await plane.leases.release(SENDER_LEASE, mine + 1);
      expect((await plane.leases.read(SENDER_LEASE))?.holder).toBeNull();
      await other.close();
    });

    it("keeps the log of a webhook short", async () => {
      const ground = currentGround();
      const { plane } = ground;
      const id = await hear(ground);
      for (let count = 0; count < 230; count++) await plane.webhooks.test(id, NOW_MS);
      const epoch = await hold(ground);
      for (let round = 0; round < 3; round++) {
        const due = await waiting(ground, epoch);
        await plane.outgoing.record(
          epoch,
          due.map((one) => ended(one, 200, NOW_MS)),
        );
      }
      expect(await plane.webhooks.deliveries(id, 1_000)).toHaveLength(200);
    });

    it("makes no more in a project than it may have, also when they are made at once", async () => {
      const { plane, projectId } = currentGround();
      const input = { projectId, url: "https://hooks.test-site.org/a", events: null, secretSealed: "s", nowMs: NOW_MS };
      const made = await Promise.all(Array.from({ length: 12 }, () => plane.webhooks.createWithin(7, input)));
      expect(made.filter((one) => one === "full")).toHaveLength(5);
      expect(await plane.webhooks.list(projectId)).toHaveLength(7);
      expect(await plane.webhooks.createWithin(7, { ...input, projectId: projectId + 100 })).toBeUndefined();
    });

    it("lists webhooks of a project with what they have chosen", async () => {
      const ground = currentGround();
      const { plane, projectId } = ground;
      const all = await hear(ground);
      const some = await hear(ground, [...EVENT_TYPES].slice(0, 2), "http://10.0.0.1:9000/x");
      expect(await plane.webhooks.list(projectId)).toMatchObject([
        { id: all, events: null, active: true, url: "https://hooks.test-site.org/***" },
        { id: some, events: ["monitor.paused", "monitor.resumed"], projectId, createdAtMs: NOW_MS },
      ]);
      expect(await plane.webhooks.list(projectId + 100)).toBeUndefined();
      const nowhere = { projectId: projectId + 100, url: "x", events: null, secretSealed: "s", nowMs: NOW_MS };
      expect(await plane.webhooks.create(nowhere)).toBeUndefined();
    });
  });
}
