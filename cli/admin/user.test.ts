/** What an operator sees and takes away of what people sign in with. */
import { expect, it } from "vitest";
import { adminRig, NOW_MS } from "./rig.suite.ts";
import { user } from "./user.ts";

const ISSUER = "https://login.test-site.org";

const { run } = adminRig(user, async (controlPlane, { userId }) => {
  const email = "a\u0007@test-site.org";
  await controlPlane.identities.link({ provider: ISSUER, subject: "ada", userId, email, nowMs: NOW_MS });
  const key = { publicKey: "s3cret", counter: 0, userId, addedVia: "link" as const, createdAtMs: NOW_MS };
  const session = { secretHash: "hash", userId, keyId: null, via: "link", device: "a", address: "b" } as const;
  const by = await controlPlane.sessions.create({ ...session, createdAtMs: NOW_MS, endsAtMs: NOW_MS + 10 });
  await controlPlane.passkeys.add({ ...key, credentialId: "one", name: "Phone" }, by?.id ?? 0);
  await controlPlane.passkeys.add({ ...key, credentialId: "two", name: "Laptop" }, by?.id ?? 0);
});
it("lists accounts and passkeys, and forgets one of them, or all", async () => {
  const { facts, text } = await run("ways 1");
  expect(facts).toMatchObject({
    accounts: [{ provider: ISSUER, linked_at: "2026-11-26T00:00:00.000Z" }],
    passkeys: [
      { id: 1, name: "Phone", used_at: null },
      { id: 2, name: "Laptop" },
    ],
  });
  expect(text).toContain("Laptop");
  expect(text).not.toContain("s3cret");
  expect(text).not.toContain("\u0007");
  await expect(run("unlink 1", { passkey: "9" })).rejects.toThrow("there is no passkey 9 of user 1");
  await expect(run("unlink 1", { provider: "x" })).rejects.toThrow("there is no account of user 1 at x");
  await expect(run("unlink 1", { provider: ISSUER, passkey: "1" })).rejects.toThrow("give one of them");
  await expect(run("unlink 7")).rejects.toThrow("there is no user 7");
  expect((await run("unlink 1", { passkey: "1" })).facts).toMatchObject({ accounts: 0, passkeys: 1 });
  expect((await run("unlink 1")).facts).toMatchObject({ accounts: 1, passkeys: 1 });
  expect((await run("ways 1")).facts).toMatchObject({ accounts: [], passkeys: [] });
});
