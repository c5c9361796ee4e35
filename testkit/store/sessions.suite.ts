/** Sessions of the page and codes of sign-in links: who is behind them, how they end, that a code is used once. */
import { describe, expect, it } from "vitest";
import type { NewSession } from "../../store/sql/accounts/sessions-port.ts";
import { type Ground, NOW_MS } from "./ground.suite.ts";

const DAY_MS = 86_400_000;

export function sessionTests(currentGround: () => Ground): void {
  const newSession = async (over: Partial<NewSession> = {}) => {
    const session = await currentGround().plane.sessions.create({
      secretHash: "hash",
      userId: currentGround().userId,
      keyId: null,
      via: "link",
      createdAtMs: NOW_MS,
      endsAtMs: NOW_MS + 30 * DAY_MS,
      device: "Firefox on Linux \u0000",
      address: "192.0.2.7",
      ...over,
    });
    if (session === undefined) throw new Error("no session was begun");
    return session;
  };

  describe("sessions", () => {
    it("tell who is behind them, as the person is now", async () => {
      const { plane, userId } = currentGround();
      const session = await newSession();
      expect(session).toMatchObject({ seenAtMs: NOW_MS, secretHash: "hash", via: "link", keyId: null });
      const user = { id: userId, email: "Owner@test-site.org", name: "Owner", active: true };
      expect(await plane.sessions.access(session.id)).toEqual({ session, user });
      await plane.accounts.setUserActive(userId, false);
      expect((await plane.sessions.access(session.id))?.user.active).toBe(false);
      expect(await plane.sessions.access(session.id + 1)).toBeUndefined();
    });

    it("end one by one, or all others; caches hear of it", async () => {
      const { plane, userId } = currentGround();
      const [one, two, three] = [await newSession(), await newSession(), await newSession()];
      const before = await plane.generation();
      expect(await plane.sessions.end(userId + 1, one.id)).toBe(false);
      expect(await plane.sessions.end(userId, one.id)).toBe(true);
      expect(await plane.sessions.end(userId, one.id)).toBe(false);
      expect(await plane.generation()).toBeGreaterThan(before);
      expect((await plane.sessions.ofUser(userId, NOW_MS)).map(({ id }) => id)).toEqual([three.id, two.id]);
      expect(await plane.sessions.endOthers(userId, two.id)).toBe(1);
      expect((await plane.sessions.ofUser(userId, NOW_MS)).map(({ id }) => id)).toEqual([two.id]);
    });

    it("die with the key that they were made with", async () => {
      const { plane, userId, organizationId } = currentGround();
      const key = await plane.keys.create({
        ...{ name: "ci", kind: "workspace", userId, organizationId, expiresAtMs: null, nowMs: NOW_MS },
        secretHash: () => "h",
      });
      const session = await newSession({ keyId: key.id, via: "key" });
      expect(await plane.sessions.access(session.id)).toBeDefined();
      await plane.keys.remove(key.id);
      expect(await plane.sessions.access(session.id)).toBeUndefined();
    });

    it("are forgotten when they are too old", async () => {
      const { plane, userId } = currentGround();
      const old = await newSession({ endsAtMs: NOW_MS + 5 });
      expect(await plane.sessions.ofUser(userId, NOW_MS + 5)).toEqual([]);
      await newSession({ createdAtMs: NOW_MS + 5 });
      expect(await plane.sessions.access(old.id)).toBeUndefined();
    });

    it("remember when they were last seen, without telling the caches", async () => {
      const { plane } = currentGround();
      const [one, two] = [await newSession(), await newSession()];
      const before = await plane.generation();
      await plane.sessions.touch(
        new Map([
          [two.id, NOW_MS + 5],
          [one.id, NOW_MS - 5],
          [999_999, NOW_MS],
        ]),
      );
      await plane.sessions.touch(new Map());
      expect((await plane.sessions.access(one.id))?.session.seenAtMs).toBe(NOW_MS);
      expect((await plane.sessions.access(two.id))?.session.seenAtMs).toBe(NOW_MS + 5);
      expect(await plane.generation()).toBe(before);
    });
  });

  describe("codes of sign-in links", () => {
    const code = (codeHash: string, expiresAtMs = NOW_MS + 10) =>
      currentGround().plane.sessions.addCode({ codeHash, userId: currentGround().userId, nowMs: NOW_MS, expiresAtMs });

    it("are used once, also by several at the same moment", async () => {
      const { plane, userId } = currentGround();
      await code("a");
      const takes = await Promise.all(Array.from({ length: 8 }, () => plane.sessions.takeCode("a", NOW_MS)));
      expect(takes.filter((taken) => taken === userId).length).toBe(1);
      expect(takes.filter((taken) => taken === undefined).length).toBe(7);
      expect(await plane.sessions.takeCode("b", NOW_MS)).toBeUndefined();
    });

    it("are of no use when they are too old", async () => {
      const { plane, userId } = currentGround();
      await code("a");
      await code("b");
      expect(await plane.sessions.takeCode("a", NOW_MS + 10)).toBeUndefined();
      expect(await plane.sessions.takeCode("b", NOW_MS + 9)).toBe(userId);
    });
  });
}
