/** Things as code: a whole document compared with what there is, and applied (docs/api-contract.md#documents). */
import { z } from "zod";
import type { Plan } from "../../model/document/plan.ts";
import { Slices } from "../../store/slices.ts";
import { type ApplyOrder, StaleOrderError } from "../../store/sql/documents/port.ts";
import { makeWindows } from "../../store/sql/monitors/make-windows.ts";
import { SlotsFullError } from "../../store/sql/monitors/port.ts";
import { UrlTakenError } from "../../store/sql/subscriptions/port.ts";
import type { Api } from "../api.ts";
import type { ApplyOptions } from "../apply/draft-plan.ts";
import { type MadePlan, makePlan } from "../apply/make-plan.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { type ApiError, refusal } from "../errors.ts";
import type { ApiResponse } from "../http.ts";
import { okInTurns } from "../long-answer.ts";
import { askMeanwhile } from "../mail-confirmation.ts";
import { type AuditRule, EDITORS_ONLY, type ProjectCall, type Route, shape } from "../route.ts";

/** Code points. */
const LONGEST_NAME = 255;

const applyBody = z
  .object({
    document: z.string().describe("The document: YAML or JSON"),
    name: z.string().max(LONGEST_NAME).optional().describe("In the place of the document's own name"),
    dry_run: z.boolean().optional().describe("Tells what would be, and changes nothing"),
    prune: z.boolean().optional().describe("Removes what the document had and has no more; by default it stays"),
    adopt: z
      .boolean()
      .optional()
      .describe("Takes over things of equal name and target that no document has, instead of making them twice"),
    skip_refused: z.boolean().optional().describe("Applies the others when some things are refused"),
    expect: z.string().max(64).optional().describe("The hash of the plan that was looked at; needed without dry_run"),
  })
  .meta({
    id: "ApplyDocument",
    examples: [
      { document: "sonde: 1\nmonitors:\n  mail: { type: port, host: mail.test-site.org, port: 25 }\n", dry_run: true },
    ],
  });

interface Asked {
  readonly text: string;
  readonly name: string | null;
  readonly isDry: boolean;
  readonly skipsRefused: boolean;
  readonly expected: string | null;
  readonly options: ApplyOptions;
}

async function apply(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const asked = read(readObject(call.request));
  const made = await planOf(api, call, asked);
  const { plan, order, pageSlugs } = made;
  if (order === null) return told(plan, false);
  if (asked.expected !== plan.hash) throw otherPlan(plan);
  if (plan.refused.length > 0 && !asked.skipsRefused) throw refusal("documentRefused", { details: { plan } });
  if (plan.changes.length > 0) {
    try {
      await api.controlPlane.documents.apply(order);
    } catch (error) {
      if (!isStale(error)) throw error;
      throw otherPlan((await planOf(api, call, asked)).plan);
    }
    await takeEffect(api, call, order, pageSlugs);
  }
  return told(plan, true);
}

/** Thousands of changes. */
function told({ changes, refused, ...plan }: Plan, applied: boolean): Promise<ApiResponse> {
  return okInTurns({ ...plan, applied }, { changes, refused }, new Slices());
}

async function takeEffect(
  api: Api,
  { project, nowMs }: ProjectCall,
  order: ApplyOrder,
  pageSlugs: readonly string[],
): Promise<void> {
  api.pages.drop(...pageSlugs);
  const { create, change } = order.maintenance;
  // What is on now or soon has its windows before the answer.
  if (create.length + change.length > 0) {
    const { schedules } = api.controlPlane;
    await makeWindows(schedules, await schedules.list(project.id), nowMs);
  }
  api.state.notices.publish("monitors");
  api.state.notices.publish("jobs");
  const { channels } = order;
  if (channels.create.length + channels.change.length > 0) {
    const written = (await api.controlPlane.channels.list(project.id)).filter(
      ({ updatedAtMs }) => updatedAtMs === nowMs,
    );
    askMeanwhile(
      api,
      project.id,
      written.map(({ id }) => id),
      nowMs,
    );
  }
}

function planOf(api: Api, call: ProjectCall, { text, name, options }: Asked): Promise<MadePlan> {
  return makePlan(api, call, text, name, options);
}

function otherPlan(plan: Plan): ApiError {
  return refusal("documentOther", { details: { plan } });
}

/** Another writer came in between. */
function isStale(error: unknown): boolean {
  return error instanceof StaleOrderError || error instanceof SlotsFullError || error instanceof UrlTakenError;
}

/** @throws 400 */
function read(body: JsonObject): Asked {
  const text = fieldOf(body, "document");
  if (typeof text !== "string") throw refusal("documentTextInvalid");
  const name = fieldOf(body, "name") ?? null;
  if (
    name !== null &&
    (typeof name !== "string" || name === "" || [...name].length > LONGEST_NAME || name.includes("\0"))
  )
    throw refusal("documentNameInvalid");
  const isDry = flag(body, "dry_run");
  const expected = fieldOf(body, "expect") ?? null;
  if (expected !== null && typeof expected !== "string") throw refusal("documentExpectInvalid");
  const options = { prune: flag(body, "prune"), adopt: flag(body, "adopt"), isDry };
  const skipsRefused = flag(body, "skip_refused");
  if (expected === null && !isDry) throw refusal("documentExpectInvalid");
  return { text, name, isDry, skipsRefused, expected, options };
}

function flag(body: JsonObject, name: string): boolean {
  const value = fieldOf(body, name) ?? false;
  if (typeof value !== "boolean") throw refusal("documentFlagsInvalid");
  return value;
}

const applyAudit: AuditRule = {
  what: "document.applied",
  isLook: ({ dry_run: isDry }) => isDry === true,
  isChange: ({ answered: { applied, changes } }) => applied === true && Array.isArray(changes) && changes.length > 0,
  detail: ({ answered: { changes } }) => countsOf(changes as Plan["changes"]),
};

/** By act. */
function countsOf(changes: Plan["changes"]): JsonObject {
  const counts: Record<string, number> = {};
  for (const { act } of changes) counts[act] = (counts[act] ?? 0) + 1;
  return counts;
}

export const documents: readonly Route[] = [
  {
    method: "POST",
    path: "/apply",
    operationId: "applyDocument",
    audit: applyAudit,
    group: "Documents",
    summary: "Compare a document with what there is, and make it so",
    description:
      "An addition of ours. With `dry_run` it answers the plan. Without, it wants the plan's `hash` as `expect`, and does all of it in one transaction or nothing.",
    scope: "project",
    editorsOnly: EDITORS_ONLY,
    body: { schema: applyBody, required: true },
    responses: { 200: shape("documentPlan") },
    refusals: [
      "documentTextInvalid",
      "documentFlagsInvalid",
      "documentExpectInvalid",
      "documentNameInvalid",
      "textTooMuch",
      "documentInvalid",
      "documentOther",
      "documentRefused",
      "textsBusy",
    ],
    handle: apply,
  },
];
