/** `sonde admin channel`: where a project's messages go (docs/use/channels.md). */
import { engineOptionsOf } from "../../config.ts";
import { silentRuleWarnings } from "../../model/alerting-rule.ts";
import { channelStateOf } from "../../model/channel.ts";
import { formatId } from "../../model/ids.ts";
import { formatIso, isoOrNull } from "../../model/time.ts";
import type { ChannelRecord } from "../../store/sql/alerts/channels-port.ts";
import { CommandError } from "../command.ts";
import { renderTable } from "../table.ts";
import { type Act, type ActGroup, idOf, known, listText, nameOf } from "./act.ts";
import { jsonOf } from "./json-option.ts";
import type { AdminStores } from "./stores.ts";

/** As the API has it: in a project. */
const MOST_CHANNELS = 100;
/** An attempt with its look-ups, ms. */
const TEST_MS = 20_000;

const list: Act = {
  usage: "list",
  summary: "the channels of a project",
  options: [["!--project <id>", "of which project"]],
  example: "channel list --project prj_1",
  async run({ controlPlane }, options) {
    const projectId = idOf("project", options.project, "--project");
    known(await controlPlane.accounts.project(projectId), `project ${formatId("project", projectId)}`);
    const channels = (await controlPlane.channels.list(projectId)).map(view);
    const head = [
      "id",
      "kind",
      { head: "name", least: 12 },
      "state",
      { head: "last success", dropped: 1 },
      { head: "last error", least: 16 },
    ];
    const rows = channels.map((one) => [one.id, one.kind, one.name, one.state, one.last_success_at, one.last_error]);
    return { facts: { channels, total: channels.length }, text: listText("channels", head, rows) };
  },
};

const kinds: Act = {
  usage: "kinds",
  summary: "list the kinds of channels, with the settings of each",
  example: "channel kinds --json",
  async run() {
    const { CHANNEL_KINDS } = await import("../../scheduler/alerts/channels/index.ts");
    const { jsonSchemaOf, secretFields } = await import("../../scheduler/alerts/channels/settings.ts");
    const rows = CHANNEL_KINDS.map((kind) => {
      const secret = secretFields(kind);
      const names = Object.keys(kind.schema.shape).map((name) => (secret.includes(name) ? `${name}*` : name));
      return [kind.kind, kind.name, names.join(" ")];
    });
    const facts = CHANNEL_KINDS.map((kind) => {
      return { kind: kind.kind, name: kind.name, summary: kind.summary, fields: jsonSchemaOf(kind), docs: kind.docs };
    });
    const text = `${renderTable(["kind", "name", "settings"], rows)}\n* secret: it goes in and never comes out`;
    return { facts: { kinds: facts, total: facts.length }, text };
  },
};

const add: Act = {
  usage: "add",
  summary: "add one; its settings are JSON, from a file or a pipe where they hold a secret",
  options: [
    ["!--project <id>", "whose messages it gets"],
    ["!--kind <kind>", "one of `sonde admin channel kinds`"],
    ["!--name <name>", "unique in the project"],
    [
      "!--settings <json>",
      "a JSON object, @file, or - for the standard input: others see what stands on a command line",
    ],
  ],
  example: "channel add --project prj_1 --kind ntfy --name Phone --settings @phone.json",
  async run(stores, options) {
    const projectId = idOf("project", options.project, "--project");
    const name = nameOf(options.name, "--name");
    const { CHANNEL_KINDS, channelKind } = await import("../../scheduler/alerts/channels/index.ts");
    const { readSettings } = await import("../../scheduler/alerts/channels/settings.ts");
    const kind = channelKind(String(options.kind));
    if (kind === undefined) {
      throw new CommandError(
        `--kind: there is no ${options.kind}; there are ${CHANNEL_KINDS.map((one) => one.kind).join(", ")}`,
      );
    }
    const read = readSettings(kind, await jsonOf(options.settings, "--settings"), null);
    if (read.fault !== null) throw new CommandError(`--settings: ${read.fault}`);
    const { SEALED_CELLS } = await import("../../store/sealed-cells.ts");
    const hasSecrets = read.secretNames.length > 0;
    const sealing = hasSecrets ? await stores.sealing() : null;
    const seal = (id: number): string => sealing?.seal(SEALED_CELLS.channel(id), JSON.stringify(read.secrets)) ?? "";
    const made = await stores.controlPlane.channels.create(
      {
        projectId,
        kind: kind.kind,
        name,
        settings: read.settings,
        secretNames: read.secretNames,
        sealed: hasSecrets ? seal : null,
        active: true,
        nowMs: stores.nowMs,
        // Who runs the service answers for the addresses.
        verifiedAtMs: stores.nowMs,
      },
      MOST_CHANNELS,
    );
    if (made === "full") throw new CommandError(`the project has ${MOST_CHANNELS} channels already`);
    if (made === "taken") throw new CommandError(`the project has a channel ${name} already`);
    const { id } = known(made, `project ${formatId("project", projectId)}`);
    const shown = formatId("channel", id);
    return { facts: { id: shown }, text: `channel ${shown}; try it: sonde admin channel test ${shown}` };
  },
};

const test: Act = {
  usage: "test <channel>",
  summary: "send a sample now, and print the service's answer",
  example: "channel test ch_3",
  async run(stores, _words, [text]) {
    const id = idOf("channel", text, "the channel");
    const [found] = await stores.controlPlane.channels.openable([id]);
    const channel = known(found, `channel ${formatId("channel", id)}`);
    const outcome = await sendSample(stores, channel.kind, channel.name, await settingsOf(stores, channel));
    await stores.controlPlane.channels.judged(id, outcome, stores.nowMs);
    const error = outcome.delivered ? (outcome.refusal ?? null) : outcome.error;
    const facts = { delivered: outcome.delivered, status_code: outcome.statusCode, error };
    return {
      facts: { id: formatId("channel", id), ...facts, duration_ms: Math.round(outcome.durationMs), sent: outcome.sent },
      text: `delivered\n\n${outcome.sent}`,
      ...(error !== null && { fault: `it was not delivered${outcome.delivered ? " to all" : ""}: ${error}` }),
    };
  },
};

const remove: Act = {
  usage: "rm <channel>",
  summary: "remove one",
  example: "channel rm ch_3",
  async run({ controlPlane }, _words, [text]) {
    const id = idOf("channel", text, "the channel");
    const [found] = await controlPlane.channels.openable([id]);
    const shown = formatId("channel", id);
    const { projectId } = known(found, `channel ${shown}`);
    known(await controlPlane.channels.remove(projectId, id), `channel ${shown}`);
    const { items } = await controlPlane.alerts.rules(projectId);
    const warnings = silentRuleWarnings(items, await controlPlane.channels.list(projectId));
    const facts = { id: shown, deleted: true, ...(warnings.length > 0 && { warnings }) };
    return { facts, text: [`channel ${shown} is deleted`, ...warnings].join("\n") };
  },
};

type Settings = Record<string, unknown>;

/** A channel's settings, its secrets opened among them. */
async function settingsOf(
  stores: AdminStores,
  { id, settings, sealed }: ChannelRecord & { readonly sealed: string | null },
): Promise<Settings> {
  if (sealed === null) return { ...settings };
  const { SEALED_CELLS } = await import("../../store/sealed-cells.ts");
  const secrets = (await stores.sealing()).open(SEALED_CELLS.channel(id), sealed);
  return { ...settings, ...(JSON.parse(secrets) as Settings) };
}

/** One attempt past the address guard. @returns how it ended, and what was sent */
async function sendSample({ config, nowMs }: AdminStores, kind: string, name: string, settings: Settings) {
  const { createSendToChannel } = await import("../../scheduler/alerts/channels/send.ts");
  const { sampleMessage } = await import("../../scheduler/alerts/channels/sample.ts");
  const { attemptsHere } = await import("../../scheduler/alerts/attempts/attempts.ts");
  const clocks = { monotonicNowMs: () => performance.now() };
  const send = createSendToChannel({
    attempts: attemptsHere(engineOptionsOf(config)),
    mail: config.mail,
    version: "admin",
    clocks,
  });
  const baseUrl = config.baseUrl ?? `http://${config.host}:${config.port}`;
  const message = sampleMessage("test", { baseUrl, channel: name, nowIso: formatIso(nowMs), key: String(nowMs) });
  const context = { notificationId: `test-${nowMs}`, nowMs, previous: null, projectId: 0 };
  return send({ kind, settings }, message, context, AbortSignal.timeout(TEST_MS));
}

function view(record: ChannelRecord) {
  return {
    id: formatId("channel", record.id),
    kind: record.kind,
    name: record.name,
    settings: record.settings,
    has_secret: record.secretNames,
    active: record.active,
    state: channelStateOf(record),
    failing_since: isoOrNull(record.failingSinceMs),
    last_success_at: isoOrNull(record.lastSuccessAtMs),
    last_error: record.lastError,
  };
}

export const channel: ActGroup = {
  name: "channel",
  summary: "where a project's messages go",
  acts: [list, kinds, add, test, remove],
};
