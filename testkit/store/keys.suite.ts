/** API keys: who is behind them, who sees them, how they end. */
import { describe, expect, it } from "vitest";
import type { KeyRecord } from "../../store/sql/accounts/keys-port.ts";
import { type Ground, NOW_MS } from "./ground.suite.ts";

async function newKey(ground: Ground, over: Partial<Parameters<Ground["plane"]["keys"]["create"]>[0]> = {}) {
  const { plane, organizationId, userId } = ground;
  const input = { name: "ci", kind: "workspace" as const, userId, organizationId, expiresAtMs: null, nowMs: NOW_MS };
  return plane.keys.create({ ...input, secretHash: (id) => `hash of ${id}`, ...over });
}

const idsOf = (keys: readonly KeyRecord[]): number[] => keys.map(({ id }) => id);

export function keyTests(currentGround: () => Ground): void {
  describe("keys", () => {
    it("makes a key's hash once its id is known, and tells who is behind it", async () => {
      const { plane, organizationId, userId } = currentGround();
      const before = await plane.generation();
      const key = await plane.keys.create({
        name: "ci",
        kind: "workspace",
        userId,
        organizationId,
        expiresAtMs: null,
        nowMs: NOW_MS,
        secretHash: (id) => `hash of ${id}`,
      });
      expect(key).toMatchObject({ name: "ci", secretHash: `hash of ${key.id}`, active: true, lastUsedAtMs: null });
      expect(await plane.generation()).toBeGreaterThan(before);
      expect(await plane.keys.access(key.id)).toEqual({
        key,
        user: { id: userId, email: "Owner@test-site.org", name: "Owner", active: true },
        workspace: await plane.accounts.workspace(organizationId),
        role: "owner",
      });
      expect(await plane.keys.access(key.id + 1)).toBeUndefined();
    });

    it("keeps account-wide keys without workspace and role", async () => {
      const { plane, userId } = currentGround();
      const input = { name: "laptop", kind: "account" as const, userId, organizationId: null, expiresAtMs: NOW_MS };
      const key = await plane.keys.create({ ...input, nowMs: NOW_MS, secretHash: () => "h" });
      expect(await plane.keys.access(key.id)).toMatchObject({
        key: { expiresAtMs: NOW_MS },
        workspace: null,
        role: null,
      });
    });

    it("remembers the latest use of a key without raising the generation", async () => {
      const { plane, organizationId, userId } = currentGround();
      const input = { kind: "workspace" as const, userId, organizationId, expiresAtMs: null, nowMs: NOW_MS };
      const one = await plane.keys.create({ ...input, name: "one", secretHash: () => "1" });
      const two = await plane.keys.create({ ...input, name: "two", secretHash: () => "2" });
      const before = await plane.generation();
      await plane.keys.touch(
        new Map([
          [two.id, NOW_MS + 5],
          [one.id, NOW_MS + 3],
          [999, NOW_MS],
        ]),
      );
      await plane.keys.touch(new Map([[one.id, NOW_MS + 1]]));
      await plane.keys.touch(new Map());
      expect((await plane.keys.access(one.id))?.key.lastUsedAtMs).toBe(NOW_MS + 3);
      expect((await plane.keys.access(two.id))?.key.lastUsedAtMs).toBe(NOW_MS + 5);
      expect(await plane.generation()).toBe(before);
    });

    it("lists those of a workspace or of a person, newest first", async () => {
      const ground = currentGround();
      const { plane, organizationId, userId } = ground;
      const member = await plane.accounts.addMember(
        organizationId,
        { email: "b@test-site.org", name: null },
        "manager",
        1,
      );
      const bob = member?.userId ?? 0;
      const other = await plane.accounts.createWorkspace({
        name: "Other",
        plan: "pro",
        projectName: "P",
        owner: bob,
        nowMs: NOW_MS,
      });
      const old = await newKey(ground, { nowMs: NOW_MS - 5 });
      const bobs = await newKey(ground, { userId: bob });
      const mine = await newKey(ground);
      const wide = await newKey(ground, { kind: "account", organizationId: null, nowMs: NOW_MS + 1 });
      const foreign = await newKey(ground, { userId: bob, organizationId: other?.organizationId ?? 0 });
      expect(idsOf(await plane.keys.ofWorkspace(organizationId, null))).toEqual([mine.id, bobs.id, old.id]);
      expect(idsOf(await plane.keys.ofWorkspace(organizationId, bob))).toEqual([bobs.id]);
      expect(await plane.keys.ofWorkspace(999, null)).toEqual([]);
      expect(idsOf(await plane.keys.ofPerson(userId, []))).toEqual([wide.id, mine.id, old.id]);
      expect(idsOf(await plane.keys.ofPerson(userId, [organizationId]))).toEqual([wide.id, mine.id, bobs.id, old.id]);
      expect(idsOf(await plane.keys.ofPerson(bob, []))).toEqual([foreign.id, bobs.id]);
    });

    it("makes no more in a workspace than it may have, also when they are made at once", async () => {
      const { plane, organizationId, userId } = currentGround();
      const input = { name: "k", kind: "workspace" as const, userId, organizationId, expiresAtMs: null, nowMs: NOW_MS };
      const make = () => plane.keys.createWithin(7, { ...input, secretHash: (id) => `hash of ${id}` });
      const made = await Promise.all(Array.from({ length: 12 }, make));
      expect(made.filter((one) => one === "full")).toHaveLength(5);
      expect(await plane.keys.ofWorkspace(organizationId, null)).toHaveLength(7);
    });

    it("switches off and on, and deletes for good, raising the generation", async () => {
      const ground = currentGround();
      const { plane } = ground;
      const key = await newKey(ground);
      const before = await plane.generation();
      expect(await plane.keys.setActive(key.id, false)).toEqual({ ...key, active: false });
      expect(await plane.generation()).toBeGreaterThan(before);
      expect(await plane.keys.find(key.id)).toEqual({ ...key, active: false });
      expect((await plane.keys.access(key.id))?.key.active).toBe(false);
      expect(await plane.keys.setActive(key.id, true)).toEqual(key);
      expect(await plane.keys.setActive(999, false)).toBeUndefined();
      const switched = await plane.generation();
      expect(await plane.keys.remove(key.id)).toBe(true);
      expect(await plane.generation()).toBeGreaterThan(switched);
      expect(await plane.keys.remove(key.id)).toBe(false);
      expect(await plane.keys.find(key.id)).toBeUndefined();
      expect(await plane.keys.access(key.id)).toBeUndefined();
      expect((await newKey(ground)).id).toBeGreaterThan(key.id);
    });
  });
}
