/** What an operator sees and does of channels. */
import { expect, it } from "vitest";
import { channel } from "./channel.ts";
import { adminRig, NOW_MS } from "./rig.suite.ts";

const { run } = adminRig(channel, async (controlPlane, { projectId }) => {
  const mail = { projectId, kind: "email", name: "Mail", settings: { to: ["a@test-site.org"] }, secretNames: [] };
  await controlPlane.channels.create({ ...mail, sealed: null, active: true, nowMs: NOW_MS }, 100);
});
const project = "prj_1";

it("lists a mail channel whose addresses have not confirmed as the API does", async () => {
  const { facts, text } = await run("list", { project });
  expect(facts).toMatchObject({ total: 1, channels: [{ name: "Mail", state: "unverified" }] });
  expect(text).toContain("unverified");
  await expect(run("list", { project: "prj_999" })).rejects.toThrow("there is no project prj_999");
});

it("says in its facts, too, that a test was not delivered, and why", async () => {
  const settings = JSON.stringify({ topic: "a", server: "http://10.0.0.7:9000" });
  const { facts } = await run("add", { project, kind: "ntfy", name: "Phone", settings });
  const tested = await run(`test ${facts.id}`);
  expect(tested.facts).toMatchObject({ delivered: false, status_code: null });
  expect(tested.facts.error).toMatch(/SONDE_ALLOW_NETS=10\.0\.0\.7:9000 opens it$/);
  expect(tested.fault).toBe(`it was not delivered: ${tested.facts.error}`);
  const [, phone] = (await run("list", { project })).facts.channels as { last_error: string }[];
  expect(phone?.last_error).toBe(tested.facts.error);
});
