/** One act on many monitors: those that a selector selects now (docs/api-contract.md#many-at-once). */
import { z } from "zod";
import { UPTIME_KINDS } from "../../engine/contract/registry.ts";
import { formatId } from "../../model/ids.ts";
import { familyOf, isPassive } from "../../model/kind.ts";
import { ANY_LOCATION, isActive, type Monitor } from "../../model/monitor.ts";
import { MOST_SELECTED, readSelector, type Selector, selectableKinds } from "../../model/selector.ts";
import { Slices } from "../../store/slices.ts";
import { SlotsFullError } from "../../store/sql/monitors/port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { ApiError, badRequest, refusal, wordsOf } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { activityOf, type Decide, setBody, settingsOf } from "../monitors/bulk-change.ts";
import { newTestId, orderTests, testJob } from "../on-demand/order.ts";
import { type AuditRule, EDITORS_ONLY, type ProjectCall, type Route, shape } from "../route.ts";

const ACTIONS = ["pause", "resume", "delete", "set", "check"] as const;
type Action = (typeof ACTIONS)[number];
const WORDS = { kinds: selectableKinds(UPTIME_KINDS) };
/** Monitors of one page, read in one statement, which nothing interrupts. */
const PAGE = 250;
/** Monitors of one transaction: others that write wait for its end. */
const AT_ONCE = 100;
/** Jobs of one order. */
const JOBS_AT_ONCE = 250;
const SAMPLE = 10;
/** More are not named. */
const MOST_REFUSED = 1_000;

const bulkBody = z
  .object({
    select: z
      .record(z.string(), z.unknown())
      .describe(
        "Which monitors: `all`, `ids`, `tags`, `any_tag`, `kinds`, `family`, `subscription_ids`, `name`, `status`, and-ed; `not` leaves out what it selects",
      ),
    action: z.enum(ACTIONS),
    set: setBody.optional().describe("Of the action `set`"),
    dry_run: z.boolean().optional().describe("Tells what would be, and changes nothing"),
    expect: z.int().min(0).optional().describe("Refused when another number of monitors matches now"),
  })
  .meta({ id: "BulkAct", examples: [{ select: { tags: ["prod"] }, action: "pause", dry_run: true }] });

interface Order {
  readonly action: Action;
  readonly isDry: boolean;
  readonly monitors: readonly Monitor[];
}

interface Outcome {
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: readonly { readonly id: number; readonly name: string; readonly message: string }[];
}

async function act(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  const selector = selectorOf(body);
  const action = ACTIONS.find((word) => word === fieldOf(body, "action"));
  if (action === undefined) throw refusal("bulkActionInvalid");
  const [isDry, expected] = [fieldOf(body, "dry_run") ?? false, fieldOf(body, "expect")];
  if (typeof isDry !== "boolean") throw refusal("bulkDryRunInvalid");
  if (expected !== undefined && !(Number.isSafeInteger(expected) && Number(expected) >= 0))
    throw refusal("bulkExpectInvalid");
  const decide = action === "set" ? settingsOf(fieldOf(body, "set"), call) : activityOf(action === "resume", call);
  const monitors = await matching(api, call, selector);
  if (expected !== undefined && expected !== monitors.length)
    throw refusal("bulkExpectOther", { details: { matched: monitors.length } });
  const outcome = await run(api, call, { action, isDry, monitors }, decide);
  if (!isDry && action !== "check" && outcome.changed > 0) api.state.notices.publish("monitors");
  return ok(view(monitors, outcome));
}

/** @throws 400 */
function selectorOf(body: JsonObject): Selector {
  const read = readSelector(fieldOf(body, "select"), WORDS);
  if ("fault" in read) throw badRequest(read.fault);
  return read.selector;
}

/** By name. @throws 400 when they are too many */
async function matching(api: Api, call: ProjectCall, select: Selector): Promise<readonly Monitor[]> {
  const filter = { family: "all", activeOnly: false, status: null, protocol: null, nameContains: null } as const;
  const found: Monitor[] = [];
  const slices = new Slices();
  for (;;) {
    await slices.rest();
    const page = { ...filter, select, limit: PAGE, offset: found.length };
    const { rows, total } = await api.controlPlane.monitors.list(call.project.id, page);
    if (total > MOST_SELECTED) throw refusal("bulkTooMany");
    for (const { monitor } of rows) found.push(monitor);
    if (rows.length < PAGE || found.length > MOST_SELECTED) return found;
  }
}

function run(api: Api, call: ProjectCall, order: Order, decide: Decide): Promise<Outcome> {
  if (order.action === "delete") return removeAll(api, call, order);
  return order.action === "check" ? checkAll(api, call, order) : changeAll(api, call, order, decide);
}

async function changeAll(api: Api, call: ProjectCall, order: Order, decide: Decide): Promise<Outcome> {
  const total = { changed: 0, unchanged: 0, refused: [] as Outcome["refused"][number][] };
  const options = { slots: call.plan.tunnelSlots, isDry: order.isDry };
  const slices = new Slices();
  for (const ids of chunks(order.monitors, AT_ONCE)) {
    await slices.rest();
    const { monitors } = api.controlPlane;
    const part = await monitors.updateMany(call.project.id, ids.map(idOf), call.nowMs, call.actor, decide, options);
    total.changed += part.changed;
    total.unchanged += part.unchanged;
    for (const { id, name, why } of part.refused) total.refused.push({ id, name, message: messageOf(why) });
  }
  return total;
}

function messageOf(why: string | SlotsFullError): string {
  return why instanceof SlotsFullError ? `Tunnel limit reached (${why.used}/${why.slots}).` : why;
}

async function removeAll(api: Api, call: ProjectCall, { monitors, isDry }: Order): Promise<Outcome> {
  if (isDry) return { changed: monitors.length, unchanged: 0, refused: [] };
  let changed = 0;
  const slices = new Slices();
  for (const part of chunks(monitors, AT_ONCE)) {
    changed += await api.controlPlane.monitors.removeMany(call.project.id, part.map(idOf), call.nowMs);
    await slices.rest();
  }
  return { changed, unchanged: 0, refused: [] };
}

/** Each uses one on-demand test; what is left when the quota is used up is refused. */
async function checkAll(api: Api, call: ProjectCall, { monitors, isDry }: Order): Promise<Outcome> {
  const refused: Outcome["refused"][number][] = [];
  const refuse = ({ id, name }: Monitor, message: string): void => void refused.push({ id, name, message });
  const checked = monitors.filter((monitor) => {
    const reason = unchecked(monitor);
    if (reason !== null) refuse(monitor, reason);
    return reason === null;
  });
  let changed = isDry ? checked.length : 0;
  let full: string | null = null;
  const slices = new Slices();
  for (const part of isDry ? [] : chunks(checked, JOBS_AT_ONCE)) {
    await slices.rest();
    full ??= await queue(api, call, part);
    if (full === null) changed += part.length;
    else for (const monitor of part) refuse(monitor, full);
  }
  return { changed, unchanged: 0, refused };
}

/** @returns why not, when nothing is left of the month's quota */
async function queue(api: Api, call: ProjectCall, monitors: readonly Monitor[]): Promise<string | null> {
  const jobs = monitors.map(({ id: monitorId }) =>
    testJob(call, { kind: "test", monitorId, testId: newTestId(), location: ANY_LOCATION }),
  );
  try {
    await orderTests(api, call, jobs);
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

function unchecked(monitor: Monitor): string | null {
  if (isPassive(monitor.kind)) return wordsOf("heartbeatUntestable")[1];
  if (isActive(monitor)) return null;
  return wordsOf(familyOf(monitor.kind) === "tunnel" ? "tunnelPaused" : "monitorPaused")[1];
}

function chunks(monitors: readonly Monitor[], size: number): readonly (readonly Monitor[])[] {
  return Array.from({ length: Math.ceil(monitors.length / size) }, (_, index) =>
    monitors.slice(index * size, (index + 1) * size),
  );
}

const idOf = ({ id }: Monitor): number => id;

function view(monitors: readonly Monitor[], { changed, unchanged, refused }: Outcome) {
  return {
    matched: monitors.length,
    changed,
    unchanged,
    refused: refused
      .slice(0, MOST_REFUSED)
      .map(({ id, name, message }) => ({ id: formatId("server", id), name, message })),
    sample: monitors.slice(0, SAMPLE).map(({ id, name }) => ({ id: formatId("server", id), name })),
  };
}

const AUDIT_WORDS = { pause: "monitor.paused", resume: "monitor.resumed", delete: "monitor.deleted" } as const;

/** One entry, however many it changed. Checks change nothing. */
const bulkAudit: AuditRule = {
  what: ({ sent: { action } }) =>
    typeof action === "string" && Object.hasOwn(AUDIT_WORDS, action)
      ? AUDIT_WORDS[action as keyof typeof AUDIT_WORDS]
      : "monitor.updated",
  isChange: ({ sent, answered }) => sent.action !== "check" && sent.dry_run !== true && answered.changed !== 0,
  detail: ({ answered: { matched, changed } }) => ({ matched, changed }),
};

export const bulk: readonly Route[] = [
  {
    method: "POST",
    path: "/servers/bulk",
    operationId: "changeMonitors",
    audit: bulkAudit,
    group: "Monitors",
    summary: "Pause, resume, delete, change or check many monitors",
    description:
      "An addition of ours, for at most 10,000 monitors. They are changed in parts: what a failure leaves undone is done by the same request again.",
    scope: "project",
    editorsOnly: EDITORS_ONLY,
    body: { schema: bulkBody, required: true },
    responses: { 200: shape("bulkOutcome") },
    refusals: [
      [400, 'select must name monitors, such as {"tags": ["prod"]} or {"all": true}.'],
      "bulkActionInvalid",
      "bulkDryRunInvalid",
      "bulkExpectInvalid",
      "bulkSetInvalid",
      "bulkTooMany",
      "notifyOnPartialInvalid",
      "locationsInvalid",
      "regionOnPlan",
      [403, "The shortest interval on your plan is 60 seconds (requested 30)."],
      "bulkExpectOther",
    ],
    handle: act,
  },
];
