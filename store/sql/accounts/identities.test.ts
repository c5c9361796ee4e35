/** The bound of sign-ins that were begun, with a small one. */
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { temporaryFolder } from "../../../testkit/temporary-folder.ts";
import { openSqlite } from "../db/sqlite.ts";
import { createIdentities } from "./identities.ts";

const folder = temporaryFolder();
const database = await openSqlite({ file: join(folder, "control.sqlite"), durable: false });
afterAll(async () => {
  await database.close();
});

it("forgets the oldest of too many sign-ins", async () => {
  const identities = createIdentities(database, 3);
  for (let n = 0; n < 5; n++) {
    const attempt = { attemptHash: `a${n}`, purpose: "oidc", userId: null } as const;
    await identities.addAttempt({ ...attempt, nowMs: n, expiresAtMs: 100 + n });
  }
  const taken = await Promise.all([0, 1, 2, 3, 4].map((n) => identities.takeAttempt(`a${n}`, "oidc", 5)));
  expect(taken.map((one) => one !== undefined)).toEqual([false, false, true, true, true]);
});
