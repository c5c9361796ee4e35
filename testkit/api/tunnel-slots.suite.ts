/** Tunnels are counted over the workspace, and what a plan pauses. */
import { describe, expect, it } from "vitest";
import { SYSTEM_ACTOR } from "../../model/actor.ts";
import { overridePlans } from "../../model/plan.ts";
import { GOOD } from "./tunnel-bodies.suite.ts";
import { openWorld } from "./world.suite.ts";

export function tunnelSlotsSuite(server: "net" | "node"): void {
  describe("tunnel slots", () => {
    it("are counted over the workspace, however many ask at once", async () => {
      const world = await openWorld(server, { plans: overridePlans({ starter: { requestsPerMinute: null } }) });
      world.sql("update workspaces set plan = 'starter'");
      const post = (name: string, body: object = GOOD.vless ?? {}) =>
        world.send("POST", "/api/v1/servers", { body: { name, ...body } });
      const answers = await Promise.all(Array.from({ length: 19 }, (_, index) => post(`t${index}`)));
      const refused = answers.filter(({ status }) => status !== 200);
      expect(answers.length - refused.length).toBe(15);
      for (const { body } of refused)
        expect(body).toEqual({ error: true, code: 403, message: "Tunnel limit reached (15/15)." });
      expect((await post("web", { type: "http", url: "https://a.test-site.org/" })).status).toBe(200);
      // A body that is wrong is told so first, and so is an interval.
      expect((await post("x", { protocol: "vless" })).status).toBe(422);
      expect((await post("x", { ...GOOD.vless, interval: 60 })).body.message).toContain("shortest interval");

      const [first, second] = answers.filter(({ status }) => status === 200).map(({ body }) => body.id);
      const put = (id: string, active: boolean) => world.send("PUT", `/api/v1/servers/${id}`, { body: { active } });
      // One that the caller paused keeps its slot.
      await put(first, false);
      expect((await post("x")).status).toBe(403);
      expect((await put(first, true)).status).toBe(200);
      // One that the plan paused does not, and needs a free one to come back.
      await world.controlPlane.monitors.update(world.projectId, Number(first.slice(4)), 1, SYSTEM_ACTOR, () => ({
        addPauseReason: "plan",
      }));
      expect((await post("sixteenth")).status).toBe(200);
      expect((await put(first, true)).body).toEqual({
        error: true,
        code: 403,
        message: "Tunnel limit reached (15/15).",
      });
      await world.send("DELETE", `/api/v1/servers/${second}`);
      expect((await put(first, true)).body).toMatchObject({ active: true });

      world.sql("update workspaces set suspended = 1");
      expect((await post("x")).body).toMatchObject({ code: 403, message: "Your plan does not allow monitors." });
      await put(first, false);
      expect((await put(first, true)).body).toMatchObject({ code: 403, message: "Your plan does not allow monitors." });
      await world.close();
    });
  });
}
