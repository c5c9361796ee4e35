/** What an operator sees and does of status pages. */
import { expect, it } from "vitest";
import { NEW_PAGE } from "../../model/status-page.ts";
import { page } from "./page.ts";
import { adminRig, NOW_MS } from "./rig.suite.ts";

const { run } = adminRig(page, async (controlPlane, { projectId }) => {
  const status = { ...NEW_PAGE, slug: "acme", title: "Acme", domains: ["status.acme.org"] };
  const badgeName = "abcdefghijkl";
  await controlPlane.statusPages.create({ projectId, page: status, badgeName, accessSealed: "sealed", nowMs: NOW_MS });
});
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
