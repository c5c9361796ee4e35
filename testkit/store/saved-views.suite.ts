/** Saved views: a person's own and everyone's, one of each name, and a bound that holds when many are saved at once. */
import { describe, expect, it } from "vitest";
import { MOST_VIEWS } from "../../store/sql/accounts/saved-views-port.ts";
import { type Ground, NOW_MS } from "./ground.suite.ts";

export function savedViewTests(currentGround: () => Ground): void {
  const save = (userId: number | null, name: string, query = "q=x") => {
    const { plane, projectId } = currentGround();
    return plane.savedViews.save({ projectId, userId, name, query });
  };
  const names = async (userId: number): Promise<readonly string[]> => {
    const { plane, projectId } = currentGround();
    return (await plane.savedViews.list(projectId, userId)).map(({ name, query }) => `${name} ${query}`);
  };
  const join = async (): Promise<number> => {
    const { plane, organizationId } = currentGround();
    const added = await plane.accounts.addMember(organizationId, { email: "b@x.org", name: null }, "viewer", NOW_MS);
    return added?.userId ?? 0;
  };

  describe("saved views", () => {
    it("are seen by whom they belong to, and take the place of one with the same name", async () => {
      const { plane, projectId, userId } = currentGround();
      const other = await join();
      const own = await save(userId, "Down \ud800", "q=\ud800");
      if (own === undefined || own === "full") throw new Error("it was not saved");
      await save(null, "Down");
      expect(await save(userId, "Down \ud800", "q=y")).toEqual({ ...own, query: "q=y" });
      await save(null, "Down", "q=z");
      await save(other, "Theirs");
      expect(await names(userId)).toEqual(["Down \ufffd q=y", "Down q=z"]);
      expect(await names(other)).toEqual(["Down q=z", "Theirs q=x"]);
      expect(await plane.savedViews.find(projectId, other, own.id)).toBeUndefined();
      expect(await plane.savedViews.find(projectId + 1, userId, own.id)).toBeUndefined();
      expect(await plane.savedViews.remove(projectId + 1, own.id)).toBe(false);
      expect(await plane.savedViews.remove(projectId, own.id)).toBe(true);
      expect(await names(userId)).toEqual(["Down q=z"]);
      expect(await plane.savedViews.save({ projectId: 999, userId, name: "a", query: "q" })).toBeUndefined();
    });

    it("are bounded for a person and for everyone, also when they are saved at once", async () => {
      const { userId } = currentGround();
      for (const owner of [userId, null]) {
        const saved = await Promise.all(Array.from({ length: MOST_VIEWS + 3 }, (_, n) => save(owner, `v${n}`)));
        expect(saved.filter((one) => one === "full")).toHaveLength(3);
        const same = await Promise.all([save(owner, "v0", "q=1"), save(owner, "v0", "q=1")]);
        expect(same).not.toContain("full");
      }
      expect(await names(userId)).toHaveLength(2 * MOST_VIEWS);
    });

    it("go with the membership, but for everyone's", async () => {
      const { plane, organizationId, userId } = currentGround();
      const other = await join();
      await save(other, "Theirs");
      await save(null, "Ours");
      await plane.members.remove(organizationId, other, () => {});
      expect(await join()).toBe(other);
      expect(await names(other)).toEqual(["Ours q=x"]);
      await save(other, "Again");
      await plane.accounts.removeMember(organizationId, other);
      expect(await names(other)).toEqual(["Ours q=x"]);
      expect(await names(userId)).toEqual(["Ours q=x"]);
    });
  });
}
