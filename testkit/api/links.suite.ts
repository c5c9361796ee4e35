/** Share links of subscriptions, which are only handed out where the operator allows it. */
import { describe, expect, it } from "vitest";
import { configCell } from "../../store/sealed-cells.ts";
import { importServers } from "../store/ground.suite.ts";
import { openWorld } from "./world.suite.ts";

export function linksSuite(server: "net" | "node"): void {
  describe("links of a subscription", () => {
    it("are answered as text, the fastest first, to owners and admins, and are in the audit log without a link", async () => {
      const world = await openWorld(server, { revealsLinks: true });
      const { controlPlane, sealing, projectId, clock } = world;
      const list = { name: "List", url: "https://l.test-site.org/list" };
      const { id } = (await world.send("POST", "/api/v1/subscriptions", { body: list })).body;
      const config = (identity: string) => ({
        ...{ identity, tag: `Berlin ${identity}`, type: "trojan" as const, port: 443 },
        sealed: sealing.seal(
          configCell(projectId, identity),
          JSON.stringify({ url: `trojan://s3cret@h.example:443?${identity}` }),
        ),
      });
      const servers = [{ address: "h.example", name: null, configs: ["a", "b", "c"].map(config) }];
      await importServers(controlPlane, { id, projectId }, servers, clock.nowMs);
      const rows = (await world.send("GET", `/api/v1/subscriptions/${id}/configs?sort=tag`)).body.configs;
      expect(rows.length).toBe(3);
      const { monitors, imports, sink } = controlPlane;
      const filter = { family: "tunnel", activeOnly: false, status: null, protocol: null, nameContains: null } as const;
      const [row] = (await monitors.list(projectId, { ...filter, limit: 1, offset: 0 })).rows;
      const configs = (await imports.of([row?.monitor.id ?? 0])).get(row?.monitor.id ?? 0)?.configs ?? [];
      const facts = {
        ...{ error: "", errorCategory: "", publicIp: "", engineUsed: "", exitCountry: "" },
        ...{ location: "any", atMs: clock.nowMs },
      };
      await sink.apply({
        ...{ spool: "s", appliedSeq: 1, live: [], incidents: [], drainedInboxIds: [] },
        configResults: configs.map((one, index) => ({
          ...facts,
          configId: one.id,
          success: index < 2,
          totalMs: 90 - index,
        })),
      });
      const ask = (body?: unknown, key = world.key) =>
        world.send("POST", `/api/v1/subscriptions/${id}/links`, { key, ...(body !== undefined && { body }) });
      const link = (name: string) => `trojan://s3cret@h.example:443?${name}#Berlin%20${name}\n`;
      const healthy = await ask();
      expect([healthy.status, healthy.text, healthy.headers["cache-control"]]).toEqual([
        ...[200, link("b") + link("a"), "no-store"],
      ]);
      expect((await ask({ only: "all", limit: 3 })).text).toBe(link("b") + link("a") + link("c"));
      expect(Buffer.from((await ask({ format: "base64", limit: 1 })).text, "base64").toString()).toBe(link("b"));
      expect((await ask({ format: "clash" })).status).toBe(400);
      const manager = await controlPlane.accounts.addMember(
        world.organizationId,
        { email: "m@test-site.org", name: null },
        "manager",
        clock.nowMs,
      );
      const key = await world.newKey({ userId: manager?.userId ?? 0, organizationId: world.organizationId });
      expect((await ask({}, key)).body).toMatchObject({ code: 403, message: "Links are for owners and admins." });
      const audit = await world.send("GET", "/api/v1/audit?what=subscription.revealed");
      expect(audit.body).toMatchObject({
        total: 3,
        entries: [{ subject: { name: "List" }, detail: { only: "healthy" } }, {}, {}],
      });
      expect(audit.text).not.toContain("s3cret");
      await world.close();
    });

    it("stay in the service unless the operator says otherwise", async () => {
      const world = await openWorld(server);
      const answer = await world.send("POST", "/api/v1/subscriptions/1/links");
      expect(answer.body).toMatchObject({ code: 403, message: "Links are not revealed on this service." });
      await world.close();
    });
  });
}
