/** What every route says of the audit log, and how the entries are bounded. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { SYSTEM_ACTOR } from "../model/actor.ts";
import { createAudit } from "../store/sql/accounts/audit.ts";
import { openSqlite } from "../store/sql/db/sqlite.ts";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { auditRule } from "./audit.ts";
import { routes } from "./endpoints/index.ts";

const WORD = /^[a-z]+(?:-[a-z]+)*\.[a-z]+ed$|^[a-z-]+\.(?:sent|shown|set)$/;

it.each(
  routes.filter(({ method }) => method !== "GET").map((route) => [`${route.method} ${route.path}`, route] as const),
)("%s says what it leaves in the audit log, also where that is nothing", (_name, route) => {
  expect(route.audit).not.toBeUndefined();
  const what = auditRule(route)?.what;
  if (typeof what === "string") expect(what).toMatch(WORD);
  // Such a request names no person. Signing in, the one that changes something, writes its entry itself.
  if (route.scope === "public" && route.operationId !== "signIn") expect(route.audit).toBeNull();
});

it("keeps the newest entries of a workspace, and no others", async () => {
  const folder = temporaryFolder();
  const database = await openSqlite({ file: join(folder, "control.sqlite"), durable: false });
  const audit = createAudit(database, 10);
  const entry = { projectId: null, actor: SYSTEM_ACTOR, what: "thing.changed", detail: {}, address: null } as const;
  const subject = { type: "thing", id: "1", name: null };
  for (let index = 1; index <= 40; index++)
    await audit.add({ ...entry, subject, organizationId: 1 + (index % 2), atMs: 1_000 + index });
  const filter = { fromMs: null, userId: null, what: null, limit: 100, offset: 0 };
  expect((await audit.list(1, filter, 2_000)).rows.map(({ atMs }) => atMs)).toEqual(
    Array.from({ length: 10 }, (_, index) => 1_040 - 2 * index),
  );
  await database.close();
});
