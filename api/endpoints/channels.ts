/** Channels: where a project's messages go (docs/api-contract.md#channels). Secrets go in and never come out. */
import { z } from "zod";
import { MESSAGE_REASONS, type MessageReason } from "../../model/alert-message.ts";
import { type AlertRule, silentRuleWarnings } from "../../model/alerting-rule.ts";
import { awaitsConfirmation, channelStateOf } from "../../model/channel.ts";
import { formatId, parseId } from "../../model/ids.ts";
import { formatIso, isoOrNull } from "../../model/time.ts";
import type { DefinedChannel } from "../../scheduler/alerts/channels/define.ts";
import { CHANNEL_KINDS, channelKind } from "../../scheduler/alerts/channels/index.ts";
import { sampleMessage } from "../../scheduler/alerts/channels/sample.ts";
import {
  jsonSchemaOf,
  readSettings,
  type SplitSettings,
  type Values,
} from "../../scheduler/alerts/channels/settings.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import type { ProjectRecord } from "../../store/sql/accounts/port.ts";
import type { ChannelChanges, ChannelRecord, OpenableChannel } from "../../store/sql/alerts/channels-port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject, readOptionalObject } from "../body.ts";
import { badRequest, refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { askMeanwhile, askToConfirm, staysConfirmed } from "../mail-confirmation.ts";
import { codePoints, hasNul } from "../monitors/every-kind.ts";
import { EDITORS_ONLY, type KeyCall, type ProjectCall, pathId, type Refusal, type Route, shape } from "../route.ts";
import { channelIdParams } from "./params.ts";

/** In a project; our choice: a person reads the list. */
export const MOST_CHANNELS = 100;
/** Code points. */
const MOST_NAME = 120;
/** From the request to the answer of a test, ms: an attempt with its look-ups, and what follows it. */
const TEST_MS = 20_000;
/** Tests under way of one project, of one workspace, and of all: each holds a connection to an address that a caller chose. */
const MOST_TESTS = { project: 4, workspace: 8, all: 64 } as const;

const settingsBody = z.record(z.string(), z.unknown()).describe("As GET /channels/kinds describes them");
const createBody = z
  .object({
    kind: z.enum(CHANNEL_KINDS.map(({ kind }) => kind)).describe("One of GET /channels/kinds"),
    name: z.string().describe(`Unique in the project; 1 to ${MOST_NAME} characters after trimming`),
    settings: settingsBody,
    active: z.boolean().optional().describe("Default: true"),
  })
  .meta({
    id: "CreateChannel",
    examples: [
      {
        kind: "ntfy",
        name: "Phone",
        settings: { server: "https://ntfy.test-site.org", topic: "sonde", token: "tk_4f1b" },
      },
    ],
  });
const changeBody = z
  .object({
    name: z.string().optional(),
    settings: settingsBody
      .optional()
      .describe("Whole, but for secrets: those that are left out stay, null takes one away"),
    active: z.boolean().optional(),
  })
  .meta({ id: "ChangeChannel", examples: [{ active: false }] });
const reason = z.enum(MESSAGE_REASONS).optional().describe("What the sample is about. Default: test");
const testBody = z.object({ reason }).meta({ id: "TestChannel", examples: [{ reason: "opened" }] });
const testUnsavedBody = z
  .object({
    kind: z.enum(CHANNEL_KINDS.map(({ kind }) => kind)).describe("One of GET /channels/kinds"),
    settings: settingsBody,
    id: z.string().optional().describe("A channel whose secrets stand for those that are left out, `ch_<n>`"),
    reason,
  })
  .meta({
    id: "TestUnsavedChannel",
    examples: [{ kind: "ntfy", settings: { server: "https://ntfy.test-site.org", topic: "sonde" } }],
  });

async function list(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const [found, rules] = await Promise.all([api.controlPlane.channels.list(call.project.id), rulesOf(api, call)]);
  const channels = found.map((record) => view(record, rules));
  return ok({ channels, total: channels.length });
}

async function kinds(): Promise<ApiResponse> {
  const shown = CHANNEL_KINDS.map((kind) => ({
    kind: kind.kind,
    name: kind.name,
    summary: kind.summary,
    fields: jsonSchemaOf(kind),
    docs: kind.docs,
  }));
  return ok({ kinds: shown, total: shown.length });
}

async function create(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  const kind = kindOf(body);
  const name = nameOf(body);
  const read = settingsOf(kind, settingsField(body), null);
  const made = await api.controlPlane.channels.create(
    {
      projectId: call.project.id,
      kind: kind.kind,
      name,
      nowMs: call.nowMs,
      settings: read.settings,
      secretNames: read.secretNames,
      active: activeOf(body) ?? true,
      sealed: hasSecrets(read) ? (id: number) => sealedOf(api, id, read) : null,
    },
    MOST_CHANNELS,
  );
  if (made === undefined) throw refusal("projectNotFound");
  askMeanwhile(api, call.project.id, [known(made).id], call.nowMs);
  return ok(view(known(made), await rulesOf(api, call)));
}

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const found = await api.controlPlane.channels.find(call.project.id, idOf(call));
  if (found === undefined) throw refusal("channelNotFound");
  return ok(view(found, await rulesOf(api, call)));
}

async function change(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = idOf(call);
  const body = readObject(call.request);
  const changed = await api.controlPlane.channels.update(call.project.id, id, call.nowMs, (before) =>
    changesOf(api, body, before),
  );
  if (changed === undefined) throw refusal("channelNotFound");
  // Also where nothing of its addresses changed: so one who lost the mail is asked again.
  askMeanwhile(api, call.project.id, [id], call.nowMs);
  return ok(view(known(changed), await rulesOf(api, call)));
}

/** Asked in the transaction, so that of two changes at once neither loses the other's secrets. @throws 400 */
function changesOf(api: Api, body: JsonObject, before: OpenableChannel): ChannelChanges {
  const sent = settingsField(body, true);
  const active = activeOf(body);
  const name = fieldOf(body, "name") === undefined ? undefined : nameOf(body);
  if (sent === undefined) return { ...(name !== undefined && { name }), ...(active !== undefined && { active }) };
  const kind = channelKind(before.kind);
  if (kind === undefined) throw refusal("channelKindInvalid");
  const read = settingsOf(kind, sent, openedOf(api, before));
  return {
    ...(name !== undefined && { name }),
    ...(active !== undefined && { active }),
    settings: read.settings,
    secretNames: read.secretNames,
    sealed: hasSecrets(read) ? sealedOf(api, before.id, read) : null,
    ...(!staysConfirmed(before, read) && { verifiedAtMs: null }),
  };
}

async function remove(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = idOf(call);
  if (!(await api.controlPlane.channels.remove(call.project.id, id))) throw refusal("channelNotFound");
  const [left, rules] = await Promise.all([api.controlPlane.channels.list(call.project.id), rulesOf(api, call)]);
  const warnings = silentRuleWarnings(rules, left);
  return ok({ success: true, id: formatId("channel", id), ...(warnings.length > 0 && { warnings }) });
}

async function testSaved(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = idOf(call);
  const body = readOptionalObject(call.request);
  const found = await openable(api, call, id);
  if (found === undefined) throw refusal("channelNotFound");
  if (awaitsConfirmation(found)) return unconfirmed(await askToConfirm(api, found, 0, call.nowMs));
  const { settings, secrets } = openedOf(api, found);
  const tested = await test(
    api,
    call,
    { kind: found.kind, name: found.name, settings: { ...settings, ...secrets } },
    body,
  );
  await api.controlPlane.channels.judged(id, tested.outcome, call.nowMs);
  return tested.response;
}

async function testUnsaved(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  const kind = kindOf(body);
  const stored = await storedOf(api, call, body, kind);
  const read = settingsOf(kind, settingsField(body), stored);
  const { settings, secrets } = read;
  const isAwaiting = awaitsConfirmation({ kind: kind.kind, verifiedAtMs: stored?.verifiedAtMs ?? null });
  if (isAwaiting || !staysConfirmed(stored ?? { settings: {}, secretNames: [] }, read))
    return unconfirmed("save the channel: its addresses are asked by mail then");
  return (await test(api, call, { kind: kind.kind, name: kind.name, settings: { ...settings, ...secrets } }, body))
    .response;
}

/** Nothing is sent to an address but the mail that asks. @param fault why that was not sent either; null: it was */
function unconfirmed(fault: string | null): ApiResponse {
  const error = `its addresses have not confirmed yet: ${fault ?? "a mail with a link is on its way to the first of them"}`;
  return ok({ delivered: false, status_code: null, error, duration_ms: 0, sent: "" });
}

/** The channel that is being edited. @throws 400, 404 */
async function storedOf(api: Api, call: ProjectCall, body: JsonObject, kind: DefinedChannel) {
  const text = fieldOf(body, "id") ?? null;
  if (text === null) return null;
  const id = typeof text === "string" ? parseId("channel", text) : undefined;
  if (id === undefined) throw refusal("invalidChannelId");
  const found = await openable(api, call, id);
  if (found === undefined || found.kind !== kind.kind) throw refusal("channelNotFound");
  return { ...openedOf(api, found), secretNames: found.secretNames, verifiedAtMs: found.verifiedAtMs };
}

async function openable(api: Api, call: ProjectCall, id: number): Promise<OpenableChannel | undefined> {
  const [found] = await api.controlPlane.channels.openable([id]);
  return found?.projectId === call.project.id ? found : undefined;
}

interface Tested {
  readonly kind: string;
  readonly name: string;
  readonly settings: Record<string, unknown>;
}

async function test(api: Api, call: ProjectCall, { kind, name, settings }: Tested, body: JsonObject) {
  const about = reasonOf(body);
  const nowIso = formatIso(call.nowMs);
  const key = `${call.project.id} ${nowIso}`;
  const message = sampleMessage(about, { baseUrl: api.baseUrl(), channel: name, nowIso, key });
  const context = {
    notificationId: `test-${call.nowMs}`,
    nowMs: call.nowMs,
    previous: null,
    projectId: call.project.id,
  };
  const signal = AbortSignal.any([api.closing, AbortSignal.timeout(TEST_MS)]);
  const outcome = await running.during(api, call.project, () =>
    api.sendToChannel({ kind, settings }, message, context, signal),
  );
  const response = ok({
    delivered: outcome.delivered,
    status_code: outcome.statusCode,
    error: outcome.delivered ? (outcome.refusal ?? null) : outcome.error,
    duration_ms: Math.round(outcome.durationMs),
    sent: outcome.sent,
  });
  return { outcome, response };
}

/** Tests under way, by API: each has an end. */
class RunningTests {
  readonly #projects = new WeakMap<Api, ProjectRecord[]>();

  async during<T>(api: Api, project: ProjectRecord, work: () => Promise<T>): Promise<T> {
    const all = this.#projects.get(api) ?? [];
    this.#projects.set(api, all);
    const ofWorkspace = all.filter(({ organizationId }) => organizationId === project.organizationId);
    const ofProject = ofWorkspace.filter(({ id }) => id === project.id);
    const isFull =
      ofProject.length >= MOST_TESTS.project ||
      ofWorkspace.length >= MOST_TESTS.workspace ||
      all.length >= MOST_TESTS.all;
    if (isFull) throw refusal("channelTestsRunning");
    all.push(project);
    try {
      return await work();
    } finally {
      all.splice(all.indexOf(project), 1);
    }
  }
}

const running = new RunningTests();

async function nameInLog(api: Api, call: KeyCall | ProjectCall): Promise<string | null> {
  return "project" in call ? ((await api.controlPlane.channels.find(call.project.id, idOf(call)))?.name ?? null) : null;
}

function idOf(call: ProjectCall): number {
  return pathId(call, "channel", "invalidChannelId");
}

/** @throws 400 */
export function kindOf(body: JsonObject): DefinedChannel {
  const name = fieldOf(body, "kind");
  const kind = typeof name === "string" ? channelKind(name) : undefined;
  if (kind === undefined) throw refusal("channelKindInvalid");
  return kind;
}

/** @throws 400 */
export function nameOf(body: JsonObject): string {
  const name = fieldOf(body, "name");
  const trimmed = typeof name === "string" ? name.trim() : "";
  if (trimmed === "" || codePoints(trimmed) > MOST_NAME || hasNul(trimmed)) throw refusal("nameInvalid");
  return trimmed;
}

function settingsField(body: JsonObject): Values;
function settingsField(body: JsonObject, isOptional: true): Values | undefined;
function settingsField(body: JsonObject, isOptional = false): Values | undefined {
  const settings = fieldOf(body, "settings");
  if (isOptional && settings === undefined) return undefined;
  if (typeof settings !== "object" || settings === null || Array.isArray(settings))
    throw refusal("channelSettingsInvalid");
  return settings as Values;
}

function activeOf(body: JsonObject): boolean | undefined {
  const active = fieldOf(body, "active");
  if (active !== undefined && typeof active !== "boolean") throw badRequest(ACTIVE[1]);
  return active;
}

function reasonOf(body: JsonObject): MessageReason {
  const sent = fieldOf(body, "reason") ?? "test";
  const word = MESSAGE_REASONS.find((one) => one === sent);
  if (word === undefined) throw refusal("channelReasonInvalid");
  return word;
}

/** @throws 400 with the field's name */
function settingsOf(
  kind: DefinedChannel,
  sent: Values,
  before: Pick<SplitSettings, "settings" | "secrets"> | null,
): SplitSettings {
  const read = readSettings(kind, sent, before);
  if (read.fault !== null) throw badRequest(read.fault);
  return read;
}

export function hasSecrets({ secrets }: SplitSettings): boolean {
  return Object.keys(secrets).length > 0;
}

export function sealedOf(api: Api, id: number, { secrets }: SplitSettings): string {
  return api.sealing.seal(SEALED_CELLS.channel(id), JSON.stringify(secrets));
}

export function openedOf(
  api: Api,
  { id, settings, sealed }: OpenableChannel,
): Pick<SplitSettings, "settings" | "secrets"> {
  const secrets = sealed === null ? {} : (JSON.parse(api.sealing.open(SEALED_CELLS.channel(id), sealed)) as Values);
  return { settings, secrets };
}

/** @throws 400, 409 */
function known(made: ChannelRecord | "full" | "taken"): ChannelRecord {
  if (made === "full") throw refusal("channelsFull");
  if (made === "taken") throw refusal("channelNameTaken");
  return made;
}

async function rulesOf(api: Api, call: ProjectCall): Promise<readonly AlertRule[]> {
  return (await api.controlPlane.alerts.rules(call.project.id)).items;
}

function usedBy(rules: readonly AlertRule[], id: number): number {
  // The default rule, which has no row, notifies every channel.
  if (rules.length === 0) return 1;
  const names = (channels: readonly number[] | null): boolean => channels === null || channels.includes(id);
  return rules.filter(({ channels, escalation }) => names(channels) || escalation.some((step) => names(step.channels)))
    .length;
}

function view(record: ChannelRecord, rules: readonly AlertRule[]) {
  return {
    id: formatId("channel", record.id),
    kind: record.kind,
    name: record.name,
    settings: record.settings,
    has_secret: record.secretNames,
    active: record.active,
    state: channelStateOf(record),
    off_reason: record.active ? null : "operator",
    failing_since: isoOrNull(record.failingSinceMs),
    last_success_at: isoOrNull(record.lastSuccessAtMs),
    last_error: record.lastError,
    used_by_rules: usedBy(rules, record.id),
    created_at: formatIso(record.createdAtMs),
    updated_at: formatIso(record.updatedAtMs),
  };
}

/** Monitors have the same words, and refuse by their schema. */
const ACTIVE = [400, "active must be true or false."] as const;
const SETTINGS_EXAMPLE = [400, "topic: must be 1 to 64 letters, digits, - and _."] as const;
const OF_BODY: readonly Refusal[] = ["channelSettingsInvalid", ACTIVE, SETTINGS_EXAMPLE];
const group = {
  group: "Channels",
  scope: "project",
  description: "An addition of ours.",
} as const;
const edited = { ...group, editorsOnly: EDITORS_ONLY } as const;
const one = { ...edited, params: channelIdParams } as const;

export const channels: readonly Route[] = [
  listed({
    ...edited,
    method: "GET",
    path: "/channels",
    operationId: "listChannels",
    summary: "List channels, the oldest first",
    responses: { 200: shape("channelList") },
    handle: list,
  }),
  {
    ...edited,
    method: "POST",
    path: "/channels",
    operationId: "createChannel",
    audit: "channel.created",
    summary: "Add a channel",
    body: { schema: createBody, required: true },
    responses: { 200: shape("channel") },
    refusals: ["channelKindInvalid", "nameInvalid", ...OF_BODY, "channelsFull", "channelNameTaken"],
    handle: create,
  },
  listed({
    ...group,
    method: "GET",
    path: "/channels/kinds",
    operationId: "listChannelKinds",
    summary: "List the kinds of channels and their settings",
    responses: { 200: shape("channelKinds") },
    handle: kinds,
  }),
  {
    ...edited,
    method: "POST",
    path: "/channels/test",
    operationId: "testUnsavedChannel",
    audit: null,
    summary: "Send a sample by settings that are not saved; waits up to 20 seconds",
    body: { schema: testUnsavedBody, required: true },
    responses: { 200: shape("channelTest") },
    refusals: [
      ...(["channelKindInvalid", "channelReasonInvalid", "invalidChannelId", "channelNotFound"] as const),
      ...(["channelSettingsInvalid", SETTINGS_EXAMPLE, "channelTestsRunning"] as const),
    ],
    handle: testUnsaved,
  },
  {
    ...one,
    method: "GET",
    path: "/channels/{id}",
    operationId: "getChannel",
    summary: "Get a channel",
    responses: { 200: shape("channel") },
    refusals: ["invalidChannelId", "channelNotFound"],
    handle: read,
  },
  {
    ...one,
    method: "PUT",
    path: "/channels/{id}",
    operationId: "changeChannel",
    audit: "channel.updated",
    summary: "Change a channel; secrets that are left out stay",
    body: { schema: changeBody, required: true },
    responses: { 200: shape("channel") },
    refusals: ["invalidChannelId", "nameInvalid", ...OF_BODY, "channelNotFound", "channelNameTaken"],
    handle: change,
  },
  {
    ...one,
    method: "DELETE",
    path: "/channels/{id}",
    operationId: "deleteChannel",
    audit: { what: "channel.deleted", nameOf: nameInLog },
    summary: "Delete a channel",
    responses: { 200: shape("channelRemoved") },
    refusals: ["invalidChannelId", "channelNotFound"],
    handle: remove,
  },
  {
    ...one,
    method: "POST",
    path: "/channels/{id}/test",
    operationId: "testChannel",
    audit: null,
    summary: "Send a sample; waits up to 20 seconds",
    body: { schema: testBody, required: false },
    responses: { 200: shape("channelTest") },
    refusals: ["invalidChannelId", "channelReasonInvalid", "channelNotFound", "channelTestsRunning"],
    handle: testSaved,
  },
];
