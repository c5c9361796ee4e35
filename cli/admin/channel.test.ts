/** What an operator sees and does of channels. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadConfig } from "../../config.ts";
import { openControlPlane } from "../../store/sql/control-plane/open.ts";
import type { ControlPlane } from "../../store/sql/control-plane/port.ts";
import { channel } from "./channel.ts";
import type { AdminStores } from "./stores.ts";

const NOW_MS = Date.UTC(2026, 10, 26);
const folder = mkdtempSync(join(tmpdir(), "sonde-admin-"));
let controlPlane: ControlPlane;
let projectId = 0;

beforeAll(async () => {
  controlPlane = await openControlPlane({ file: join(folder, "sonde.db") }, { role: "api" });
  const names = { email: "a@test-site.org", userName: "a", workspaceName: "w", projectName: "p" };
  ({ projectId } = await controlPlane.accounts.createFirst({ ...names, plan: "pro", nowMs: NOW_MS }));
});
afterAll(async () => {
  await controlPlane.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(words: string, options: Readonly<Record<string, unknown>> = {}) {
  const [name, ...rest] = words.split(" ");
  const act = channel.acts.find(({ usage }) => usage.split(" ")[0] === name);
  if (act === undefined) throw new Error(`there is no act ${name}`);
  const stores = { controlPlane, nowMs: NOW_MS, config: loadConfig({}) } as unknown as AdminStores;
  return act.run(stores, options as never, rest);
}

it("lists a mail channel whose addresses have not confirmed as the API does", async () => {
  const mail = { projectId, kind: "email", name: "Mail", settings: { to: ["a@test-site.org"] }, secretNames: [] };
  await controlPlane.channels.create({ ...mail, sealed: null, active: true, nowMs: NOW_MS }, 100);
  const { facts, text } = await run("list", { project: `prj_${projectId}` });
  expect(facts).toMatchObject({ total: 1, channels: [{ name: "Mail", state: "unverified" }] });
  expect(text).toContain("unverified");
  await expect(run("list", { project: "prj_999" })).rejects.toThrow("there is no project prj_999");
});

it("says in its facts, too, that a test was not delivered, and why", async () => {
  const settings = JSON.stringify({ topic: "a", server: "http://10.0.0.7:9000" });
  const { facts } = await run("add", { project: `prj_${projectId}`, kind: "ntfy", name: "Phone", settings });
  const tested = await run(`test ${facts.id}`);
  expect(tested.facts).toMatchObject({ delivered: false, status_code: null });
  expect(tested.facts.error).toMatch(/SONDE_ALLOW_NETS=10\.0\.0\.7:9000 opens it$/);
  expect(tested.fault).toBe(`it was not delivered: ${tested.facts.error}`);
  const [, phone] = (await run("list", { project: `prj_${projectId}` })).facts.channels as { last_error: string }[];
  expect(phone?.last_error).toBe(tested.facts.error);
});
