/** Many monitors at once, where they are checked from, and their days. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { overridePlans } from "../../model/plan.ts";
import { batch, liveOf, opening } from "../store/ground.suite.ts";
import { newMonitor } from "../store/new-monitor.suite.ts";
import { type Answer, openWorld, type World } from "./world.suite.ts";

const UNLIMITED = { requestsPerMinute: null, requestsPerDay: null, requestsPerMonth: null };
const PLANS = overridePlans({ business: { ...UNLIMITED, onDemandTestsPerMonth: 3 }, starter: UNLIMITED });
const ACTOR = { type: "system", id: null, name: null, via: "system", keyId: null } as const;

export function manySuite(server: "net" | "node"): void {
  describe("many monitors", () => {
    let world: World;
    let ids: readonly string[];
    beforeAll(async () => {
      world = await openWorld(server, { plans: PLANS });
      const bodies = [
        { type: "ping", name: "a", host: "a.test-site.org", tags: ["prod"], interval: 60 },
        { type: "ping", name: "b", host: "b.test-site.org", tags: ["prod", "blue"], interval: 60 },
        { type: "push", name: "c", period: 3_600, tags: ["prod"] },
        { type: "ping", name: "d", host: "d.test-site.org", active: false },
      ];
      const made: string[] = [];
      for (const body of bodies) made.push((await world.send("POST", "/api/v1/servers", { body })).body.id);
      ids = made;
    });
    afterAll(() => world.close());

    const act = (body: unknown): Promise<Answer> => world.send("POST", "/api/v1/servers/bulk", { body });
    const read = async (at: number) => (await world.send("GET", `/api/v1/servers/${ids[at]}`)).body;
    const prod = { select: { tags: ["prod"] } };

    it("tells what would be, and does it to what is selected alone", async () => {
      const [a, b, c] = ids;
      const sample = [
        { id: a, name: "a" },
        { id: b, name: "b" },
        { id: c, name: "c" },
      ];
      const told = { matched: 3, changed: 3, unchanged: 0, refused: [], sample };
      expect((await act({ ...prod, action: "pause", dry_run: true })).body).toEqual(told);
      expect((await read(0)).active).toBe(true);
      expect((await act({ ...prod, action: "pause", expect: 3 })).body).toEqual(told);
      expect([await read(0), await read(1), await read(2)].map(({ active }) => active)).toEqual([false, false, false]);
      expect((await act({ ...prod, action: "pause" })).body).toMatchObject({ changed: 0, unchanged: 3 });
      expect((await act({ ...prod, action: "resume" })).body).toMatchObject({ changed: 3, refused: [] });
      expect((await read(3)).active).toBe(false);
    });

    it("changes settings where it may, and says why not elsewhere", async () => {
      const set = { interval: 120, tags_add: ["New"], tags_remove: ["blue"] };
      expect((await act({ ...prod, action: "set", set })).body).toMatchObject({
        matched: 3,
        changed: 2,
        refused: [{ id: ids[2], name: "c", message: "A heartbeat has no interval, timeout, retries or locations." }],
      });
      expect(await read(1)).toMatchObject({ interval: 120, tags: ["prod", "new"] });
      const places = { locations: ["de", "nl"], notify_on_partial: true };
      await act({ select: { ids: [ids[0]] }, action: "set", set: places });
      expect(await read(0)).toMatchObject({ ...places, disabled_locations: [] });
      const many = Array.from({ length: 19 }, (_, index) => `t${index}`);
      const full = await act({ select: { ids: [ids[1]] }, action: "set", set: { tags_add: many } });
      expect(full.body.refused[0].message).toBe("It would have more than 20 tags.");
    });

    it("queues checks as far as the quota goes", async () => {
      const select = { all: true };
      expect((await act({ select, action: "check", dry_run: true })).body).toMatchObject({ matched: 4, changed: 2 });
      const { body } = await act({ select, action: "check" });
      expect(body).toMatchObject({ matched: 4, changed: 2, unchanged: 0 });
      const messages = body.refused.map(({ name, message }: { name: string; message: string }) => [name, message]);
      expect(messages).toEqual([
        ["c", "A heartbeat cannot be tested."],
        ["d", "The monitor is paused. Resume it to run a check."],
      ]);
      await act({ select, action: "check" });
      expect((await act({ select, action: "check" })).body).toMatchObject({
        changed: 0,
        refused: [{}, {}, { message: "Monthly on-demand test limit reached (4/3)" }, { name: "b" }],
      });
    });

    it("refuses what it cannot read, and a number that is not what matches", async () => {
      const cases: readonly (readonly [unknown, number, string])[] = [
        [{}, 400, "select must be an object."],
        [{ select: {} }, 400, 'select must name monitors, such as {"tags": ["prod"]} or {"all": true}.'],
        [{ select: { colour: 1 } }, 400, 'select has no member "colour".'],
        [prod, 400, "action must be pause, resume, delete, set or check."],
        [{ ...prod, action: "pause", dry_run: 1 }, 400, "dry_run must be true or false."],
        [{ ...prod, action: "pause", expect: -1 }, 400, "expect must be a whole number, 0 or more."],
        [{ ...prod, action: "set", set: { timeout: 999 } }, 400, "timeout must be a whole number from"],
        [{ ...prod, action: "set", set: { name: "x" } }, 400, "set must be an object of"],
        [{ ...prod, action: "set" }, 400, "set must be an object of"],
        [{ ...prod, action: "set", set: { interval: 1 } }, 403, "The shortest interval on your plan is 30 seconds"],
        [{ ...prod, action: "set", set: { locations: ["DE"] } }, 400, "locations must be a list"],
        [{ ...prod, action: "delete", expect: 2 }, 409, "Another number of monitors matches now"],
      ];
      for (const [body, code, message] of cases) {
        const answer = (await act(body)).body;
        expect([body, answer.code, String(answer.message).slice(0, message.length)]).toEqual([body, code, message]);
      }
    });

    it("are checked from where it was chosen", async () => {
      const path = (at: number) => `/api/v1/servers/${ids[at]}/locations`;
      const put = (body: unknown, at = 1) => world.send("PUT", path(at), { body });
      const before = { server_id: ids[1], locations: ["any"], disabled_locations: [], notify_on_partial: false };
      expect((await world.send("GET", path(1))).body).toEqual(before);
      const chosen = { ...before, locations: ["nl", "de"], disabled_locations: ["nl"], notify_on_partial: true };
      const { server_id: _, ...sent } = chosen;
      expect((await put({ ...sent, locations: ["nl", "de", "nl"] })).body).toEqual(chosen);
      expect((await put({})).body).toEqual(chosen);
      expect((await put({ locations: ["de", "us"] })).body).toMatchObject({ disabled_locations: [] });
      const cases: readonly (readonly [unknown, string])[] = [
        [{ locations: [] }, "locations must be a list of 1 to 50 of any and lowercase two-letter countries."],
        [{ locations: "de" }, "locations must be a list of 1 to 50 of any and lowercase two-letter countries."],
        [
          { disabled_locations: ["fr"] },
          "disabled_locations must be some of the locations: not any, and not all of them.",
        ],
        [
          { disabled_locations: ["de", "us"] },
          "disabled_locations must be some of the locations: not any, and not all of them.",
        ],
        [{ disabled_locations: 1 }, "disabled_locations must be some of the locations: not any, and not all of them."],
        [{ notify_on_partial: 1 }, "notify_on_partial must be true or false."],
      ];
      for (const [body, message] of cases) expect([body, (await put(body)).body.message]).toEqual([body, message]);
      expect((await put({ locations: ["any"] }, 2)).body.message).toBe("A heartbeat has no locations.");
      await world.controlPlane.plans.setPlan(world.organizationId, "starter", PLANS, world.clock.nowMs);
      expect((await put({ locations: ["de"] })).status).toBe(402);
      expect((await put({ locations: ["any"] })).status).toBe(200);
      await world.controlPlane.plans.setPlan(world.organizationId, "business", PLANS, world.clock.nowMs);
    });

    it("have days and uptime, from incidents", async () => {
      const dayMs = 86_400_000;
      const midnight = Math.floor(world.clock.nowMs / dayMs) * dayMs;
      const made = { name: "old", kind: "ping" as const, settings: {}, host: "old.test-site.org", tags: [] };
      const old = await world.controlPlane.monitors.create(
        newMonitor(world, { ...made, nowMs: midnight - dayMs + 3_600_000 }),
        ACTOR,
      );
      const live = liveOf(old.id, { lastCheckedAtMs: world.clock.nowMs });
      const incidents = [
        opening(old.id, midnight - 7_200_000),
        { type: "close" as const, monitorId: old.id, atMs: midnight - 3_600_000 },
      ];
      await world.controlPlane.sink.apply(batch(1, { live: [live], incidents }));
      const { body } = await world.send("GET", `/api/v1/servers/${old.id}/days?days=2`);
      const calm = { down_s: 0, degraded_s: 0, maintenance_s: 0, paused_s: 0, unwatched_s: 0, incidents: 0 };
      expect(body.days).toEqual([
        { ...calm, date: "2026-11-20", down_s: 3_600, unwatched_s: 3_600, incidents: 1 },
        { ...calm, date: "2026-11-21" },
      ]);
      const watchedMs = world.clock.nowMs - midnight + dayMs - 3_600_000;
      const percent = Math.round((1 - 3_600_000 / watchedMs) * 100_000) / 1_000;
      expect(body.uptime).toMatchObject({ "7d": percent, "365d": percent });
      const many = await world.send("GET", `/api/v1/days?ids=srv_${old.id},${ids[2]},srv_999&days=2`);
      const { server_id: _, ...own } = body;
      expect(Object.keys(many.body.servers)).toEqual([`srv_${old.id}`, ids[2]]);
      expect(many.body.servers[`srv_${old.id}`]).toEqual(own);
      // A heartbeat that was never called.
      expect(many.body.servers[ids[2] ?? ""].uptime).toEqual({
        "24h": null,
        "7d": null,
        "30d": null,
        "90d": null,
        "365d": null,
      });
      const refused = await world.send("GET", `/api/v1/servers/${old.id}/days?days=366`);
      expect(refused.body.message).toBe("days must be a whole number from 1 to 365.");
      expect((await world.send("GET", `/api/v1/servers/${old.id}/days`)).body.days).toHaveLength(90);
    });

    it("have latency as columns, of steps that fit the time that is asked for", async () => {
      const { nowMs } = world.clock;
      const id = Number(ids[0]?.slice(4));
      const row = { id: "1", monitorId: id, kind: "ping", connectMs: null, errorMessage: null, details: null } as const;
      const own = { projectId: world.projectId, full: {} as never };
      for (const [ago, latencyMs] of [
        [61_000, 12.34],
        [30_000, null],
        [1_000, 20],
      ] as const) {
        const testedAtMs = nowMs - ago;
        world.results.rows.push({
          ...row,
          ...own,
          testedAtMs,
          latencyMs,
          status: latencyMs === null ? "down" : "healthy",
        });
      }
      const latency = async (query: string) => (await world.send("GET", `/api/v1/servers/${id}/latency?${query}`)).body;
      const iso = (atMs: number) => new Date(atMs).toISOString();
      expect(await latency(`from=${iso(nowMs - 60_000)}&step=10`)).toMatchObject({
        server_id: ids[0],
        step_s: 10,
        t: [iso(Math.floor((nowMs - 30_000) / 10_000) * 10_000), iso(Math.floor((nowMs - 1_000) / 10_000) * 10_000)],
        min: [null, 20],
        checks: [1, 1],
        failed: [1, 0],
        phases: {},
      });
      expect((await latency("")).step_s).toBe(300);
      expect((await latency(`from=${iso(nowMs - 86_400_000)}&step=600`)).min).toContain(12.3);
      expect((await latency(`from=${iso(nowMs - 7 * 86_400_000)}`)).step_s).toBe(3_600);
      expect((await latency(`from=${iso(nowMs - 7 * 86_400_000)}&step=60`)).step_s).toBe(3_600);
      expect((await latency(`from=${iso(nowMs - 365 * 86_400_000)}`)).step_s).toBe(86_400);
      const cases = [
        ["step=0", "step must be a whole number of seconds from 1 to 86400."],
        ["step=1", "It would have more than 500 points: send a longer step, or a shorter time."],
        ["location=DE", "location must be any or a lowercase two-letter country."],
        [`from=${iso(nowMs)}&to=${iso(nowMs - 1)}`, "from must not be after to."],
        ["from=x", "from must be an ISO time, such as 2026-11-21T06:10:00Z."],
      ] as const;
      for (const [query, message] of cases) expect([query, (await latency(query)).message]).toEqual([query, message]);
      world.results.isAway = true;
      expect((await latency("step=900")).code).toBe(503);
      // Nothing was checked then, and no store is asked.
      expect((await latency("to=1969-12-31")).t).toEqual([]);
      world.results.isAway = false;
    });

    it("have notes in the logs of their incidents, which others may read and not change", async () => {
      const id = Number(ids[0]?.slice(4));
      await world.controlPlane.sink.apply(batch(2, { incidents: [opening(id, world.clock.nowMs - 5_000)] }));
      const list = (await world.send("GET", `/api/v1/incidents?server_id=${id}`)).body;
      const path = `/api/v1/incidents/${list.incidents[0].id}/notes`;
      const text = `${"<b>".repeat(1_666)}\u05e9\u05dc`;
      const added = (await world.send("POST", path, { body: { text: ` ${text} `, phase: "identified", public: true } }))
        .body;
      expect(added).toMatchObject({ text, phase: "identified", public: true, actor: { name: "Ada Byron" } });
      const { rows } = await world.controlPlane.incidents.events(Number(list.incidents[0].id.slice(4)), 9, 0);
      expect(rows.at(-1)).toMatchObject({ type: "note", data: { text } });
      const person = { email: "bob@test-site.org", name: "Bob" };
      const bob = await world.controlPlane.accounts.addMember(
        world.organizationId,
        person,
        "manager",
        world.clock.nowMs,
      );
      const key = await world.newKey({ userId: bob?.userId ?? 0, organizationId: world.organizationId });
      const one = `${path}/${added.id}`;
      const foreign = await world.send("PUT", one, { key, body: { text: "mine" } });
      expect([foreign.status, foreign.body.message]).toEqual([
        403,
        "Only its author, an owner or an admin may change a note.",
      ]);
      expect((await world.send("DELETE", one, { key })).status).toBe(403);
      const bobs = (await world.send("POST", path, { key, body: { text: "by Bob" } })).body;
      expect((await world.send("PUT", `${path}/${bobs.id}`, { body: { text: "x" } })).body).toMatchObject({
        text: "x",
        phase: null,
        public: false,
        actor: { name: "Bob" },
      });
      expect((await world.send("DELETE", `${path}/${bobs.id}`, { key })).body).toEqual({ success: true, id: bobs.id });
      const cases: readonly (readonly [unknown, string])[] = [
        [{}, "text must be a string of 1 to 5000 characters."],
        [{ text: " " }, "text must be a string of 1 to 5000 characters."],
        [{ text: "x".repeat(5_001) }, "text must be a string of 1 to 5000 characters."],
        [{ text: "x", phase: "over" }, "phase must be investigating, identified, monitoring or resolved."],
        [{ text: "x", public: 1 }, "public must be true or false."],
      ];
      for (const [body, message] of cases)
        expect((await world.send("POST", path, { body })).body.message).toBe(message);
      expect((await world.send("DELETE", `${path}/evt_999999`)).body.message).toBe("Note not found");
      expect((await world.send("DELETE", `${path}/x`)).body.message).toBe("Note not found");
    });

    it("are deleted together", async () => {
      expect((await act({ select: { tags: ["prod"] }, action: "delete", expect: 3 })).body).toMatchObject({
        matched: 3,
        changed: 3,
      });
      expect((await world.send("GET", `/api/v1/servers/${ids[0]}`)).status).toBe(404);
      expect((await read(3)).name).toBe("d");
    });
  });
}
