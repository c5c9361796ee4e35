/** Accounts of people at a provider, and sign-ins that were begun: one person for each account, and a sign-in is used once. */
import { describe, expect, it } from "vitest";
import { MOST_PASSKEYS } from "../../store/sql/accounts/passkeys-port.ts";
import { type Ground, NOW_MS } from "./ground.suite.ts";

const PROVIDER = "https://login.test-site.org";

export function identityTests(currentGround: () => Ground): void {
  const link = (subject: string, userId = currentGround().userId, provider = PROVIDER) =>
    currentGround().plane.identities.link({ provider, subject, userId, email: "a@test-site.org", nowMs: NOW_MS });
  const join = async (email: string): Promise<number> => {
    const { plane, organizationId } = currentGround();
    const added = await plane.accounts.addMember(organizationId, { email, name: null }, "viewer", NOW_MS);
    return added?.userId ?? 0;
  };

  describe("accounts of a provider", () => {
    it("are one person's, who has one of each provider", async () => {
      const { plane, userId } = currentGround();
      const other = await join("b@test-site.org");
      expect(await plane.identities.user(PROVIDER, "ada")).toBeUndefined();
      const links = await Promise.all([link("ada"), link("ada"), link("ada")]);
      expect(links).toEqual([true, true, true]);
      expect(await plane.identities.user(PROVIDER, "ada")).toMatchObject({ id: userId, active: true });
      expect(await plane.identities.user("https://other.test-site.org", "ada")).toBeUndefined();
      expect([await link("ada", other), await link("eve"), await link("bob", other)]).toEqual([false, false, true]);
      expect(await link("ada", userId, "https://other.test-site.org")).toBe(true);
      expect(await plane.identities.user(PROVIDER, "eve")).toBeUndefined();
    });

    it("are known as those of a person who was taken out, until the next invitation", async () => {
      const { plane, organizationId, userId } = currentGround();
      const second = await plane.accounts.createWorkspace({
        ...{ name: "Second", plan: "free", projectName: "P", owner: userId, nowMs: NOW_MS },
      });
      const people = [await join("b@test-site.org"), await join("c@test-site.org")] as const;
      const [byOwner, byOperator] = people;
      await link("bob", byOwner);
      await link("cy", byOperator);
      await plane.accounts.addMember(
        ...([second?.organizationId ?? 0, { email: "b@test-site.org", name: null }, "viewer", NOW_MS] as const),
      );
      await plane.members.remove(organizationId, byOwner, () => {});
      expect(await plane.identities.user(PROVIDER, "bob")).toMatchObject({ id: byOwner });
      await plane.members.remove(second?.organizationId ?? 0, byOwner, () => {});
      await plane.accounts.removeMember(organizationId, byOperator);
      expect(await plane.identities.user(PROVIDER, "bob")).toMatchObject({ id: byOwner });
      expect(await plane.identities.user(PROVIDER, "cy")).toMatchObject({ id: byOperator });
      await plane.members.invite(organizationId, { email: "b@test-site.org", name: null }, "viewer", NOW_MS);
      await join("c@test-site.org");
      expect(await plane.identities.user(PROVIDER, "bob")).toBeUndefined();
      expect(await plane.identities.user(PROVIDER, "cy")).toBeUndefined();
    });
  });

  describe("a person who is taken out of the last workspace", () => {
    it("has no session, no link and no sign-in under way, also after joining again", async () => {
      const { plane, organizationId } = currentGround();
      const person = await join("b@test-site.org");
      const of = { secretHash: "hash", userId: person, keyId: null, via: "oidc", device: "a", address: "b" } as const;
      const begin = () => plane.sessions.create({ ...of, createdAtMs: NOW_MS, endsAtMs: NOW_MS + 10 });
      const session = await begin();
      const until = { userId: person, nowMs: NOW_MS, expiresAtMs: NOW_MS + 10 };
      await plane.sessions.addCode({ ...until, codeHash: "code" });
      await plane.identities.addAttempt({ ...until, attemptHash: "a", purpose: "new-passkey" });
      await plane.members.remove(organizationId, person, () => {});
      expect(await begin()).toBeUndefined();
      expect(await join("b@test-site.org")).toBe(person);
      expect(await plane.sessions.access(session?.id ?? 0)).toBeUndefined();
      expect(await plane.sessions.takeCode("code", NOW_MS)).toBeUndefined();
      expect(await plane.identities.takeAttempt("a", "new-passkey", NOW_MS)).toBeUndefined();
      const passkey = { credentialId: "c", publicKey: "key", counter: 0, name: "c", addedVia: "oidc" } as const;
      const added = await plane.passkeys.add({ ...passkey, userId: person, createdAtMs: NOW_MS }, session?.id ?? 0);
      expect(added).toBe("ended");
    });

    it("has none that began at that moment", async () => {
      const { plane, organizationId } = currentGround();
      const of = { secretHash: "hash", keyId: null, via: "oidc", device: "a", address: "b" } as const;
      for (let round = 0; round < 10; round++) {
        const userId = await join(`p${round}@test-site.org`);
        const begun = plane.sessions.create({ ...of, userId, createdAtMs: NOW_MS, endsAtMs: NOW_MS + 10 });
        await Promise.all([plane.accounts.removeMember(organizationId, userId), begun]);
        expect(await plane.sessions.ofUser(userId, NOW_MS)).toEqual([]);
      }
    });
  });

  describe("what a person signs in with", () => {
    const passkey = async (credentialId: string) => {
      const { plane, userId } = currentGround();
      const key = { credentialId, publicKey: "key", counter: 0, name: credentialId, addedVia: "link" as const };
      const by = await session("link");
      const added = await plane.passkeys.add({ ...key, userId, createdAtMs: NOW_MS }, by);
      await plane.sessions.end(userId, by);
      return added;
    };
    const session = async (via: "link" | "oidc" | "passkey") => {
      const { plane, userId } = currentGround();
      const of = { secretHash: "hash", userId, keyId: null, device: "a", address: "b" };
      return (await plane.sessions.create({ ...of, via, createdAtMs: NOW_MS, endsAtMs: NOW_MS + 10 }))?.id ?? 0;
    };
    const left = async () => {
      const { plane, userId } = currentGround();
      return (await plane.sessions.ofUser(userId, NOW_MS)).map(({ via }) => via).sort();
    };

    it("is forgotten one by one, with the sessions that it began", async () => {
      const { plane, userId } = currentGround();
      const other = await join("b@test-site.org");
      await link("ada");
      await link("bob", other);
      const [phone, laptop] = [await passkey("phone"), await passkey("laptop")];
      if (typeof phone === "string" || typeof laptop === "string") throw new Error("no passkey");
      for (const via of ["link", "oidc", "passkey"] as const) await session(via);
      const generation = await plane.generation();
      const { forget } = plane.identities;
      const nothing = { accounts: 0, passkeys: 0, sessions: 0 };
      expect(await forget(userId, { kind: "provider", issuer: "https://other.test-site.org" })).toEqual(nothing);
      expect(await forget(other, { kind: "passkey", id: phone.id })).toEqual(nothing);
      expect(await forget(userId, { kind: "passkey", id: phone.id })).toEqual({ ...nothing, passkeys: 1, sessions: 1 });
      expect(await left()).toEqual(["link", "oidc"]);
      expect(await plane.generation()).toBeGreaterThan(generation);
      const account = { provider: PROVIDER, email: "a@test-site.org", linkedAtMs: NOW_MS };
      expect(await plane.identities.ofUser(userId)).toEqual([account]);
      expect(await forget(userId, { kind: "all" })).toEqual({ accounts: 1, passkeys: 1, sessions: 1 });
      expect(await left()).toEqual(["link"]);
      expect(await plane.identities.user(PROVIDER, "bob")).toMatchObject({ id: other });
      expect(await link("ada-2")).toBe(true);
    });

    it("has a bound of passkeys, also when they are added at once", async () => {
      const added = await Promise.all(Array.from({ length: MOST_PASSKEYS + 5 }, (_, n) => passkey(`p${n}`)));
      expect(added.filter((one) => one === "full")).toHaveLength(5);
      expect(await passkey("one more")).toBe("full");
    });
  });

  describe("sign-ins that were begun", () => {
    const begin = (attemptHash: string, expiresAtMs = NOW_MS + 10, nowMs = NOW_MS) =>
      currentGround().plane.identities.addAttempt({ attemptHash, purpose: "oidc", userId: null, nowMs, expiresAtMs });

    it("are used once, also by several at the same moment", async () => {
      const { identities } = currentGround().plane;
      await begin("a");
      const takes = await Promise.all(Array.from({ length: 8 }, () => identities.takeAttempt("a", "oidc", NOW_MS)));
      expect(takes.filter((taken) => taken !== undefined)).toEqual([{ userId: null }]);
      expect(await identities.takeAttempt("b", "oidc", NOW_MS)).toBeUndefined();
    });

    it("are of no use when they are too old, and are forgotten then", async () => {
      const { identities } = currentGround().plane;
      await begin("a");
      await begin("b");
      expect(await identities.takeAttempt("a", "oidc", NOW_MS + 10)).toBeUndefined();
      await begin("c", NOW_MS + 30, NOW_MS + 10);
      expect(await identities.takeAttempt("b", "oidc", NOW_MS)).toBeUndefined();
      expect(await identities.takeAttempt("c", "oidc", NOW_MS + 10)).toEqual({ userId: null });
    });
  });
}
