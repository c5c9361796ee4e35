/** Who calls, what the key reaches, what was used. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { overridePlans, PLANS } from "../../model/plan.ts";
import { openWorld, START_MS, type World } from "./world.suite.ts";

const STARTED = "2026-11-21T06:10:05.250Z";
const error = (code: number, message: string) => ({ error: true, code, message });

/** A second workspace of the same person, made by another whose member she is. */
async function openTwo(server: "net" | "node") {
  const world = await openWorld(server);
  const { accounts } = world.controlPlane;
  const second = await accounts.createWorkspace({
    name: "beta",
    plan: "free",
    projectName: "Only",
    owner: { email: "bob@test-site.org", name: null },
    nowMs: START_MS + 1,
  });
  const beta = second?.organizationId ?? 0;
  await accounts.addMember(beta, { email: "ada@test-site.org", name: null }, "viewer", START_MS + 2);
  const early = await accounts.createProject(world.organizationId, "aardvark", START_MS + 3);
  return { world, beta, betaProject: second?.projectId ?? 0, bob: second?.userId ?? 0, aardvark: early?.id ?? 0 };
}

export function accountSuite(server: "net" | "node"): void {
  describe("the account", () => {
    let two: Awaited<ReturnType<typeof openTwo>>;
    let world: World;
    let accountKey = "";
    beforeAll(async () => {
      two = await openTwo(server);
      world = two.world;
      accountKey = await world.newKey({ userId: world.userId, organizationId: null });
    });
    afterAll(() => world.close());

    const get = (path: string, key = world.key) => world.send("GET", `/api/v1${path}`, { key, project: null });

    it("says who a workspace key belongs to, with one workspace", async () => {
      const { body } = await get("/whoami");
      const { userId, organizationId, projectId, keyId } = world;
      expect(body).toEqual({
        user: { id: userId, name: "Ada Byron", email: "ada@test-site.org" },
        key: { id: keyId, name: "test", kind: "workspace", organization_id: organizationId, expires: null },
        organizations: [{ id: organizationId, name: "Acme", role: "owner", plan: "business" }],
        projects: [
          { id: `prj_${two.aardvark}`, name: "aardvark", organization_id: organizationId, role: "owner" },
          { id: `prj_${projectId}`, name: "Production", organization_id: organizationId, role: "owner" },
        ],
        default_organization_id: organizationId,
        // The oldest, not the first by name.
        default_project_id: `prj_${projectId}`,
      });
    });

    it("says what an account-wide key reaches, and which workspace it falls back to", async () => {
      const { body } = await get("/whoami", accountKey);
      expect(body.key).toMatchObject({ kind: "account", organization_id: null });
      expect(body.organizations).toEqual([
        { id: world.organizationId, name: "Acme", role: "owner", plan: "business" },
        { id: two.beta, name: "beta", role: "viewer", plan: "free" },
      ]);
      expect(body.projects.map(({ id, role }: { id: string; role: string }) => [id, role])).toEqual([
        [`prj_${two.aardvark}`, "owner"],
        [`prj_${world.projectId}`, "owner"],
        [`prj_${two.betaProject}`, "viewer"],
      ]);
      expect(body.default_organization_id).toBe(world.organizationId);
    });

    it("shows a key's expiry, and no default project where none is active", async () => {
      const key = await world.newKey({
        userId: world.userId,
        organizationId: world.organizationId,
        expiresAtMs: Date.UTC(2027, 0, 2, 3, 4, 5),
      });
      expect((await get("/whoami", key)).body.key.expires).toBe("2027-01-02 03:04:05");
      const { accounts, keys } = world.controlPlane;
      await accounts.setProjectActive(world.projectId, false);
      expect((await get("/whoami", key)).body.default_project_id).toBe(`prj_${two.aardvark}`);
      await accounts.setProjectActive(two.aardvark, false);
      const { body } = await get("/whoami", key);
      expect([body.default_project_id, body.projects]).toEqual([null, []]);
      expect((await get("/organizations", key)).body.organizations[0].project_count).toBe(0);
      for (const id of [world.projectId, two.aardvark]) await accounts.setProjectActive(id, true);
      await keys.remove(Number(/\d+/.exec(key)?.[0]));
    });

    it("lists workspaces by name, those without API access too", async () => {
      const own = { id: world.organizationId, name: "Acme", role: "owner", plan: "business", api_access: true };
      expect((await get("/organizations")).body).toEqual({
        organizations: [{ ...own, project_count: 2, created_at: STARTED }],
        total: 1,
      });
      const { body } = await get("/organizations", accountKey);
      expect(body.total).toBe(2);
      expect(body.organizations[1]).toEqual({
        id: two.beta,
        name: "beta",
        role: "viewer",
        plan: "free",
        api_access: false,
        project_count: 1,
        created_at: "2026-11-21T06:10:05.251Z",
      });
    });

    it("shows a workspace with the numbers of its plan, and none that the key does not reach", async () => {
      expect((await get(`/organizations/${world.organizationId}`)).body).toMatchObject({
        id: world.organizationId,
        role: "owner",
        suspended: false,
        member_count: 1,
        tunnel_slots: { used: 0, limit: null },
        limits: { requests_per_minute: null, shortest_interval: 30, region_targeting: true },
      });
      const beta = (await get(`/organizations/${two.beta}`, accountKey)).body;
      expect(beta).toMatchObject({
        name: "beta",
        role: "viewer",
        member_count: 2,
        tunnel_slots: { used: 0, limit: 3 },
      });
      const refused = await get(`/organizations/${two.beta}`);
      expect(refused.body).toEqual(error(403, "You do not have access to this organization"));
      expect((await get("/organizations/x")).body).toEqual(error(400, "Invalid organization ID"));
    });

    it("lists projects with their monitors counted, by workspace when asked", async () => {
      await world.send("POST", "/api/v1/servers", { body: { type: "push", name: "a", period: 600 } });
      const all = await get("/projects", accountKey);
      expect(all.body.total).toBe(3);
      expect(all.body.projects[1]).toEqual({
        id: `prj_${world.projectId}`,
        name: "Production",
        organization_id: world.organizationId,
        organization_name: "Acme",
        role: "owner",
        server_count: 1,
        created_at: STARTED,
      });
      const ids = async (query: string, key = accountKey): Promise<string[]> =>
        (await get(`/projects?organization_id=${query}`, key)).body.projects.map(({ id }: { id: string }) => id);
      expect(await ids(String(two.beta))).toEqual([`prj_${two.betaProject}`]);
      expect(await ids("")).toHaveLength(3);
      expect(await ids("999")).toEqual([]);
      expect(await ids(String(two.beta), world.key)).toEqual([]);
      for (const bad of ["0", "-1", "1.5", "x", "org_1", " 1"]) {
        const answer = await get(`/projects?organization_id=${encodeURIComponent(bad)}`);
        expect(answer.body).toEqual(error(400, "Invalid organization ID"));
      }
    });

    it("uses the default workspace's plan for an account-wide key", async () => {
      const bobs = await world.newKey({ userId: two.bob, organizationId: null });
      const refused = await get("/whoami", bobs);
      expect(refused.body).toEqual(error(403, "API access isn't included on this workspace's plan."));
      expect(refused.headers["x-ratelimit-limit"]).toBe("0");
      const member = await world.controlPlane.accounts.addMember(
        two.beta,
        { email: "lonely@test-site.org", name: null },
        "admin",
        START_MS,
      );
      const lonely = await world.newKey({ userId: member?.userId ?? 0, organizationId: null });
      await world.controlPlane.accounts.removeMember(two.beta, member?.userId ?? 0);
      const removed = await get("/whoami", lonely);
      expect(removed.body).toEqual(error(401, "This API key's workspace access has been removed"));
    });

    it("searches without the projects of workspaces that have no API access", async () => {
      await world.controlPlane.plans.setPlan(two.beta, "pro", PLANS, START_MS);
      await world.controlPlane.accounts.addMember(two.beta, { email: "ada@test-site.org", name: null }, "admin", 0);
      const there = await world.send("POST", "/api/v1/servers", {
        key: accountKey,
        project: `prj_${two.betaProject}`,
        body: { type: "push", name: "needle", period: 600 },
      });
      expect(there.status).toBe(200);
      const found = async (): Promise<unknown[]> => (await get("/servers/search?q=needle", accountKey)).body.servers;
      expect(await found()).toMatchObject([{ id: there.body.id, organization_name: "beta", project_name: "Only" }]);
      await world.controlPlane.plans.setPlan(two.beta, "free", PLANS, START_MS);
      expect(await found()).toEqual([]);
    });
  });

  usageSuite(server);
}

function usageSuite(server: "net" | "node"): void {
  describe("usage", () => {
    it("tells windows, thirty days and the busiest endpoints, this request included", async () => {
      const world = await openWorld(server, { plans: PLANS });
      const get = (path: string) => world.send("GET", `/api/v1${path}`);
      world.clock.nowMs -= 86_400_000;
      await get("/servers");
      world.clock.nowMs += 86_400_000;
      await get("/servers/x");
      await get("/servers");
      await get("/health");
      await world.send("GET", "/api/v1/servers", { key: null });
      const { body } = await get("/usage");
      expect(body).toMatchObject({
        organization_id: world.organizationId,
        plan: "business",
        this_minute: { used: 3, limit: 120, remaining: 117, resets_at: "2026-11-21T06:11:00.000Z" },
        today: { used: 3, limit: 100_000, remaining: 99_997, resets_at: "2026-11-22T00:00:00.000Z" },
        this_month: { used: 4, limit: 1_000_000, remaining: 999_996, resets_at: "2026-12-01T00:00:00.000Z" },
        on_demand_tests: { used: 0, limit: null, remaining: null, resets_at: "2026-12-01T00:00:00.000Z" },
      });
      expect(body.daily).toHaveLength(30);
      expect(body.daily[0]).toEqual({ date: "2026-10-23", requests: 0, errors: 0 });
      expect(body.daily.slice(-2)).toEqual([
        { date: "2026-11-20", requests: 1, errors: 0 },
        { date: "2026-11-21", requests: 3, errors: 1 },
      ]);
      expect(body.endpoints).toEqual([
        { method: "GET", path: "/servers", requests: 2, errors: 0 },
        { method: "GET", path: "/servers/{id}", requests: 1, errors: 1 },
        { method: "GET", path: "/usage", requests: 1, errors: 0 },
      ]);
      const again = (await get("/usage")).body;
      expect(again.endpoints).toContainEqual({ method: "GET", path: "/usage", requests: 2, errors: 0 });
      expect(again.daily.at(-1)).toEqual({ date: "2026-11-21", requests: 4, errors: 1 });
      await world.close();
    });

    it("never counts a refused request, and never shows a negative rest", async () => {
      const plans = (requestsPerMinute: number) => overridePlans({ business: { requestsPerMinute } });
      const world = await openWorld(server, { plans: plans(2) });
      const get = () => world.send("GET", "/api/v1/usage");
      await get();
      expect((await get()).body.this_minute).toMatchObject({ used: 2, limit: 2, remaining: 0 });
      expect((await get()).status).toBe(429);
      world.clock.nowMs += 60_000;
      const { body } = await get();
      expect([body.this_minute.used, body.today.used, body.daily.at(-1).requests]).toEqual([1, 3, 3]);
      await world.close();
    });

    it("shows another workspace to an account-wide key only", async () => {
      const { world, beta } = await openTwo(server);
      const account = await world.newKey({ userId: world.userId, organizationId: null });
      const get = async (id: string, key?: string) =>
        (await world.send("GET", `/api/v1/usage?organization_id=${id}`, key === undefined ? {} : { key })).body;
      expect(await get(String(beta), account)).toMatchObject({
        organization_id: beta,
        plan: "free",
        this_minute: { used: 0, limit: 0, remaining: 0 },
        on_demand_tests: { used: 0, limit: 5, remaining: 5 },
        endpoints: [],
      });
      expect(await get("", account)).toMatchObject({ organization_id: world.organizationId });
      expect(await get(String(world.organizationId))).toMatchObject({ organization_id: world.organizationId });
      expect(await get("999", account)).toEqual(error(403, "You do not have access to this organization"));
      expect(await get(String(beta))).toEqual(error(403, "This API key is scoped to a different organization"));
      expect(await get("0", account)).toEqual(error(400, "Invalid organization ID"));
      await world.close();
    });
  });
}
