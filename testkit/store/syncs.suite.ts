/** Syncs: what a list makes of a subscription and its monitors, in one transaction. */
import { beforeEach, describe, expect, it } from "vitest";
import { PLANS } from "../../model/plan.ts";
import type { ListedServer } from "../../model/sync.ts";
import { LeaseLost } from "../../store/sql/coordination/leases-port.ts";
import type { SubscriptionRecord } from "../../store/sql/subscriptions/port.ts";
import { SYNC_LEASE, type SyncOutcome, type SyncReport } from "../../store/sql/subscriptions/syncs-port.ts";
import { ADA, type Another, batch, EVERYTHING, type Ground, NOW_MS } from "./ground.suite.ts";

const MINUTE_MS = 60_000;

const server = (address: string, ...identities: string[]): ListedServer => ({
  address,
  name: `${address} one`,
  configs: (identities.length === 0 ? [address] : identities).map((identity) => ({
    identity,
    tag: `tag ${identity}`,
    type: "vless",
    port: 443,
    sealed: `sealed ${identity}`,
  })),
});
const list = (...servers: ListedServer[]): SyncOutcome => ({
  kind: "list",
  servers,
  badCount: 0,
  firstBad: null,
  unsupported: {},
});
const broken: SyncOutcome = { kind: "failed", message: "The list is empty." };

export function syncTests(currentGround: () => Ground, another: Another): void {
  describe("syncs", () => {
    let subscription: SubscriptionRecord;
    let epoch = 0;
    let atMs = NOW_MS;

    beforeEach(async () => {
      const { plane, projectId, organizationId } = currentGround();
      atMs = NOW_MS;
      epoch = (await plane.leases.take(SYNC_LEASE, "this test", undefined)) ?? 0;
      subscription = await plane.subscriptions.create({
        projectId,
        organizationId,
        name: "Provider",
        urlSealed: "sealed",
        urlHash: "hash",
        syncIntervalS: 300,
        timeoutS: 20,
        maxWorkers: 50,
        configAlertPercent: 50,
        enabled: true,
        nowMs: NOW_MS,
      });
    });

    /** Runs the sync that is open, a minute after the one before. */
    async function sync(outcome: SyncOutcome, urlSealed = "sealed"): Promise<SyncReport> {
      const { plane, projectId } = currentGround();
      atMs += MINUTE_MS;
      await plane.subscriptions.requestSync(projectId, subscription.id, atMs);
      const [job] = await plane.jobs.openSyncs(9);
      if (job === undefined) throw new Error("no sync is open");
      return plane.syncs.end(epoch, { job, urlSealed, outcome, plans: PLANS, atMs });
    }
    const record = () => currentGround().plane.subscriptions.recall(subscription.id);
    const monitors = async () =>
      (await currentGround().plane.monitors.list(currentGround().projectId, EVERYTHING)).rows;
    const monitorAt = async (host: string) => {
      const found = (await monitors()).find(({ monitor }) => monitor.host === host);
      if (found === undefined) throw new Error(`no monitor of ${host}`);
      return found.monitor;
    };

    it("are needed while there is a subscription, or a schedule or window of maintenance", async () => {
      const { plane, projectId } = currentGround();
      expect(await plane.syncs.isNeeded()).toBe(true);
      await plane.subscriptions.remove(projectId, subscription.id, atMs);
      expect(await plane.syncs.isNeeded()).toBe(false);
    });

    it("makes one monitor of each server, with its configs inside, as the subscription says", async () => {
      const { plane } = currentGround();
      const report = await sync(list(server("a.test-site.org", "x", "y"), server("b.test-site.org")));
      expect(report).toMatchObject({ created: 2, changed: 0, paused: 0, resumed: 0, leftOut: 0 });
      const a = await monitorAt("a.test-site.org");
      expect(a).toMatchObject({
        name: "a.test-site.org one",
        kind: "vless",
        intervalS: 300,
        timeoutS: 20,
        maxRetries: 2,
        locations: ["any"],
        pauseReasons: [],
        subscriptionId: subscription.id,
      });
      expect((await plane.imports.of([a.id])).get(a.id)).toMatchObject({
        serverAddress: "a.test-site.org",
        serverName: "a.test-site.org one",
        configCount: 2,
        configs: [
          { tag: "tag x", type: "vless", server: "a.test-site.org", port: 443, results: {} },
          { tag: "tag y", port: 443 },
        ],
      });
      expect((await plane.history.list(a.id, 9, 0)).rows).toMatchObject([
        { type: "created", message: "Monitor created", actor: { type: "system" } },
      ]);
      expect(await record()).toMatchObject({
        lastSyncStatus: "success",
        lastSyncedAtMs: atMs,
        lastServerCount: 2,
        syncErrorMessage: null,
        failures: 0,
      });
      expect(await plane.jobs.openSyncs(9)).toEqual([]);
      const planned = (await plane.monitors.changedSince(-1)).changed.find(({ monitor }) => monitor.id === a.id);
      expect(planned?.monitor).toMatchObject({
        subscriptionWorkers: 50,
        subscriptionEngines: "both",
        configs: [
          { kind: "vless", sealed: "sealed x" },
          { kind: "vless", sealed: "sealed y" },
        ],
      });
    });

    it("keeps monitors and results of configs through other names and another order, and does not trouble the plan", async () => {
      const { plane } = currentGround();
      await sync(list(server("a.test-site.org", "x", "y"), server("b.test-site.org")));
      const { id } = await monitorAt("a.test-site.org");
      const x = (await plane.imports.of([id])).get(id)?.configs[0];
      const result = {
        atMs,
        success: true,
        totalMs: 9,
        error: "",
        errorCategory: "",
        publicIp: "9.9.9.9",
        engineUsed: "xray",
        exitCountry: "DE",
      };
      await plane.sink.apply(batch(1, { configResults: [{ ...result, configId: x?.id ?? 0, location: "any" }] }));
      const generation = await plane.generation();
      const renamed = { ...server("a.test-site.org", "y", "x"), name: "Paris" };
      expect(await sync(list(server("b.test-site.org"), renamed))).toMatchObject({ created: 0, changed: 1 });
      expect((await monitorAt("a.test-site.org")).id).toBe(id);
      expect((await plane.imports.of([id])).get(id)).toMatchObject({
        serverName: "Paris",
        configs: [{ tag: "tag y" }, { tag: "tag x", id: x?.id, results: { any: { publicIp: "9.9.9.9" } } }],
      });
      expect((await plane.monitors.changedSince(generation)).changed).toEqual([]);
    });

    it("changes what is tested when configs come and go, and the plan hears of it", async () => {
      const { plane } = currentGround();
      await sync(list(server("a.test-site.org", "x", "y")));
      const { id } = await monitorAt("a.test-site.org");
      const { generation } = await plane.monitors.changedSince(-1);
      await sync(list(server("a.test-site.org", "y", "z")));
      const { changed } = await plane.monitors.changedSince(generation);
      expect(changed.map(({ monitor }) => monitor.id)).toEqual([id]);
      expect(changed[0]?.monitor.configs?.map(({ sealed }) => sealed)).toEqual(["sealed y", "sealed z"]);
    });

    it("pauses leavers with the provider's reason, told once, and resumes them when they are back", async () => {
      const { plane } = currentGround();
      const all = list(server("a.test-site.org"), server("b.test-site.org"));
      await sync(all);
      expect(await sync(list(server("a.test-site.org")))).toMatchObject({ paused: 1 });
      expect(await sync(list(server("a.test-site.org")))).toMatchObject({ paused: 0 });
      const left = await monitorAt("b.test-site.org");
      expect(left.pauseReasons).toEqual(["provider"]);
      expect(await sync(all)).toMatchObject({ resumed: 1, created: 0 });
      expect((await monitorAt("b.test-site.org")).pauseReasons).toEqual([]);
      expect((await plane.history.list(left.id, 9, 0)).rows.map(({ message }) => message)).toEqual([
        "Monitoring resumed",
        "Monitoring paused",
        "Monitor created",
      ]);
    });

    it("does not resume what a person paused, nor bring back what a person deleted", async () => {
      const { plane, projectId } = currentGround();
      const all = list(server("a.test-site.org"), server("b.test-site.org"));
      await sync(all);
      const [a, b] = [await monitorAt("a.test-site.org"), await monitorAt("b.test-site.org")];
      await plane.monitors.update(projectId, a.id, atMs, ADA, () => ({ addPauseReason: "user" }));
      await plane.monitors.remove(projectId, b.id, atMs, ADA);
      expect(await sync(all)).toMatchObject({ created: 0, resumed: 0 });
      expect((await monitors()).map(({ monitor }) => [monitor.host, monitor.pauseReasons])).toEqual([
        ["a.test-site.org", ["user"]],
      ]);
      expect((await record())?.lastServerCount).toBe(2);
    });

    it("takes as many new servers as there are slots, and says how many are left out", async () => {
      const { plane, organizationId } = currentGround();
      await plane.plans.setPlan(organizationId, "free", PLANS, atMs);
      const all = list(...["a", "b", "c", "d", "e"].map((name) => server(`${name}.test-site.org`)));
      expect(await sync(all)).toMatchObject({ created: 3, leftOut: 2 });
      expect(await record()).toMatchObject({
        lastSyncStatus: "success",
        lastServerCount: 5,
        syncErrorMessage: "2 servers left out: tunnel limit of 3 reached.",
      });
      await plane.plans.setPlan(organizationId, "business", PLANS, atMs);
      expect(await sync(all)).toMatchObject({ created: 2, leftOut: 0 });
    });

    it("leaves everything as it is when a list is missing, and switches off after ten failures in a row", async () => {
      const { plane, projectId } = currentGround();
      await sync(list(server("a.test-site.org")));
      for (let failure = 1; failure <= 9; failure++) {
        await sync(broken);
        expect(await record()).toMatchObject({ lastSyncStatus: "failed", failures: failure, enabled: true });
      }
      expect((await monitorAt("a.test-site.org")).pauseReasons).toEqual([]);
      expect(await record()).toMatchObject({ syncErrorMessage: "The list is empty.", lastServerCount: 1 });
      expect(await sync(broken)).toMatchObject({ paused: 1 });
      expect(await record()).toMatchObject({ lastSyncStatus: "auto_disabled", enabled: false, failures: 10 });
      expect((await monitorAt("a.test-site.org")).pauseReasons).toEqual(["subscription"]);
      await plane.subscriptions.update(projectId, subscription.id, { enabled: true }, atMs);
      expect(await record()).toMatchObject({ lastSyncStatus: "pending", failures: 0 });
      expect((await monitorAt("a.test-site.org")).pauseReasons).toEqual([]);
      await sync(list(server("a.test-site.org")));
      expect(await record()).toMatchObject({ lastSyncStatus: "success", failures: 0, syncErrorMessage: null });
    });

    it("tells webhooks of each failure, and of the last one that it switched off", async () => {
      const { plane, projectId } = currentGround();
      const hook = { projectId, url: "https://hook.test-site.org/", secretSealed: "s", events: null, nowMs: NOW_MS };
      const webhook = await plane.webhooks.create(hook);
      for (let failure = 1; failure <= 10; failure++) await sync(broken);
      const sender = await plane.leases.take("sender", "this test", undefined);
      await plane.outgoing.fanOut(sender ?? 0, { limit: 100, nowMs: atMs });
      const told = (await plane.webhooks.deliveries(webhook?.id ?? 0, 100)).map(({ type }) => type);
      expect(told.filter((type) => type === "subscription.sync_failed")).toHaveLength(9);
      expect(told.filter((type) => type === "subscription.auto_disabled")).toHaveLength(1);
    });

    it("takes a shrunken list the third time in a row", async () => {
      const names = Array.from({ length: 10 }, (_, index) => `s${index}.test-site.org`);
      await sync(list(...names.map((name) => server(name))));
      const few = list(server("s0.test-site.org"), server("s1.test-site.org"));
      for (const failures of [1, 2]) {
        expect(await sync(few)).toMatchObject({ paused: 0 });
        expect(await record()).toMatchObject({
          lastSyncStatus: "failed",
          failures,
          lastServerCount: 10,
          syncErrorMessage: "The list has shrunk from 10 servers to 2: it is taken if it stays so.",
        });
      }
      expect(await sync(few)).toMatchObject({ paused: 8 });
      expect(await record()).toMatchObject({ lastSyncStatus: "success", failures: 0, lastServerCount: 2 });
    });

    it("takes another provider's list as it is", async () => {
      const { plane, projectId } = currentGround();
      await sync(list(...Array.from({ length: 10 }, (_, index) => server(`s${index}.test-site.org`))));
      const url = { sealed: "other", hash: "other" };
      await plane.subscriptions.update(projectId, subscription.id, { url }, atMs);
      expect(await sync(list(server("new.test-site.org")), "other")).toMatchObject({ created: 1, paused: 10 });
    });

    it("throws away what came from an address that is no longer the subscription's, and asks again", async () => {
      const { plane } = currentGround();
      expect(await sync(list(server("a.test-site.org")), "former")).toMatchObject({ subscription: undefined });
      expect(await monitors()).toEqual([]);
      expect(await plane.jobs.openSyncs(9)).toHaveLength(1);
      expect((await record())?.lastSyncStatus).toBe("pending");
    });

    it("changes nothing of a subscription that was switched off, or deleted, meanwhile", async () => {
      const { plane, projectId } = currentGround();
      const [job] = await plane.jobs.openSyncs(9);
      if (job === undefined) throw new Error("no sync is open");
      await plane.subscriptions.update(projectId, subscription.id, { enabled: false }, atMs);
      const end = { job, urlSealed: "sealed", outcome: list(server("a.test-site.org")), plans: PLANS, atMs };
      expect(await plane.syncs.end(epoch, end)).toMatchObject({ subscription: undefined, created: 0 });
      expect(await plane.jobs.openSyncs(9)).toEqual([]);
      await plane.subscriptions.remove(projectId, subscription.id, atMs);
      expect(await plane.syncs.end(epoch, end)).toMatchObject({ subscription: undefined });
      expect(await monitors()).toEqual([]);
    });

    it("without changes is a success that touches no monitor", async () => {
      const { plane } = currentGround();
      await sync(list(server("a.test-site.org")));
      const generation = await plane.generation();
      await sync({ kind: "unchanged", badCount: 0, firstBad: null, unsupported: {} });
      expect(await record()).toMatchObject({ lastSyncStatus: "success", lastSyncedAtMs: atMs, lastServerCount: 1 });
      expect(await plane.generation()).toBe(generation);
    });

    it("are queued when their interval has passed since the last one ended, and only once", async () => {
      const { plane } = currentGround();
      await sync(list(server("a.test-site.org")));
      expect(await plane.syncs.queueDue(epoch, atMs + 299_999, 9)).toBe(0);
      expect(await plane.syncs.queueDue(epoch, atMs + 300_000, 9)).toBe(1);
      expect((await record())?.lastSyncStatus).toBe("pending");
      expect(await plane.syncs.queueDue(epoch, atMs + 300_000, 9)).toBe(0);
      expect(await plane.jobs.openSyncs(9)).toMatchObject([{ subscriptionId: subscription.id }]);
    });

    it("of workspaces that are suspended wait", async () => {
      const { plane, organizationId } = currentGround();
      await sync(list(server("a.test-site.org")));
      await plane.plans.setSuspended(organizationId, true, PLANS, atMs);
      expect(await plane.syncs.queueDue(epoch, atMs + 86_400_000, 9)).toBe(0);
    });

    it("are not written by a process that lost the lease", async () => {
      const other = await another();
      const seen = await other.leases.read(SYNC_LEASE);
      await other.leases.take(SYNC_LEASE, "another", seen);
      await other.close();
      await expect(sync(list(server("a.test-site.org")))).rejects.toThrow(LeaseLost);
      expect(await monitors()).toEqual([]);
    });

    it("of thousands of configs are one transaction that others wait for but briefly", async () => {
      const { plane } = currentGround();
      const thousands = (from: number) =>
        list(
          ...Array.from({ length: 1_000 }, (_, index) =>
            server(`h${index + from}.test-site.org`, ...[0, 1, 2, 3, 4].map((at) => `c${index + from} ${at}`)),
          ),
        );
      expect(await sync(thousands(0))).toMatchObject({ created: 1_000 });
      expect(await sync(thousands(500))).toMatchObject({ created: 500, paused: 500 });
      const { changed } = await plane.monitors.changedSince(-1);
      expect(changed).toHaveLength(1_000);
      expect(changed.every(({ monitor }) => monitor.configs?.length === 5)).toBe(true);
    });
  });
}
