/** The stream of what changes in a project, over the wire. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { DEFAULT_MAX_STREAMS } from "../../api/streams.ts";
import { writeLiveMessage } from "../../model/live-message.ts";
import { batch, opening } from "../store/ground.suite.ts";
import { type Followed, follow } from "./follow.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

export function liveSuite(server: "net" | "node"): void {
  describe("the live stream", () => {
    let world: World;
    let id = 0;
    const open: Followed[] = [];
    beforeAll(async () => {
      world = await openWorld(server);
      const body = { type: "ping", name: "a", host: "a.test-site.org" };
      id = Number((await world.send("POST", "/api/v1/servers", { body })).body.id.slice(4));
    });
    afterEach(() => {
      for (const one of open.splice(0)) one.leave();
    });
    afterAll(() => world.close());

    const followed = async (headers: Record<string, string>, more = ""): Promise<Followed> => {
      const one = await follow(world.api.port, `project=prj_${world.projectId}${more}`, headers);
      open.push(one);
      return one;
    };

    it("greets, and tells of checks, incidents and changes", async () => {
      const { events, named } = await followed({ "x-api-key": world.key }, `&watch=srv_${id}`);
      expect(events[0]).toEqual({
        name: "hello",
        data: { at: new Date(world.clock.nowMs).toISOString(), version: "0.1.0", monitors: 1, active_incidents: 0 },
      });
      const check = { monitorId: id, letter: "d", latencyMs: null, checkedAtMs: world.clock.nowMs - 5_000 };
      await world.controlPlane.sink.apply(batch(1, { incidents: [opening(id, world.clock.nowMs)] }));
      world.state.broadcasts.publish(
        world.projectId,
        writeLiveMessage({
          checks: [{ ...check, isChanged: true }],
          turns: [{ monitorId: id, incidentId: null, what: "opened" }],
        }),
      );
      await expect.poll(() => named("s"), { timeout: 5_000 }).toMatchObject([{ m: [[id, "d", null, 5]] }]);
      const [opened] = named("incident");
      expect(opened).toMatchObject({ what: "opened", incident: { server_id: `srv_${id}`, status: "active" } });
      const { text } = await world.send("GET", "/api/v1/overview");
      expect(JSON.parse(text).incidents.active).toBe(1);

      await world.send("POST", `/api/v1/incidents/${opened.incident.id}/acknowledge`);
      await world.send("PUT", `/api/v1/servers/${id}`, { body: { name: "b" } });
      await expect.poll(() => named("monitors"), { timeout: 8_000 }).toEqual([{ changed: [`srv_${id}`], gone: [] }]);
      expect(named("incident")[1]).toMatchObject({ what: "acknowledged", incident: { acknowledged: true } });
      expect(JSON.parse((await world.send("GET", "/api/v1/overview")).text).names).toEqual(["b"]);
    });

    it("ends when its session or its key does, and no other", async () => {
      const { userId, organizationId } = world;
      const [doomed, keyOfPage] = [await world.newKey({ userId, organizationId }), world.key];
      const page = { "x-sonde-page": "1" };
      const body = { key: keyOfPage };
      const signedIn = await world.send("POST", "/api/v1/session", { key: null, project: null, body, headers: page });
      const cookie = String(signedIn.headers["set-cookie"]).split(";")[0] ?? "";
      const [ofKey, ofSession, other] = [
        await followed({ "x-api-key": doomed }),
        await followed({ cookie }),
        await followed({ "x-api-key": world.key }),
      ];
      expect([ofKey, ofSession, other].map(({ events }) => events[0]?.name)).toEqual(["hello", "hello", "hello"]);
      await world.controlPlane.keys.setActive(Number(/\d+/.exec(doomed)?.[0]), false);
      await world.send("DELETE", "/api/v1/session", { key: null, project: null, headers: { ...page, cookie } });
      await Promise.all([ofKey.ended, ofSession.ended]);
      let isEnded = false;
      void other.ended.then(() => {
        isEnded = true;
      });
      await world.send("PUT", `/api/v1/servers/${id}`, { body: { name: "c" } });
      await expect.poll(() => other.named("monitors").length, { timeout: 8_000 }).toBe(1);
      expect(isEnded).toBe(false);
    }, 30_000);

    it("is had 200 times at once; a hundred more are refused in words, and nothing waits for them", async () => {
      const headers = { "x-api-key": world.key };
      const readers = await Promise.all(Array.from({ length: DEFAULT_MAX_STREAMS }, () => followed(headers)));
      const more = () => world.send("GET", `/api/v1/live?project=prj_${world.projectId}`, { project: null });
      const refused = await Promise.all(Array.from({ length: 100 }, more));
      expect(new Set(refused.map(({ status, body }) => `${status} ${body.message}`))).toEqual(
        new Set(["503 Too many streams are open. Close one, or try again later."]),
      );
      expect(refused[0]?.headers["retry-after"]).toMatch(/^[1-9]/);
      // Requests are answered, and each reader is told of what they change.
      expect((await world.send("PUT", `/api/v1/servers/${id}`, { body: { name: "d" } })).status).toBe(200);
      const told = () => readers.filter(({ named }) => named("monitors").length > 0).length;
      await expect.poll(told, { timeout: 15_000 }).toBe(DEFAULT_MAX_STREAMS);
      readers[0]?.leave();
      const first = async () => (await followed(headers)).events[0]?.name;
      await expect.poll(first, { timeout: 15_000 }).toBe("hello");
    }, 60_000);

    it("refuses what other endpoints refuse, before the stream begins", async () => {
      const refused = async (query: string, project: string | null = null) => {
        const { status, body } = await world.send("GET", `/api/v1/live?${query}`, { project });
        return [status, body.message];
      };
      expect(await refused("")).toEqual([400, "X-Project-Id header is required"]);
      expect(await refused("project=x")).toEqual([400, "Invalid X-Project-Id header"]);
      expect(await refused("project=999999", `prj_${world.projectId}`)).toEqual([404, "Project not found or inactive"]);
      expect(await refused("watch=inc_1", `prj_${world.projectId}`)).toEqual([
        400,
        "watch must be at most 100 ids between commas.",
      ]);
      const answer = await world.send("GET", "/api/v1/live", { key: null });
      expect(answer.status).toBe(401);
    });
  });
}
