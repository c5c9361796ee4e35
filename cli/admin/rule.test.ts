/** What an operator does of rules of alerts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ADA, batch, opening } from "../../testkit/store/ground.suite.ts";
import { newMonitor } from "../../testkit/store/new-monitor.suite.ts";
import { adminRig, NOW_MS, type RunAct } from "./rig.suite.ts";
import { rule } from "./rule.ts";

let server = "";
let incident = "";

const rig = adminRig(rule, async (controlPlane, first) => {
  const channel = { projectId: first.projectId, kind: "ntfy", name: "Phone", settings: {}, secretNames: [] };
  await controlPlane.channels.create({ ...channel, sealed: null, active: true, nowMs: NOW_MS }, 10);
  const monitor = await controlPlane.monitors.create(newMonitor(first, { tags: ["prod"] }), ADA);
  server = `srv_${monitor.id}`;
  await controlPlane.sink.apply(batch(1, { incidents: [opening(monitor.id)] }));
  const [opened] = await controlPlane.incidents.list(first.projectId, { monitorId: monitor.id, limit: 1 });
  incident = `inc_${opened?.id}`;
});
const run: RunAct = (words, options) => rig.run(words, { project: "prj_1", ...options });

async function names(): Promise<readonly string[]> {
  const { rules } = (await run("list")).facts as { rules: readonly { readonly name: string }[] };
  return rules.map(({ name }) => name);
}

it("adds, changes, moves and removes rules, and says who would hear", async () => {
  expect(await names()).toEqual(["Everything"]);
  expect((await run("list")).text).toContain("default");
  const file = join(rig.folder, "rule.json");
  writeFileSync(
    file,
    JSON.stringify({ name: "Production", match: { select: { tags: ["prod"] } }, channels: ["ch_1"] }),
  );
  await run("add", { rule: `@${file}` });
  await run("add", { rule: '{"name": "Rest"}' });
  await run("add", { rule: '{"name": "First", "match": {"events": ["sync"]}}', at: "1" });
  expect(await names()).toEqual(["First", "Production", "Rest"]);
  await run("move 3", { to: "3" });
  expect(await names()).toEqual(["Production", "Rest", "First"]);
  const changed = await run("change 1", { rule: '{"delay_s": 120}' });
  expect(changed.facts).toMatchObject({
    rules: [{ id: 1, name: "Production", delay_s: 120, channels: ["ch_1"] }, {}, {}],
  });
  const heard = await run("preview", { server });
  expect(heard.facts).toMatchObject({
    silent_because: null,
    steps: [{ matched: true, after_s: 120, channels: [{ id: "ch_1", name: "Phone" }] }, { matched: false }, {}],
  });
  expect(heard.text).toContain("a rule before it matches");
  expect((await run("preview", { incident })).facts).toEqual(heard.facts);
  for (const id of [1, 2, 3]) await run(`rm ${id}`);
  expect(await names()).toEqual(["Everything"]);
});

it.each([
  ["change 99", { rule: "{}" }, "there is no rule 99"],
  ["list", { project: "prj_999" }, "there is no project prj_999"],
  ["add", { rule: "[]" }, "--rule must be a JSON object"],
  ["add", { rule: '{"name": ""}' }, "rules.0.name: "],
  ["add", { rule: '{"name": "a", "channels": ["ch_9"]}' }, 'the rule "a": channels: there is no channel ch_9'],
  ["add", { rule: '{"name": "a"}', at: "0" }, "--at must be a place"],
  ["preview", { server: "srv_999" }, "there is no monitor srv_999"],
  ["preview", { server: "srv_1", event: "rain" }, "--event must be"],
  ["preview", {}, "give either --server or --incident"],
  ["preview", { server: "srv_1", incident: "inc_1" }, "give either --server or --incident"],
  ["preview", { incident: "inc_99" }, "there is no incident inc_99"],
  ["preview", { incident: "inc_1", event: "down" }, "--event is for --server"],
])("refuses %s %j", async (words, options, message) => {
  await expect(run(words, options)).rejects.toThrow(message);
});
