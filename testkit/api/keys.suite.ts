/** API keys: who sees them, who makes them, who ends them. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PLANS, type Role } from "../../model/plan.ts";
import { openWorld, START_MS, type World } from "./world.suite.ts";

const error = (code: number, message: string) => ({ error: true, code, message });
const idOf = (key: string): number => Number(/\d+/.exec(key)?.[0]);

interface Member {
  readonly userId: number;
  readonly key: string;
}

async function addMember(world: World, role: Role, organizationId = world.organizationId): Promise<Member> {
  const email = `${role}-${organizationId}-${Math.random()}@test-site.org`;
  const added = await world.controlPlane.accounts.addMember(organizationId, { email, name: role }, role, START_MS);
  const userId = added?.userId ?? 0;
  return { userId, key: await world.newKey({ userId, organizationId }) };
}

export function keysSuite(server: "net" | "node"): void {
  describe("keys", () => {
    let world: World;
    let manager: Member;
    let viewer: Member;
    let admin: Member;
    let foreign = 0;
    beforeAll(async () => {
      world = await openWorld(server);
      admin = await addMember(world, "admin");
      manager = await addMember(world, "manager");
      viewer = await addMember(world, "viewer");
      const other = await world.controlPlane.accounts.createWorkspace({
        name: "Other",
        plan: "pro",
        projectName: "P",
        owner: { email: "eve@test-site.org", name: "Eve" },
        nowMs: START_MS,
      });
      foreign = other?.organizationId ?? 0;
    });
    afterAll(() => world.close());

    const send = (method: string, path: string, key: string, body?: unknown) =>
      world.send(method, `/api/v1${path}`, { key, project: null, ...(body !== undefined && { body }) });
    const listed = async (key: string): Promise<number[]> =>
      (await send("GET", "/keys", key)).body.keys.map(({ id }: { id: number }) => id);

    it("lists all of the workspace to owners and admins, their own to others", async () => {
      const all = [idOf(viewer.key), idOf(manager.key), idOf(admin.key), world.keyId];
      expect(await listed(world.key)).toEqual(all);
      expect(await listed(admin.key)).toEqual(all);
      expect(await listed(manager.key)).toEqual([idOf(manager.key)]);
      expect(await listed(viewer.key)).toEqual([idOf(viewer.key)]);
      const { body } = await send("GET", "/keys", viewer.key);
      expect(body).toEqual({
        keys: [
          {
            id: idOf(viewer.key),
            name: "test",
            userID: viewer.userId,
            organizationId: world.organizationId,
            createdDate: "2026-11-21 06:10:05",
            active: 1,
            expires: null,
            lastUsedAt: null,
            status: "active",
          },
        ],
        total: 1,
      });
    });

    it("lists to an account-wide key its owner's keys and those of workspaces that the owner manages", async () => {
      const theirs = await addMember(world, "owner", foreign);
      const { accounts } = world.controlPlane;
      const account = await world.newKey({ userId: manager.userId, organizationId: null });
      expect(await listed(account)).toEqual([idOf(account), idOf(manager.key)]);
      const address = (await accounts.user(manager.userId))?.email ?? "";
      await accounts.addMember(foreign, { email: address, name: null }, "viewer", START_MS);
      expect(await listed(account)).toEqual([idOf(account), idOf(manager.key)]);
      await accounts.addMember(foreign, { email: address, name: null }, "admin", START_MS);
      expect(await listed(account)).toEqual([idOf(account), idOf(theirs.key), idOf(manager.key)]);
      await accounts.removeMember(foreign, manager.userId);
      // A workspace key does not see the account's.
      expect(await listed(manager.key)).toEqual([idOf(manager.key)]);
    });

    it("makes a key that works at once, and shows it once", async () => {
      const { body } = await send("POST", "/keys", manager.key, { name: "  ci  ", expires: "2026-12-31" });
      expect(body).toEqual({
        id: body.id,
        name: "ci",
        userID: manager.userId,
        organizationId: world.organizationId,
        createdDate: "2026-11-21 06:10:05",
        active: true,
        expires: "2026-12-31 00:00:00",
        lastUsedAt: null,
        status: "active",
        key: body.key,
      });
      expect(body.key).toMatch(new RegExp(`^uk${body.id}_[\\w-]{40}$`));
      expect((await send("GET", "/whoami", body.key)).body.key).toMatchObject({ id: body.id, name: "ci" });
      const again = await send("GET", "/keys", manager.key);
      expect(again.text).not.toContain(body.key.slice(-40));
      expect(world.log.join("")).not.toContain(body.key.slice(-40));
      const never = await send("POST", "/keys", manager.key, { name: "n", expires: null });
      expect(never.body.expires).toBeNull();
    });

    it("refuses viewers, account-wide keys and plans without API access", async () => {
      const account = await world.newKey({ userId: world.userId, organizationId: null });
      const make = async (key: string) => (await send("POST", "/keys", key, {})).body;
      expect(await make(viewer.key)).toEqual(error(403, "You do not have permission to create API keys"));
      expect(await make(account)).toEqual(error(403, "Account-wide keys cannot create API keys. Use a workspace key."));
      const { plans } = world.controlPlane;
      await plans.setPlan(world.organizationId, "free", PLANS, START_MS);
      const words = "API access isn't included on this workspace's plan.";
      expect(await make(world.key)).toEqual(error(403, `${words} Upgrade to create API keys.`));
      expect((await send("GET", "/keys", world.key)).body).toEqual(error(403, words));
      await plans.setPlan(world.organizationId, "business", PLANS, START_MS);
    });

    it.each([
      [{}, "Key name is required"],
      [{ name: "" }, "Key name is required"],
      [{ name: "  " }, "Key name is required"],
      [{ name: 7 }, "Key name is required"],
      [{ name: null, expires: "x" }, "Key name is required"],
      [{ name: "n".repeat(121) }, "Key name is required and must be at most 120 characters"],
      [{ name: "a", expires: "2026-13-01" }, "expires must be a date, such as 2026-12-31."],
      [{ name: "a", expires: "2027-02-30" }, "expires must be a date, such as 2026-12-31."],
      [{ name: "a", expires: "2027-02-29T00:00:00Z" }, "expires must be a date, such as 2026-12-31."],
      [{ name: "a", expires: "soon" }, "expires must be a date, such as 2026-12-31."],
      [{ name: "a", expires: "" }, "expires must be a date, such as 2026-12-31."],
      [{ name: "a", expires: 1_800_000_000 }, "expires must be a date, such as 2026-12-31."],
      [{ name: "a", expires: "9999-12-31T23:59:59-01:00" }, "expires must be a date, such as 2026-12-31."],
      [{ name: "a", expires: "2026-11-21" }, "expires must be in the future."],
      [{ name: "a", expires: "2026-11-21T06:10:05Z" }, "expires must be in the future."],
      [{ name: "a", expires: "2026-11-21 06:10:05" }, "expires must be in the future."],
    ])("answers %j", async (body, message) => {
      expect((await send("POST", "/keys", world.key, body)).body).toEqual(error(400, message));
    });

    it("takes names of 120 characters of any size, and the second that comes next", async () => {
      const name = "🚀".repeat(120);
      const { body } = await send("POST", "/keys", world.key, { name, expires: "2026-11-21T07:10:06+01:00" });
      expect(body).toMatchObject({ name, expires: "2026-11-21 06:10:06" });
      expect((await send("POST", "/keys", world.key, { name: "x", expires: "2028-02-29" })).status).toBe(200);
      expect((await send("POST", "/keys", world.key, [])).body).toEqual(error(400, "Invalid JSON body"));
      // It ends with its time.
      world.clock.nowMs += 1_000;
      expect((await send("GET", "/whoami", body.key)).body).toEqual(error(401, "API key has expired"));
      const [row] = (await send("GET", "/keys", world.key)).body.keys.filter(
        ({ id }: { id: number }) => id === body.id,
      );
      expect(row).toMatchObject({ active: 1, status: "expired" });
      const revoked = await send("DELETE", `/keys/${body.id}`, world.key);
      expect(revoked.body).toEqual({ success: true, id: body.id, status: "expired", deleted: false });
      world.clock.nowMs -= 1_000;
    });

    it("of one that expires lives no longer and has no more rights", async () => {
      const expiresAtMs = START_MS + 3_600_500;
      const own = { userId: manager.userId, organizationId: world.organizationId };
      const short = await world.newKey({ ...own, expiresAtMs });
      const refused = error(400, "expires must not be later than 2026-11-21 07:10:05, when the key that asks expires.");
      for (const expires of [undefined, null, "2026-11-21 07:10:06", "2030-01-01", "9999-12-31"]) {
        const { body } = await send("POST", "/keys", short, { name: "longer", expires });
        expect([expires, body]).toEqual([expires, refused]);
      }
      for (const expires of ["2026-11-21 07:10:05", "2026-11-21T06:30:00Z"]) {
        const { status, body } = await send("POST", "/keys", short, { name: "shorter", expires });
        expect([expires, status]).toEqual([expires, 200]);
        expect(body).toMatchObject({ userID: own.userId, organizationId: own.organizationId });
        // What it made makes nothing longer either, and sees what its owner sees.
        expect((await send("POST", "/keys", body.key, { name: "longer", expires: "2026-11-21 07:10:06" })).status).toBe(
          400,
        );
        expect(await listed(body.key)).toEqual(await listed(manager.key));
        expect((await send("DELETE", `/keys/${body.id}?hard=1`, manager.key)).status).toBe(200);
      }
      await world.controlPlane.keys.remove(idOf(short));
      expect((await send("POST", "/keys", viewer.key, { name: "no" })).status).toBe(403);
    });

    it("reads any expiry or says why not", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(
            fc.string(),
            fc.date({ noInvalidDate: true }).map((d) => d.toISOString()),
          ),
          async (expires) => {
            const { status, body } = await send("POST", "/keys", world.key, { name: "p", expires });
            if (status === 200) expect(Date.parse(`${body.expires}Z`)).toBeGreaterThan(START_MS - 1_000);
            else expect(body.message).toMatch(/^expires must be (a date, such as 2026-12-31|in the future)\.$/);
          },
        ),
        { numRuns: 100 },
      );
    });

    it("makes no more than a thousand in a workspace, disabled ones counted", async () => {
      const { userId, organizationId } = world;
      const there = await world.controlPlane.keys.ofWorkspace(organizationId, null);
      const made = await Promise.all(
        Array.from({ length: 1_000 - there.length }, () => world.newKey({ userId, organizationId })),
      );
      const [one] = made.map(idOf);
      const make = () => send("POST", "/keys", world.key, { name: "one more" });
      const full = error(409, "A workspace has at most 1000 API keys: delete one with hard=1 first.");
      expect((await make()).body).toEqual(full);
      expect((await send("DELETE", `/keys/${one}`, world.key)).status).toBe(200);
      expect((await make()).body).toEqual(full);
      expect((await send("DELETE", `/keys/${one}?hard=1`, world.key)).status).toBe(200);
      expect((await make()).status).toBe(200);
    });
  });

  describe("revoking keys", () => {
    let world: World;
    let foreignId = 0;
    let foreignKey = "";
    beforeAll(async () => {
      world = await openWorld(server);
      const other = await world.controlPlane.accounts.createWorkspace({
        name: "Other",
        plan: "pro",
        projectName: "P",
        owner: { email: "eve@test-site.org", name: "Eve" },
        nowMs: START_MS,
      });
      foreignId = other?.organizationId ?? 0;
      foreignKey = await world.newKey({ userId: other?.userId ?? 0, organizationId: foreignId });
    });
    afterAll(() => world.close());

    const revoke = (key: string, target: string | number, query = "") =>
      world.send("DELETE", `/api/v1/keys/${target}${query}`, { key, project: null });
    const whoami = (key: string) => world.send("GET", "/api/v1/whoami", { key, project: null });
    const forbidden = error(403, "You do not have permission to revoke this key");
    const missing = error(404, "API key not found");

    it("switches off at once, again without change, and can be switched on", async () => {
      const { userId, organizationId } = world;
      const key = await world.newKey({ userId, organizationId, prefix: "dk" });
      const id = idOf(key);
      const off = { success: true, id, status: "inactive", deleted: false };
      expect((await revoke(world.key, id)).body).toEqual(off);
      expect((await whoami(key)).body).toEqual(error(401, "Invalid or expired API key"));
      const generation = await world.controlPlane.generation();
      expect((await revoke(world.key, id, "?hard=0")).body).toEqual(off);
      expect(await world.controlPlane.generation()).toBe(generation);
      await world.controlPlane.keys.setActive(id, true);
      expect((await whoami(key)).status).toBe(200);
      expect((await revoke(world.key, id, "?hard=1")).body).toEqual({
        success: true,
        id,
        status: null,
        deleted: true,
      });
      expect((await whoami(key)).body).toEqual(error(401, "Invalid or expired API key"));
      expect((await revoke(world.key, id)).body).toEqual(missing);
    });

    it("lets a key end itself, with an answer", async () => {
      for (const query of ["", "?hard=1"]) {
        const member = await addMember(world, "manager");
        const answer = await revoke(member.key, idOf(member.key), query);
        expect([answer.status, answer.headers["x-ratelimit-limit"]]).toEqual([200, "1000000000"]);
        expect((await whoami(member.key)).status).toBe(401);
      }
    });

    it("reads the id", async () => {
      for (const bad of ["0", "x", "uk1", "-1", "1.0", "%20"]) {
        expect((await revoke(world.key, bad)).body).toEqual(error(400, "Invalid key ID"));
      }
      expect((await revoke(world.key, 999_999)).body).toEqual(missing);
      expect((await revoke(world.key, idOf(foreignKey))).body).toEqual(missing);
    });

    it("asks the role: every cell of caller and target", async () => {
      const roles = ["owner", "admin", "manager", "viewer"] as const;
      for (const caller of roles) {
        for (const query of ["", "?hard=1"]) {
          const member = await addMember(world, caller);
          const own = await world.newKey({ userId: member.userId, organizationId: world.organizationId });
          const anothers = (await addMember(world, "manager")).key;
          const account = await world.newKey({ userId: member.userId, organizationId: null });
          const manages = caller === "owner" || caller === "admin";
          const says = async (target: string) => (await revoke(member.key, idOf(target), query)).body;
          const done = { success: true };
          expect(await says(own)).toMatchObject(caller === "viewer" ? forbidden : done);
          expect(await says(anothers)).toMatchObject(manages ? done : forbidden);
          expect(await says(foreignKey)).toMatchObject(caller === "viewer" ? forbidden : missing);
          expect(await says(account)).toMatchObject(caller === "viewer" ? forbidden : missing);
          expect((await revoke(member.key, "x")).body).toEqual(
            caller === "viewer" ? forbidden : error(400, "Invalid key ID"),
          );
        }
      }
      expect((await whoami(foreignKey)).status).toBe(200);
    });

    it("lets an account-wide key end what its owner may, by the role there", async () => {
      const member = await addMember(world, "manager");
      const { accounts } = world.controlPlane;
      const address = (await accounts.user(member.userId))?.email ?? "";
      const account = await world.newKey({ userId: member.userId, organizationId: null });
      const second = await world.newKey({ userId: member.userId, organizationId: null });
      const othersKey = await world.newKey({ userId: world.userId, organizationId: null });
      const says = async (target: string) => (await revoke(account, idOf(target))).body;
      expect(await says(othersKey)).toEqual(missing);
      expect(await says(foreignKey)).toEqual(missing);
      expect(await says(world.key)).toEqual(forbidden);
      expect(await says(second)).toMatchObject({ success: true });
      expect(await says(member.key)).toMatchObject({ success: true });
      await accounts.addMember(foreignId, { email: address, name: null }, "admin", START_MS);
      expect(await says(foreignKey)).toMatchObject({ success: true });
      expect(await says(account)).toMatchObject({ success: true, status: "inactive" });
      expect((await whoami(account)).status).toBe(401);
    });
  });

  describe("the person behind a key", () => {
    it("decides at each request", async () => {
      const world = await openWorld(server);
      const { accounts } = world.controlPlane;
      const member = await addMember(world, "viewer");
      const address = (await accounts.user(member.userId))?.email ?? "";
      const post = async (key = member.key) =>
        (await world.send("POST", "/api/v1/servers", { key, body: {} })).body.message;
      expect(await post()).toBe("You do not have permission to create monitors in this project");
      await accounts.addMember(world.organizationId, { email: address, name: null }, "manager", START_MS);
      expect(await post()).toBe("Missing or invalid name");
      await accounts.setUserActive(member.userId, false);
      expect(await post()).toBe("API key owner account is inactive");
      await accounts.setUserActive(member.userId, true);
      await accounts.removeMember(world.organizationId, member.userId);
      expect(await post()).toBe("This API key's workspace access has been removed");
      await accounts.addMember(world.organizationId, { email: address, name: null }, "manager", START_MS);
      expect(await post()).toBe("Invalid or expired API key");
      await world.controlPlane.keys.setActive(Number(/\d+/.exec(member.key)?.[0]), true);
      await accounts.setProjectActive(world.projectId, false);
      expect(await post()).toBe("Project not found or inactive");
      await accounts.setProjectActive(world.projectId, true);
      await world.controlPlane.plans.setSuspended(world.organizationId, true, PLANS, START_MS);
      const body = { type: "push", name: "a", period: 600 };
      const refused = await world.send("POST", "/api/v1/servers", { key: member.key, body });
      expect(refused.body).toEqual(error(403, "Your plan does not allow monitors."));
      await world.close();
    });
  });
}
