/** Subscriptions as records: every field, range, message and state (docs/api-contract.md#subscriptions). */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { overridePlans } from "../../model/plan.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import { importServers, listedServer } from "../store/ground.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

const URL_ERROR = "Missing or invalid url";

/** Bodies and the whole message. */
const BAD: readonly (readonly [Record<string, unknown>, string])[] = [
  [{}, URL_ERROR],
  [{ url: 5 }, URL_ERROR],
  [{ url: null }, URL_ERROR],
  ...["", "sub.test-site.org", "ftp://sub.test-site.org/"].map(
    (url) => [{ url }, `${URL_ERROR}: url must begin with http:// or https://.`] as const,
  ),
  [{ url: "https:///x" }, `${URL_ERROR}: url has no host.`],
  [{ url: "https://sub.test-site.org:99999/" }, `${URL_ERROR}: url cannot be read as an address.`],
  [{ url: "https://sub.test-site.org:0/" }, `${URL_ERROR}: the port of url must be from 1 to 65535.`],
  [{ url: "https://a!b/" }, `${URL_ERROR}: the host of url is neither a name nor an address.`],
  [{ url: "https://a\u0000b.test-site.org/" }, URL_ERROR],
  [{ url: "https://127.0.0.1/" }, "url must reach a public address: 127.0.0.1 is a loopback address."],
  [{ url: "http://10.0.0.1:8080/x" }, "url must reach a public address: 10.0.0.1 is a private address."],
  [
    { url: "https://sub.example.com/" },
    "url must reach a public address: sub.example.com is reserved for documentation.",
  ],
  [{ url: "https://inside.test-site.org/" }, "url must reach a public address: 10.0.0.7 is a private address."],
  [{ name: 5 }, "name must be a text of at most 255 characters, or null."],
  [{ name: "x".repeat(256) }, "name must be a text of at most 255 characters, or null."],
  ...[59, 86_401, 60.5, "300", null, true].map(
    (value) => [{ syncIntervalSec: value }, "syncIntervalSec must be a whole number from 60 to 86400."] as const,
  ),
  ...[9, 121, "30"].map(
    (value) => [{ timeoutSeconds: value }, "timeoutSeconds must be a whole number from 10 to 120."] as const,
  ),
  ...[0, 1_001, -1].map(
    (value) => [{ maxWorkers: value }, "maxWorkers must be a whole number from 1 to 1000."] as const,
  ),
];

export function subscriptionsSuite(server: "net" | "node"): void {
  describe("subscriptions", () => {
    let world: World;
    let count = 0;
    beforeAll(async () => {
      world = await openWorld(server, { allowNets: ["192.168.7.0/24"] });
    });
    afterAll(() => world.close());

    const path = "/api/v1/subscriptions";
    const create = (body: unknown) => world.send("POST", path, { body });
    const change = (id: number, body: unknown) => world.send("PUT", `${path}/${id}`, { body });
    const freshUrl = () => {
      count += 1;
      return `https://sub.test-site.org/secret-token-${count}`;
    };
    const made = async (body: Record<string, unknown> = {}) => {
      const answer = await create({ url: freshUrl(), ...body });
      expect([answer.status, answer.text]).toEqual([200, answer.text]);
      return answer.body;
    };
    const openSyncs = async () => (await world.controlPlane.jobs.openSyncs(100)).map((job) => job.subscriptionId);
    const imported = async (subscriptionId: number) => {
      const { body } = await world.send("POST", "/api/v1/servers", {
        body: { name: "S", url: "trojan://pw@s.test-site.org:443" },
      });
      world.sql("update monitors set subscription_id = ? where id = ?", subscriptionId, Number(body.id.slice(4)));
      return `/api/v1/servers/${body.id}`;
    };

    it("are made with every default, and their first sync waits", async () => {
      const one = await made();
      expect(one).toEqual({
        id: expect.any(Number),
        projectId: world.projectId,
        name: null,
        syncIntervalSec: 300,
        timeoutSeconds: 30,
        maxWorkers: 50,
        configAlertPercent: 50,
        engine: "both",
        enabled: true,
        lastSyncedAt: null,
        lastServerCount: null,
        lastSyncStatus: "pending",
        syncErrorMessage: null,
        createdAt: "2026-11-21 06:10:05",
        updatedAt: "2026-11-21 06:10:05",
      });
      expect(await openSyncs()).toContain(one.id);
      expect(world.state.published).toContain("jobs");
      for (const id of [one.id, `sub_${one.id}`]) {
        expect((await world.send("GET", `${path}/${id}`)).body).toEqual(one);
      }
      const off = await made({
        enabled: false,
        name: " Mine ",
        syncIntervalSec: 60,
        timeoutSeconds: 120,
        maxWorkers: 1_000,
        configAlertPercent: 50,
        engine: "xray",
      });
      expect(off).toMatchObject({
        enabled: false,
        name: "Mine",
        syncIntervalSec: 60,
        timeoutSeconds: 120,
        maxWorkers: 1_000,
        configAlertPercent: 50,
        engine: "both",
        lastSyncStatus: "pending",
      });
      expect(await openSyncs()).not.toContain(off.id);
      expect((await made({ enabled: "false" })).enabled).toBe(true);
      const page = (await world.send("GET", `${path}?limit=1&offset=1`)).body;
      expect([page.subscriptions[0].id, page.subscriptions.length, page.total]).toEqual([off.id, 1, 3]);
    });

    it("never tell their address", async () => {
      const { id } = await made({ url: "https://user:secret-pass@sub.test-site.org/secret-path?secret-query" });
      const texts = [
        (await world.send("GET", path)).text,
        (await world.send("GET", `${path}/${id}`)).text,
        (await change(id, { url: "https://sub.test-site.org/secret-other" })).text,
        world.log.join("\n"),
      ];
      for (const text of texts) expect(text).not.toContain("secret-");
      const row = await world.controlPlane.subscriptions.find(world.projectId, id);
      const open = () => world.sealing.open(SEALED_CELLS.subscription(id), row?.urlSealed ?? "");
      expect(open()).toBe("https://sub.test-site.org/secret-other");
    });

    it.each(BAD)("refuse %j, new and changed", async (body, message) => {
      const wrong = { error: true, code: 400, message };
      const url = "url" in body || Object.keys(body).length === 0 ? {} : { url: freshUrl() };
      expect((await create({ ...url, ...body })).body).toEqual(wrong);
      if (Object.keys(body).length === 0) return;
      const { id } = await made();
      expect((await change(id, body)).body).toEqual(wrong);
    });

    it("refuse other bodies, ids and addresses that are too long", async () => {
      const url = `https://sub.test-site.org/${"x".repeat(8_192)}`;
      const long = { error: true, code: 413, message: `url must be at most 8192 bytes (received ${url.length}).` };
      expect((await create({ url })).body).toEqual(long);
      expect((await create([])).body).toMatchObject({ code: 400, message: "Invalid JSON body" });
      for (const id of ["0", "x", "srv_1", "sub_", "-1"]) {
        expect((await world.send("GET", `${path}/${id}`)).body).toEqual({
          error: true,
          code: 400,
          message: "Invalid subscription ID",
        });
      }
      for (const [method, rest] of [
        ["GET", ""],
        ["PUT", ""],
        ["DELETE", ""],
        ["POST", "/sync"],
      ] as const) {
        const answer = await world.send(method, `${path}/99999${rest}`, method === "PUT" ? { body: {} } : {});
        expect(answer.body).toEqual({ error: true, code: 404, message: "Subscription not found" });
      }
      expect((await world.send("GET", `${path}?limit=0`)).status).toBe(400);
    });

    it("have an address of their own, however it is written", async () => {
      const taken = { error: true, code: 409, message: "Another subscription already uses this URL in this project" };
      const { id } = await made({ url: "https://One.test-site.org:443/List?b=1#name" });
      for (const url of ["https://one.test-site.org/List?b=1", "HTTPS://ONE.test-site.org:0443/List?b=1#other"]) {
        expect((await create({ url })).body).toEqual(taken);
      }
      await made({ url: "https://one.test-site.org/list?b=1" });
      await made({ url: "http://one.test-site.org/List?b=1" });
      const other = await made();
      expect((await change(other.id, { url: "https://one.test-site.org/List?b=1" })).body).toEqual(taken);
      expect((await change(id, { url: "https://one.test-site.org/List?b=1#mine" })).status).toBe(200);
      const same = freshUrl();
      const answers = await Promise.all(Array.from({ length: 6 }, () => create({ url: same })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
      // In another project it is another subscription's business.
      const elsewhere = world.sql(
        "insert into projects (organization_id, name, active, created_at_ms) values (?, 'B', 1, 1)",
        world.organizationId,
      );
      const there = await world.send("POST", path, { body: { url: same }, project: String(elsewhere) });
      expect(there.status).toBe(200);
      expect((await world.send("GET", `${path}/${there.body.id}`)).status).toBe(404);
    });

    it("change only what is sent", async () => {
      const before = await made({ name: "A" });
      world.clock.nowMs += 60_000;
      expect((await change(before.id, {})).body).toEqual(before);
      const sent = { name: null, syncIntervalSec: 600, unknown: 1, engine: "xray" };
      const { warnings, ...after } = (await change(before.id, sent)).body;
      expect(after).toEqual({ ...before, name: null, syncIntervalSec: 600, updatedAt: "2026-11-21 06:11:05" });
      expect(warnings).toEqual(['unknown field "unknown" was ignored', 'field "engine" cannot be set and was ignored']);
      world.clock.nowMs -= 60_000;
    });

    it("switched off pause their monitors, and on again resume them", async () => {
      const { id } = await made();
      const monitor = await imported(id);
      const paused = (await change(id, { enabled: false })).body;
      expect(paused).toMatchObject({ enabled: false });
      expect((await world.send("GET", monitor)).body).toMatchObject({ status: "paused", active: false });
      expect((await world.send("PUT", monitor, { body: { active: true } })).body).toEqual({
        error: true,
        code: 409,
        message: "The monitor's subscription is switched off. Switch it on to resume the monitor.",
      });
      const history = (await world.send("GET", `${monitor}/history`)).body.entries;
      expect(history[0]).toMatchObject({ type: "paused", message: "Monitoring paused", actor: { type: "system" } });
      expect((await change(id, { enabled: "false" })).body).toMatchObject({ enabled: true, lastSyncStatus: "pending" });
      expect((await world.send("GET", monitor)).body).toMatchObject({ active: true });
      expect((await change(id, { syncIntervalSec: 900 })).body.syncIntervalSec).toBe(900);
      expect((await world.send("GET", monitor)).body.interval).toBe(900);
    });

    it("are synchronised on request, one at a time, switched on first", async () => {
      const { id } = await made({ enabled: false });
      const monitor = await imported(id);
      await world.controlPlane.monitors.update(world.projectId, Number(monitor.split("_")[1]), 1, SYSTEM_ACTOR, () => ({
        addPauseReason: "subscription",
      }));
      const sync = async () => (await world.send("POST", `${path}/sub_${id}/sync`)).body;
      expect(await sync()).toEqual({ subscription_id: id, status: "syncing", message: "Sync started" });
      expect((await world.send("GET", `${path}/${id}`)).body).toMatchObject({
        enabled: true,
        lastSyncStatus: "pending",
      });
      expect((await world.send("GET", monitor)).body.active).toBe(true);
      expect(await sync()).toEqual({ subscription_id: id, status: "syncing", message: "A sync is already running" });
      expect((await openSyncs()).filter((one) => one === id)).toHaveLength(1);
    });

    it("deleted keep their monitors, paused", async () => {
      const { id } = await made();
      const monitor = await imported(id);
      await imported(id);
      expect((await world.send("DELETE", `${path}/${id}`)).body).toEqual({ success: true, paused_monitors: 2 });
      expect((await world.send("DELETE", `${path}/${id}`)).status).toBe(404);
      expect((await world.send("GET", monitor)).body).toMatchObject({ status: "paused" });
      expect((await world.send("PUT", monitor, { body: { active: true, interval: 60 } })).body).toMatchObject({
        active: true,
        interval: 60,
      });
    });

    it("list their configurations, the fastest of those that passed first", async () => {
      const { id, projectId } = await made();
      const server = { ...listedServer("one.test-site.org", "One", ["slow", "fast", "broken", "new"]) };
      await importServers(world.controlPlane, { id, projectId }, [server], world.clock.nowMs);
      const rows = (await world.send("GET", `/api/v1/subscriptions/${id}/configs`)).body;
      expect([rows.total, rows.healthy, rows.configs[0].checked_at]).toEqual([4, 0, null]);
      const monitorId = Number(rows.configs[0].server_id.slice(4));
      for (const [tag, success, ms] of [
        ["slow", 1, 90],
        ["fast", 1, 12.5],
        ["broken", 0, 5],
      ] as const) {
        world.sql(
          `insert into config_results (config_id, location, at_ms, success, total_ms, error, error_category, public_ip, engine_used, exit_country)
           select id, 'any', ?, ?, ?, '', '', '', 'xray', 'DE' from imported_configs where monitor_id = ? and tag = ?`,
          world.clock.nowMs,
          success,
          ms,
          monitorId,
          tag,
        );
      }
      const { configs } = (await world.send("GET", `/api/v1/subscriptions/${id}/configs`)).body;
      expect(configs).toMatchObject([
        { tag: "fast", country: "DE", locations: { any: true } },
        { tag: "slow", country: "DE", locations: { any: true } },
        { tag: "broken", locations: { any: false } },
        { tag: "new", country: "", locations: {} },
      ]);
      const tags = async (query = "") => {
        const { body } = await world.send("GET", `/api/v1/subscriptions/${id}/configs?${query}`);
        return [body.configs.map(({ tag }: { tag: string }) => tag), body.total, body.healthy];
      };
      expect(await tags()).toEqual([["fast", "slow", "broken", "new"], 4, 2]);
      expect(await tags("status=healthy&limit=1&offset=1")).toEqual([["slow"], 2, 2]);
      expect(await tags("status=unknown")).toEqual([["new"], 1, 2]);
      expect(await tags("sort=tag&status=down")).toEqual([["broken"], 1, 2]);
      const refused = await world.send("GET", `/api/v1/subscriptions/${id}/configs?status=up`);
      expect(refused.body.message).toBe("status must be healthy, down or unknown.");
    });
  });

  describe("subscriptions of a poorer plan", () => {
    it("keep to its shortest interval, and to a suspension", async () => {
      const world = await openWorld(server, {
        plans: overridePlans({ starter: { requestsPerMinute: null, shortestIntervalS: 400 } }),
      });
      world.sql("update workspaces set plan = 'starter'");
      const path = "/api/v1/subscriptions";
      const send = (method: string, rest: string, body: object) => world.send(method, path + rest, { body });
      const short = {
        error: true,
        code: 403,
        message: "The shortest interval on your plan is 400 seconds (requested 60).",
      };
      expect((await send("POST", "", { url: "https://a.test-site.org/", syncIntervalSec: 60 })).body).toEqual(short);
      const { id, syncIntervalSec } = (await send("POST", "", { url: "https://a.test-site.org/" })).body;
      expect(syncIntervalSec).toBe(400);
      expect((await send("PUT", `/${id}`, { syncIntervalSec: 60 })).body).toEqual(short);
      // State before plan (docs/api-contract.md#order-of-checks).
      expect((await send("POST", "", { url: "https://a.test-site.org/", syncIntervalSec: 60 })).body.code).toBe(409);
      await send("PUT", `/${id}`, { enabled: false });
      world.sql("update workspaces set suspended = 1");
      const none = { error: true, code: 403, message: "Your plan does not allow monitors." };
      expect((await send("POST", "", { url: "https://b.test-site.org/" })).body).toEqual(none);
      expect((await send("PUT", `/${id}`, { enabled: true })).body).toEqual(none);
      expect((await send("POST", `/${id}/sync`, {})).body).toEqual(none);
      expect((await send("PUT", `/${id}`, { name: "x" })).status).toBe(200);
      await world.close();
    });

    it("are read by viewers and changed by editors only", async () => {
      const world = await openWorld(server);
      const path = "/api/v1/subscriptions";
      const { id } = (await world.send("POST", path, { body: { url: "https://a.test-site.org/" } })).body;
      world.sql("update memberships set role = 'viewer'");
      const refused = { error: true, code: 403, message: "You do not have permission to edit this project" };
      for (const [method, rest] of [
        ["POST", ""],
        ["PUT", `/${id}`],
        ["DELETE", `/${id}`],
        ["POST", `/${id}/sync`],
      ] as const) {
        expect((await world.send(method, path + rest, { body: {} })).body).toEqual(refused);
      }
      expect((await world.send("GET", `${path}/${id}`)).body.id).toBe(id);
      await world.close();
    });
  });
}
