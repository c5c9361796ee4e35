/** `sonde admin rule`: who is notified of what, and how soon (docs/use/alerts.md). */
import { ALERT_EVENTS, type AlertEvent } from "../../model/alerting-rule.ts";
import { formatId } from "../../model/ids.ts";
import { CommandError } from "../command.ts";
import { type Act, type ActGroup, type ActOptions, type Done, idOf, known, listText, oneOf } from "./act.ts";
import { jsonOf } from "./json-option.ts";
import type { AdminStores } from "./stores.ts";

const OF_PROJECT = ["!--project <id>", "of which project"] as const;
const RULE = "a JSON object as the API takes it, @file, or - for the standard input";

type Body = Readonly<Record<string, unknown>>;

const list: Act = {
  usage: "list",
  summary: "the rules of a project, in their order",
  options: [OF_PROJECT],
  example: "rule list --project prj_1",
  async run(stores, options) {
    const facts = await shownRules(stores, projectOf(options));
    return { facts, text: textOf(facts.rules) };
  },
};

const add: Act = {
  usage: "add",
  summary: "add one, at the end or at a place; the first one takes the place of the default rule",
  options: [OF_PROJECT, ["!--rule <json>", RULE], ["--at <place>", "from 1; without it at the end"]],
  example: `rule add --project prj_1 --rule '{"name": "Production", "match": {"select": {"tags": ["prod"]}}}'`,
  async run(stores, options) {
    const rule = { ...(await jsonOf(options.rule, "--rule")), id: null };
    return changeRules(stores, options, (rules) =>
      rules.toSpliced(options.at === undefined ? rules.length : placeOf(options.at, "--at") - 1, 0, rule),
    );
  },
};

const change: Act = {
  usage: "change <rule>",
  summary: "change fields of one; the others stay",
  options: [OF_PROJECT, ["!--rule <json>", RULE]],
  example: `rule change 3 --project prj_1 --rule '{"delay_s": 120}'`,
  async run(stores, options, [text]) {
    const fields = await jsonOf(options.rule, "--rule");
    return changeRules(stores, options, (rules) => {
      const at = indexOf(rules, text);
      const { id } = rules[at] ?? {};
      return rules.with(at, { ...rules[at], ...fields, id });
    });
  },
};

const move: Act = {
  usage: "move <rule>",
  summary: "put one to another place: the first that matches counts",
  options: [OF_PROJECT, ["!--to <place>", "from 1"]],
  example: "rule move 3 --project prj_1 --to 1",
  run: (stores, options, [text]) =>
    changeRules(stores, options, (rules) => {
      const at = indexOf(rules, text);
      const moved = rules.slice(at, at + 1);
      return rules.toSpliced(at, 1).toSpliced(placeOf(options.to, "--to") - 1, 0, ...moved);
    }),
};

const remove: Act = {
  usage: "rm <rule>",
  summary: "remove one; it still reports the end of what it reported",
  options: [OF_PROJECT],
  example: "rule rm 3 --project prj_1",
  run: (stores, options, [text]) => changeRules(stores, options, (rules) => rules.toSpliced(indexOf(rules, text), 1)),
};

const preview: Act = {
  usage: "preview",
  summary: "which channels an event of a monitor or an incident would notify, and why the others not",
  options: [
    OF_PROJECT,
    ["--server <id>", "the monitor"],
    ["--event <event>", `of it, one of ${ALERT_EVENTS.join(", ")}; down without it`],
    ["--incident <id>", "an incident, in place of both"],
  ],
  example: "rule preview --project prj_1 --server srv_12 --event certificate",
  async run(stores, options) {
    const { controlPlane, nowMs } = stores;
    const projectId = projectOf(options);
    const { id, event } = await askedAbout(stores, options, projectId);
    const { alerts, channels } = controlPlane;
    const monitor = known(await alerts.monitor(projectId, id), `monitor ${formatId("server", id)} in this project`);
    const { hearing } = await import("../../api/rule-body.ts");
    const { items: rules } = await alerts.rules(projectId);
    const { items: quietHours } = await alerts.quietHours(projectId);
    const there = { rules, quietHours, channels: await channels.list(projectId) };
    const facts = hearing({ monitor, event, nowMs }, there);
    const rows = facts.steps.map((step) => [
      step.rule.name,
      step.because,
      step.channels.map(({ name }) => name).join(", "),
      step.at,
    ]);
    const columns = [
      { head: "rule", least: 12 },
      { head: "because", least: 20 },
      { head: "channels", least: 12 },
      "at",
    ];
    const text = listText("rules", columns, rows);
    return { facts, text: facts.silent_because === null ? text : `${text}\n${facts.silent_because}` };
  },
};

/** A monitor and what happens to it. */
async function askedAbout(
  { controlPlane }: AdminStores,
  { server, event, incident }: ActOptions,
  projectId: number,
): Promise<{ readonly id: number; readonly event: AlertEvent }> {
  if ((server === undefined) === (incident === undefined)) throw new CommandError("give either --server or --incident");
  if (incident === undefined) {
    return { id: idOf("server", server, "--server"), event: oneOf(ALERT_EVENTS, event ?? "down", "--event") };
  }
  if (event !== undefined) throw new CommandError("--event is for --server: an incident says what happened");
  const incidentId = idOf("incident", incident, "--incident");
  const found = known(
    await controlPlane.incidents.find(projectId, incidentId),
    `incident ${formatId("incident", incidentId)} in this project`,
  );
  return { id: found.monitorId, event: found.level === "down" ? "down" : "login_refused" };
}

function projectOf(options: ActOptions): number {
  return idOf("project", options.project, "--project");
}

async function shownRules({ controlPlane }: AdminStores, projectId: number) {
  known(await controlPlane.accounts.project(projectId), `project ${formatId("project", projectId)}`);
  const { viewRules } = await import("../../api/rule-body.ts");
  return viewRules(await controlPlane.alerts.rules(projectId));
}

function textOf(rules: Awaited<ReturnType<typeof shownRules>>["rules"]): string {
  const head = [
    "id",
    { head: "name", least: 12 },
    { head: "about", least: 10 },
    { head: "channels", least: 10 },
    { head: "one message for", dropped: 1 },
    { head: "after", dropped: 2 },
    "active",
  ];
  const rows = rules.map((rule) => [
    rule.id === 0 ? "default" : String(rule.id),
    rule.name,
    rule.match.select === null ? "everything" : JSON.stringify(rule.match.select),
    rule.channels === null ? "all" : rule.channels.join(" "),
    rule.group_by,
    `${Math.max(rule.delay_s, rule.wait_s)} s`,
    rule.active ? "yes" : "no",
  ]);
  return listText("rules", head, rows);
}

/** Reads the list, changes it, and writes it when no one else did meanwhile. */
async function changeRules(
  stores: AdminStores,
  options: ActOptions,
  act: (rules: readonly Body[]) => readonly Body[],
): Promise<Done> {
  const { alerts } = stores.controlPlane;
  const projectId = projectOf(options);
  const { nameableOf, readRulesOrFault, viewRules } = await import("../../api/rule-body.ts");
  const before = await shownRules(stores, projectId);
  // The default rule is no row: a list of others takes its place.
  const rules = act(before.rules.filter(({ id }) => id !== 0));
  const there = await nameableOf(stores.controlPlane, projectId);
  const read = readRulesOrFault({ version: before.version, rules }, there);
  if (typeof read === "string") throw new CommandError(faultWords(read, rules));
  const written = await alerts.writeRules(projectId, read.version, read.items, stores.nowMs);
  if (written === "moved") throw new CommandError("the rules were changed meanwhile: look at them, and try again");
  if (written === "unknown") throw new CommandError(`there is no project ${formatId("project", projectId)}`);
  const facts = viewRules(written);
  return { facts, text: textOf(facts.rules) };
}

/** Which rule it is about. */
function faultWords(fault: string, rules: readonly Body[]): string {
  const [, at, rest = ""] = /^rules\.(\d+)\.(.*)$/.exec(fault) ?? [];
  const name = at === undefined ? undefined : rules[Number(at)]?.name;
  return typeof name !== "string" || name === "" ? fault : `the rule ${JSON.stringify(name)}: ${rest}`;
}

function indexOf(rules: readonly Body[], text: unknown): number {
  const at = rules.findIndex(({ id }) => String(id) === text);
  if (at < 0) throw new CommandError(`there is no rule ${text}: sonde admin rule list shows them`);
  return at;
}

function placeOf(text: unknown, what: string): number {
  const place = Number(text);
  if (!Number.isSafeInteger(place) || place < 1) throw new CommandError(`${what} must be a place from 1 on`);
  return place;
}

export const rule: ActGroup = {
  name: "rule",
  summary: "who is notified of what, and how soon",
  acts: [list, add, change, move, remove, preview],
};
