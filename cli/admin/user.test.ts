/** What an operator sees and takes away of what people sign in with. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import type { AdminStores } from "./stores.ts";
import { user } from "./user.ts";

const NOW_MS = Date.UTC(2026, 10, 26);
const ISSUER = "https://login.test-site.org";
const folder = mkdtempSync(join(tmpdir(), "sonde-admin-"));
let controlPlane: ControlPlane;

beforeAll(async () => {
  controlPlane = await openControlPlane({ file: join(folder, "sonde.db") }, { role: "api" });
  const names = { email: "a@test-site.org", userName: "a", workspaceName: "w", projectName: "p" };
  const { userId } = await controlPlane.accounts.createFirst({ ...names, plan: "pro", nowMs: NOW_MS });
  const email = "a\u0007@test-site.org";
  await controlPlane.identities.link({ provider: ISSUER, subject: "ada", userId, email, nowMs: NOW_MS });
  const key = { publicKey: "s3cret", counter: 0, userId, addedVia: "link" as const, createdAtMs: NOW_MS };
  const session = { secretHash: "hash", userId, keyId: null, via: "link", device: "a", address: "b" } as const;
  const by = await controlPlane.sessions.create({ ...session, createdAtMs: NOW_MS, endsAtMs: NOW_MS + 10 });
  await controlPlane.passkeys.add({ ...key, credentialId: "one", name: "Phone" }, by?.id ?? 0);
  await controlPlane.passkeys.add({ ...key, credentialId: "two", name: "Laptop" }, by?.id ?? 0);
});
afterAll(async () => {
  await controlPlane.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(words: string, options: Readonly<Record<string, unknown>> = {}) {
  const [name, ...rest] = words.split(" ");
  const act = user.acts.find(({ usage }) => usage.split(" ")[0] === name);
  if (act === undefined) throw new Error(`there is no act ${name}`);
  return act.run({ controlPlane, nowMs: NOW_MS + 5 } as AdminStores, options as never, rest);
}

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
