/** What an operator sees and does of status pages. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NEW_PAGE } from "../../model/status-page.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { page } from "./page.ts";
import type { AdminStores } from "./stores.ts";

const NOW_MS = Date.UTC(2026, 10, 26);
const folder = mkdtempSync(join(tmpdir(), "sonde-admin-"));
let controlPlane: ControlPlane;

beforeAll(async () => {
  controlPlane = await openControlPlane({ file: join(folder, "sonde.db") }, { role: "api" });
  const names = { email: "a@test-site.org", userName: "a", workspaceName: "w", projectName: "p" };
  const { projectId } = await controlPlane.accounts.createFirst({ ...names, plan: "pro", nowMs: NOW_MS });
  const status = { ...NEW_PAGE, slug: "acme", title: "Acme", domains: ["status.acme.org"] };
  const badgeName = "abcdefghijkl";
  await controlPlane.statusPages.create({ projectId, page: status, badgeName, accessSealed: "sealed", nowMs: NOW_MS });
});
afterAll(async () => {
  await controlPlane.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(words: string, options: Readonly<Record<string, unknown>> = {}) {
  const [name, ...rest] = words.split(" ");
  const act = page.acts.find(({ usage }) => usage.split(" ")[0] === name);
  if (act === undefined) throw new Error(`there is no act ${name}`);
  return act.run({ controlPlane, nowMs: NOW_MS + 5 } as AdminStores, options as never, rest);
}

it("lists, publishes and deletes pages, by slug and by id, and shows nothing that is secret", async () => {
  const { facts, text } = await run("list");
  expect(facts).toMatchObject({ total: 1, status_pages: [{ id: "spg_1", slug: "acme", published: false }] });
  expect(text).toContain("draft");
  expect((await run("list", { project: "prj_9" })).facts).toMatchObject({ total: 0 });
  expect((await run("publish spg_1")).facts).toEqual({ id: "spg_1", slug: "acme", published: true });
  const shown = await run("show acme");
  expect(shown.facts).toMatchObject({ published: true, domains: ["status.acme.org"], groups: 0, components: 0 });
  expect(JSON.stringify(shown)).not.toContain("sealed");
  expect((await run("publish acme", { off: true })).text).toBe("acme is a draft");
  expect((await run("rm acme")).facts).toEqual({ id: "spg_1", slug: "acme", deleted: true });
  await expect(run("show acme")).rejects.toThrow("there is no status page acme");
});
