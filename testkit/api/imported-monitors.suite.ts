/** Monitors that a subscription has made: what they show, what cannot be changed, and what is left when it is gone. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { batch, importServers, listedServer } from "../store/ground.suite.ts";
import { GOOD } from "./tunnel-bodies.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

export function importedMonitorsSuite(server: "net" | "node"): void {
  describe("imported monitors", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    async function imported() {
      const { controlPlane, projectId, organizationId, clock } = world;
      const subscription = await controlPlane.subscriptions.create({
        projectId,
        organizationId,
        name: null,
        urlSealed: "sealed",
        urlHash: String(Math.random()),
        syncIntervalS: 300,
        timeoutS: 30,
        maxWorkers: 50,
        configAlertPercent: 50,
        enabled: true,
        nowMs: clock.nowMs,
      });
      await importServers(controlPlane, subscription, [listedServer("s.test-site.org", "Berlin", ["A", "B"])]);
      const { changed } = await controlPlane.monitors.changedSince(-1);
      const id = changed.find(({ monitor }) => monitor.subscriptionId === subscription.id)?.monitor.id ?? 0;
      return { subscription, id, path: `/api/v1/servers/srv_${id}` };
    }

    it("show their subscription, its configs and how each did", async () => {
      const { id, path, subscription } = await imported();
      const first = (await world.controlPlane.imports.of([id])).get(id)?.configs[0];
      const facts = { publicIp: "9.9.9.9", engineUsed: "xray", exitCountry: "DE" };
      const result = { atMs: 1, success: true, totalMs: 81.5, ...facts };
      const configResults = [{ ...result, configId: first?.id ?? 0, location: "any", error: "", errorCategory: "" }];
      await world.controlPlane.sink.apply(batch(1, { configResults }));
      const passed = {
        success: true,
        total_ms: 81.5,
        error: "",
        error_category: "",
        public_ip: "9.9.9.9",
        engine_used: "xray",
      };
      const untested = { success: false, total_ms: 0, error: "", error_category: "", public_ip: "", engine_used: "" };
      const block = {
        subscription_url_id: String(subscription.id),
        server_address: "s.test-site.org",
        server_name: "Berlin",
        config_count: 2,
        healthy_count: 1,
        configs: [
          { tag: "A", type: "vless", server: "s.test-site.org", port: 443, ...passed, region_results: { any: passed } },
          { tag: "B", type: "vless", server: "s.test-site.org", port: 443, ...untested, region_results: {} },
        ],
      };
      const whole = await world.send("GET", path);
      expect(whole.body.subscription).toEqual(block);
      expect(whole.text).not.toContain("sealed A");
      expect((await world.send("GET", "/api/v1/servers")).body.servers[0].subscription).toEqual(block);
      expect((await world.send("GET", "/api/v1/servers/search?q=berlin")).body.servers[0].subscription).toEqual(block);
    });

    it("follow it: interval and configuration cannot be changed, the rest can", async () => {
      const { path } = await imported();
      const says = async (body: object) => (await world.send("PUT", path, { body })).body;
      const follows = { error: true, code: 409, message: "This monitor follows its subscription." };
      expect(await says({ interval: 60 })).toEqual(follows);
      expect(await says({ url: GOOD.vless?.url })).toEqual(follows);
      expect(await says({ password: "x" })).toEqual(follows);
      expect(await says({ protocol: "trojan" })).toEqual(follows);
      expect(await says({ interval: 0 })).toMatchObject({ code: 400 });
      expect(await says({ name: "Mine", tags: ["x"], maxretries: 4, protocol: "vless" })).toMatchObject({
        name: "Mine",
        tags: ["x"],
      });
      expect(await says({ active: false })).toMatchObject({ status: "paused" });
    });

    it("are ordinary paused monitors once it is deleted", async () => {
      const { id, path, subscription } = await imported();
      expect(await world.controlPlane.subscriptions.remove(world.projectId, subscription.id, 1)).toBe(1);
      expect((await world.send("GET", path)).body).toMatchObject({
        status: "paused",
        subscription: { subscription_url_id: null },
      });
      expect((await world.send("PUT", path, { body: { active: true, interval: 60 } })).body).toMatchObject({
        active: true,
        interval: 60,
      });
      const own = (await world.send("PUT", path, { body: { url: GOOD.vless?.url } })).body;
      expect([own.protocol, own.subscription]).toEqual(["vless", undefined]);
      expect((await world.controlPlane.monitors.recall(id))?.monitor.sealed).toBeDefined();
    });
  });
}
