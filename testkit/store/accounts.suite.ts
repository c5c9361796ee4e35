/** People, workspaces, projects and who belongs where. */
import { describe, expect, it } from "vitest";
import { StoreError } from "../../store/errors.ts";
import { ADA, type Another, type Ground, make, NOW_MS } from "./ground.suite.ts";

export function accountTests(currentGround: () => Ground, another: Another): void {
  describe("accounts", () => {
    it("remembers the first owner, workspace and project", async () => {
      const { plane, organizationId, projectId, userId } = currentGround();
      expect(await plane.accounts.isEmpty()).toBe(false);
      expect(await plane.accounts.workspace(organizationId)).toEqual({
        id: organizationId,
        name: "Acme",
        plan: "business",
        suspended: false,
        createdAtMs: NOW_MS,
      });
      const project = { id: projectId, organizationId, name: "Production", active: true, createdAtMs: NOW_MS };
      expect(await plane.accounts.project(projectId)).toEqual(project);
      expect(await plane.accounts.projectsOf(organizationId)).toEqual([project]);
      expect(await plane.accounts.role(userId, organizationId)).toBe("owner");
      expect(await plane.accounts.role(userId, organizationId + 1)).toBeUndefined();
      expect(await plane.accounts.workspace(99)).toBeUndefined();
      expect(await plane.accounts.project(99)).toBeUndefined();
      const workspace = await plane.accounts.workspace(organizationId);
      expect(await plane.accounts.memberships(userId)).toEqual([{ workspace, role: "owner" }]);
      expect(await plane.accounts.memberships(99)).toEqual([]);
    });

    it("makes nothing when the first owner cannot be made", async () => {
      const { plane } = currentGround();
      const again = { email: "OWNER@test-site.org", userName: "x", workspaceName: "Second", plan: "free" as const };
      await expect(plane.accounts.createFirst({ ...again, projectName: "p", nowMs: NOW_MS })).rejects.toThrow(
        StoreError,
      );
      expect(await plane.accounts.workspace(2)).toBeUndefined();
    });

    it("makes a workspace with its project for a new person, or one who is there", async () => {
      const { plane, userId } = currentGround();
      const input = { name: "Beta", plan: "starter" as const, projectName: "First", nowMs: NOW_MS + 1 };
      const before = await plane.generation();
      const made = await plane.accounts.createWorkspace({
        ...input,
        owner: { email: "Bob@test-site.org", name: null },
      });
      expect(await plane.generation()).toBeGreaterThan(before);
      const bob = await plane.accounts.userByEmail("bob@TEST-site.org");
      expect(bob).toEqual({ id: made?.userId, email: "Bob@test-site.org", name: null, active: true });
      expect(await plane.accounts.user(bob?.id ?? 0)).toEqual(bob);
      expect(await plane.accounts.workspace(made?.organizationId ?? 0)).toMatchObject({
        name: "Beta",
        plan: "starter",
      });
      expect((await plane.accounts.projectsOf(made?.organizationId ?? 0)).map(({ name }) => name)).toEqual(["First"]);

      const again = await plane.accounts.createWorkspace({
        ...input,
        owner: { email: "BOB@test-site.org", name: "x" },
      });
      expect(again?.userId).toBe(bob?.id);
      const owned = await plane.accounts.createWorkspace({ ...input, owner: userId });
      const memberships = await plane.accounts.memberships(userId);
      expect(memberships.map(({ workspace, role }) => [workspace.id, role])).toEqual([
        [currentGround().organizationId, "owner"],
        [owned?.organizationId, "owner"],
      ]);
      expect((await plane.accounts.workspaces()).map(({ name }) => name)).toEqual(["Acme", "Beta", "Beta", "Beta"]);
      expect(await plane.accounts.createWorkspace({ ...input, owner: 999 })).toBeUndefined();
      expect(await plane.accounts.workspace((owned?.organizationId ?? 0) + 1)).toBeUndefined();
    });

    it("makes projects, and hides them from lists, searches and the plan while they are inactive", async () => {
      const ground = currentGround();
      const { plane, organizationId } = ground;
      const project = await plane.accounts.createProject(organizationId, "Second", NOW_MS + 1);
      const projectId = project?.id ?? 0;
      expect(project).toEqual({ id: projectId, organizationId, name: "Second", active: true, createdAtMs: NOW_MS + 1 });
      expect(await plane.accounts.createProject(999, "x", NOW_MS)).toBeUndefined();
      const monitorId = await make(ground, { projectId });
      await make(ground);
      await plane.monitors.remove(ground.projectId, await make(ground), NOW_MS, ADA);
      const counts = await plane.accounts.monitorCounts([projectId, ground.projectId, 999]);
      expect(counts).toEqual(
        new Map([
          [projectId, 1],
          [ground.projectId, 1],
        ]),
      );
      expect(await plane.accounts.monitorCounts([])).toEqual(new Map());

      const { generation } = await plane.monitors.changedSince(Number.POSITIVE_INFINITY);
      expect(await plane.accounts.setProjectActive(projectId, false)).toBe(true);
      expect(await plane.accounts.project(projectId)).toMatchObject({ active: false });
      expect((await plane.accounts.projectsOf(organizationId)).map(({ id }) => id)).toEqual([ground.projectId]);
      const every = await plane.accounts.everyProjectOf(organizationId);
      expect(every.map(({ id, active }) => [id, active])).toEqual([
        [ground.projectId, true],
        [projectId, false],
      ]);
      const gone = await plane.monitors.changedSince(generation);
      expect(gone).toMatchObject({ changed: [], removedIds: [monitorId] });
      const all = await plane.monitors.changedSince(Number.POSITIVE_INFINITY);
      expect(all.changed.map(({ monitor }) => monitor.id)).not.toContain(monitorId);

      expect(await plane.accounts.setProjectActive(projectId, true)).toBe(true);
      const back = await plane.monitors.changedSince(gone.generation);
      expect(back.changed.map(({ monitor }) => monitor.id)).toEqual([monitorId]);
      expect(back.removedIds).toEqual([]);
      expect(await plane.accounts.setProjectActive(999, false)).toBe(false);
    });

    it("adds members by address, changes roles, removes them, switches people off", async () => {
      const { plane, organizationId, userId } = currentGround();
      const eve = { email: "Eve@test-site.org", name: "Eve" };
      const before = await plane.generation();
      const added = await plane.accounts.addMember(organizationId, eve, "viewer", NOW_MS + 1);
      expect(added?.roleBefore).toBeNull();
      const id = added?.userId ?? 0;
      expect(await plane.accounts.role(id, organizationId)).toBe("viewer");
      const changed = await plane.accounts.addMember(
        organizationId,
        { ...eve, email: "eve@test-site.org" },
        "admin",
        0,
      );
      expect(changed).toEqual({ userId: id, roleBefore: "viewer" });
      expect(await plane.accounts.role(id, organizationId)).toBe("admin");
      expect(await plane.accounts.addMember(999, { email: "z@test-site.org", name: null }, "admin", 0)).toBeUndefined();
      expect(await plane.accounts.userByEmail("z@test-site.org")).toBeUndefined();
      expect(await plane.accounts.setUserActive(id, false)).toBe(true);
      expect(await plane.accounts.user(id)).toMatchObject({ name: "Eve", active: false });
      expect(await plane.accounts.setUserActive(id, true)).toBe(true);
      expect(await plane.accounts.setUserActive(999, true)).toBe(false);
      const members = await plane.accounts.membersOf(organizationId);
      expect(members.map(({ user, role }) => [user.id, role])).toEqual([
        [userId, "owner"],
        [id, "admin"],
      ]);
      expect(await plane.accounts.removeMember(organizationId, id)).toBe(true);
      expect(await plane.accounts.removeMember(organizationId, id)).toBe(false);
      expect(await plane.accounts.role(id, organizationId)).toBeUndefined();
      expect(await plane.accounts.role(userId, organizationId)).toBe("owner");
      expect(await plane.generation()).toBeGreaterThanOrEqual(before + 5);
    });

    it("makes one person of many at once", async () => {
      const { plane, organizationId } = currentGround();
      const second = await another("api");
      try {
        const adds = await Promise.allSettled(
          Array.from({ length: 8 }, (_, index) =>
            (index % 2 === 0 ? plane : second).accounts.addMember(
              organizationId,
              { email: "many@test-site.org", name: null },
              "viewer",
              NOW_MS,
            ),
          ),
        );
        const owned = await Promise.allSettled(
          Array.from({ length: 8 }, (_, index) =>
            (index % 2 === 0 ? plane : second).accounts.createWorkspace({
              name: "Many",
              plan: "pro",
              projectName: "P",
              owner: { email: "owner-of-many@test-site.org", name: null },
              nowMs: NOW_MS,
            }),
          ),
        );
        for (const all of [adds, owned]) {
          const ids = all.map((one) => (one.status === "fulfilled" ? one.value?.userId : one.reason));
          expect(new Set(ids).size).toBe(1);
        }
      } finally {
        await second.close();
      }
    });
  });
}
