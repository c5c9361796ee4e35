/** What is written of an incident afterwards: a title for readers of public pages, and why it happened (docs/api-contract.md#notes). */
import { z } from "zod";
import { formatId } from "../../model/ids.ts";
import type { IncidentReport } from "../../store/sql/incidents/port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { type ErrorName, refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { tellTurns } from "../live/tell.ts";
import { codePoints, hasNul } from "../monitors/every-kind.ts";
import { EDITORS_ONLY, type ProjectCall, pathId, type Route, shape } from "../route.ts";
import { incidentIdParams } from "./params.ts";

/** Code points. */
const MAX_TITLE = 200;
const MAX_POSTMORTEM = 20_000;

const reportBody = z
  .object({
    title: z.string().max(MAX_TITLE).nullable().optional().describe("What readers are told; null: our own words"),
    postmortem: z.string().max(MAX_POSTMORTEM).nullable().optional().describe("Markdown: why it happened"),
    public: z.boolean().optional().describe("Whether public pages show both. Default: false"),
  })
  .meta({
    id: "IncidentReport",
    examples: [{ title: "Frankfurt unreachable", postmortem: "A router lost its routes.", public: true }],
  });

async function write(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = pathId(call, "incident", "invalidIncidentId");
  const { incidents } = api.controlPlane;
  const incident = await incidents.find(call.project.id, id);
  if (incident === undefined) throw refusal("incidentNotFound");
  const report = readReport(readObject(call.request));
  if (!(await incidents.setReport(call.project.id, id, report))) throw refusal("incidentNotFound");
  tellTurns(api, call.project.id, [{ monitorId: incident.monitorId, incidentId: id, what: "note" }]);
  api.pages.dropProject(call.project.id);
  return ok({ incident_id: formatId("incident", id), ...report });
}

/** @throws 400 */
function readReport(body: JsonObject): IncidentReport {
  const isPublic = fieldOf(body, "public") ?? false;
  if (typeof isPublic !== "boolean") throw refusal("notePublicInvalid");
  return {
    title: textOf(fieldOf(body, "title"), MAX_TITLE, "reportTitleInvalid"),
    postmortem: textOf(fieldOf(body, "postmortem"), MAX_POSTMORTEM, "reportTextInvalid"),
    public: isPublic,
  };
}

/** Trimmed; an empty one is none. @throws 400 */
function textOf(value: unknown, most: number, error: ErrorName): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string" || codePoints(value) > most || hasNul(value)) throw refusal(error);
  return value.trim() === "" ? null : value.trim();
}

export const reports: readonly Route[] = [
  {
    method: "PUT",
    path: "/incidents/{id}/report",
    operationId: "writeIncidentReport",
    audit: "incident-report.updated",
    group: "Incidents",
    summary: "Write why an incident happened, and what readers of public pages are told of it",
    description: "An addition of ours. It is written as a whole.",
    scope: "project",
    editorsOnly: EDITORS_ONLY,
    params: incidentIdParams,
    body: { schema: reportBody, required: true },
    responses: { 200: shape("incidentReport") },
    refusals: ["notePublicInvalid", "reportTitleInvalid", "reportTextInvalid"],
    handle: write,
  },
];
