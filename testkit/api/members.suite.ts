/** Members of a workspace, and what a key made of requests (docs/api-contract.md#members, #usage). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Role } from "../../model/plan.ts";
import { openWorld, type World } from "./world.suite.ts";

export function membersSuite(server: "net" | "node"): void {
  describe("members of a workspace", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    const send = (method: string, path: string, body?: unknown, key = world.key) =>
      world.send(method, `/api/v1/members${path}`, { key, ...(body !== undefined && { body }) });
    const names = async () =>
      (await send("GET", "")).body.members.map((one: { email: string; role: Role }) => `${one.email} ${one.role}`);
    const signIn = (link: string) =>
      world.send("POST", "/api/v1/session", {
        ...{ key: null, project: null, headers: { "x-sonde-page": "1" } },
        body: { code: link.split("code=")[1] },
      });
    const keyOf = (userId: number, organizationId = world.organizationId) => world.newKey({ userId, organizationId });
    const error = (code: number, message: string) => ({ error: true, code, message });
    const BY_OWNER = error(403, "Only an owner may make, change or remove an owner.");

    it("are invited with a link that signs in once, given another role, and removed with their keys", async () => {
      const invited = await send("POST", "", { email: "eve@test-site.org", name: "Eve", role: "viewer" });
      expect(invited.body).toEqual({
        ...{ id: expect.any(Number), name: "Eve", email: "eve@test-site.org", role: "viewer" },
        ...{ created_at: new Date(world.clock.nowMs).toISOString(), link: expect.stringContaining("/#/sign-in?code=") },
        expires_at: new Date(world.clock.nowMs + 600_000).toISOString(),
      });
      const { id, link } = invited.body;
      const signed = await signIn(link);
      expect(signed.body.organizations).toMatchObject([{ name: "Acme", role: "viewer" }]);
      expect((await signIn(link)).status).toBe(401);
      const again = await send("POST", "", { email: "EVE@test-site.org", role: "viewer" });
      expect(again.body).toEqual(error(409, "The person is a member of this workspace already."));
      expect((await send("PUT", `/${id}`, { role: "manager" })).body).toMatchObject({ id, role: "manager" });
      expect(await names()).toEqual(["ada@test-site.org owner", "eve@test-site.org manager"]);
      const key = await keyOf(id);
      expect((await world.send("GET", "/api/v1/whoami", { key })).status).toBe(200);
      expect((await send("DELETE", `/${id}`)).body).toEqual({ success: true, id });
      expect((await world.send("GET", "/api/v1/whoami", { key })).status).toBe(401);
      expect((await send("DELETE", `/${id}`)).body).toEqual(error(404, "Member not found"));
      const cookie = String(signed.headers["set-cookie"]).split(";")[0] ?? "";
      const after = await world.send("GET", "/api/v1/session", { key: null, headers: { cookie } });
      expect(after.status).toBe(401);
      const { entries } = (await world.send("GET", "/api/v1/audit?what=member")).body;
      expect(entries.map(({ what }: { what: string }) => what)).toEqual([
        ...["member.removed", "member.updated", "member.invited"],
      ]);
      expect(JSON.stringify(entries)).not.toContain(link.split("code=")[1]);
    });

    it("have none of their keys back when they are invited again", async () => {
      const who = { email: "back@test-site.org", role: "viewer" };
      const { id } = (await send("POST", "", who)).body;
      const [key, wide] = [await keyOf(id), await world.newKey({ userId: id, organizationId: null })];
      const answers = async () => {
        const found = await Promise.all([key, wide].map((one) => world.send("GET", "/api/v1/whoami", { key: one })));
        return found.map(({ status, body }) => (status === 200 ? status : body.message));
      };
      expect(await answers()).toEqual([200, 200]);
      await send("DELETE", `/${id}`);
      expect(await answers()).toEqual(Array(2).fill("This API key's workspace access has been removed"));
      const again = await send("POST", "", who);
      expect(again.body).toMatchObject({ id, link: expect.stringContaining("code=") });
      expect(await answers()).toEqual(Array(2).fill("Invalid or expired API key"));
      expect((await send("DELETE", `/${id}`)).status).toBe(200);
    });

    it("keep their last owner, and only an owner makes, changes or removes one", async () => {
      const last = error(409, "The last owner of a workspace stays its owner.");
      expect((await send("PUT", `/${world.userId}`, { role: "viewer" })).body).toEqual(last);
      expect((await send("DELETE", `/${world.userId}`)).body).toEqual(last);
      const admin = (await send("POST", "", { email: "admin@test-site.org", role: "admin" })).body.id;
      const key = await keyOf(admin);
      const second = { email: "second@test-site.org", role: "owner" };
      expect((await send("POST", "", second, key)).body).toEqual(BY_OWNER);
      expect((await send("PUT", `/${admin}`, { role: "owner" }, key)).body).toEqual(BY_OWNER);
      expect((await send("PUT", `/${world.userId}`, { role: "viewer" }, key)).body).toEqual(BY_OWNER);
      expect((await send("DELETE", `/${world.userId}`, undefined, key)).body).toEqual(BY_OWNER);
      const owner = (await send("POST", "", second)).body.id;
      expect((await send("DELETE", `/${owner}`)).status).toBe(200);
    });

    it("of other workspaces get no link, and what links began does not reach the next workspace", async () => {
      const { accounts } = world.controlPlane;
      const other = await accounts.createWorkspace({
        ...{ name: "Other", plan: "business", projectName: "P", nowMs: world.clock.nowMs },
        owner: { email: "boss@test-site.org", name: null },
      });
      const boss = await keyOf(other?.userId ?? 0, other?.organizationId ?? 0);
      const bait = await send("POST", "", { email: "victim@test-site.org", role: "viewer" }, boss);
      const signed = await signIn(bait.body.link);
      const cookie = String(signed.headers["set-cookie"]).split(";")[0] ?? "";
      const session = () => world.send("GET", "/api/v1/session", { key: null, headers: { cookie } });
      expect((await session()).status).toBe(200);
      const invited = await send("POST", "", { email: "victim@test-site.org", role: "admin" });
      expect(invited.body).toMatchObject({ link: null, expires_at: null, id: bait.body.id });
      expect((await session()).status).toBe(401);
      expect((await send("GET", `?organization_id=${world.organizationId}`, undefined, boss)).body).toEqual(
        error(403, "You do not have access to this organization"),
      );
    });

    it("are named in the log of the workspace that they leave", async () => {
      const owner = { email: "ada@test-site.org", name: null };
      const about = { name: "Second", plan: "business", projectName: "P", nowMs: world.clock.nowMs, owner } as const;
      const second = await world.controlPlane.accounts.createWorkspace(about);
      const key = await world.newKey({ userId: world.userId, organizationId: null });
      const there = `?organization_id=${second?.organizationId}`;
      const { id } = (await send("POST", there, { email: "gone@test-site.org", name: "Gone", role: "viewer" }, key))
        .body;
      expect((await send("DELETE", `/${id}${there}`, undefined, key)).status).toBe(200);
      const { entries } = (await world.send("GET", `/api/v1/audit${there}&what=member.removed`, { key })).body;
      expect(entries).toMatchObject([{ subject: { id: String(id), name: "Gone" } }]);
    });

    it.each([
      [{ email: "x", role: "viewer" }, "Missing or invalid email"],
      [{ email: "a b@test-site.org", role: "viewer" }, "Missing or invalid email"],
      [{ email: "n@test-site.org", name: 7, role: "viewer" }, "name must be a text of at most 120 characters."],
      [{ email: "n@test-site.org", role: "king" }, "role must be owner, admin, manager or viewer."],
    ])("refuse %j", async (body, message) => {
      expect((await send("POST", "", body)).body).toEqual(error(400, message));
    });

    it("see what their keys made of requests", async () => {
      const usage = async (id: number, key = world.key) => world.send("GET", `/api/v1/keys/${id}/usage`, { key });
      const userId = (await send("POST", "", { email: "user@test-site.org", role: "viewer" })).body.id;
      const key = await keyOf(userId);
      const id = Number(/\d+/.exec(key)?.[0]);
      await world.send("GET", "/api/v1/servers", { key });
      await world.send("GET", "/api/v1/servers/srv_999999", { key });
      const counts = { requests: 2, errors: 1 };
      expect((await usage(id)).body).toEqual({
        ...{ key_id: id, today: counts, last_7_days: counts, last_30_days: counts },
        endpoints: [
          { method: "GET", path: "/servers", requests: 1, errors: 0 },
          { method: "GET", path: "/servers/{id}", requests: 1, errors: 1 },
        ],
      });
      expect((await usage(id, key)).status).toBe(200);
      expect((await usage(world.keyId, key)).body).toEqual(error(404, "API key not found"));
    });
  });
}
