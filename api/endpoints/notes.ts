/** Notes of incidents: what people write for each other, and for the readers of public pages (docs/api-contract.md#notes). */
import { z } from "zod";
import { actorData } from "../../model/event.ts";
import { formatId, parseId } from "../../model/ids.ts";
import { formatIso } from "../../model/time.ts";
import { type IncidentEvent, NOTE_PHASES, type NoteData } from "../../store/sql/incidents/port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { tellTurns } from "../live/tell.ts";
import { codePoints, hasNul } from "../monitors/every-kind.ts";
import { EDITORS_ONLY, type ProjectCall, pathId, type Refusal, type Route, shape } from "../route.ts";
import { incidentIdParams, noteIdParams } from "./params.ts";

/** Code points. */
const MAX_TEXT = 5_000;

const noteBody = z
  .object({
    text: z.string().describe(`1 to ${MAX_TEXT} characters after trimming`),
    phase: z.enum(NOTE_PHASES).nullable().optional().describe("A word for readers; it closes nothing"),
    public: z.boolean().optional().describe("Whether public pages show it. Default: false"),
  })
  .meta({ id: "IncidentNote", examples: [{ text: "Deploy 4121 is rolled back", phase: "investigating" }] });

async function add(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const incident = await findIncident(api, call);
  const note = readNote(readObject(call.request));
  const added = await api.controlPlane.incidents.addNote(call.project.id, incident.id, note, call.nowMs, call.actor);
  if (added === undefined) throw refusal("incidentNotFound");
  tell(api, call, incident);
  return ok(view(incident.id, added));
}

async function change(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const incident = await findIncident(api, call);
  const id = noteId(call);
  const note = readNote(readObject(call.request));
  const changed = await api.controlPlane.incidents.changeNote(incident.id, id, (before) => {
    refuseForeign(call, before);
    return note;
  });
  if (changed === undefined) throw refusal("noteNotFound");
  tell(api, call, incident);
  return ok(view(incident.id, changed));
}

async function remove(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const incident = await findIncident(api, call);
  const id = noteId(call);
  const removed = await api.controlPlane.incidents.changeNote(incident.id, id, (before) => {
    refuseForeign(call, before);
    return null;
  });
  if (removed === undefined) throw refusal("noteNotFound");
  tell(api, call, incident);
  return ok({ success: true, id: formatId("event", id) });
}

interface Found {
  readonly id: number;
  readonly monitorId: number;
}

function tell(api: Api, call: ProjectCall, { id, monitorId }: Found): void {
  tellTurns(api, call.project.id, [{ monitorId, incidentId: id, what: "note" }]);
  // What readers are shown of it is true at once.
  api.pages.dropProject(call.project.id);
}

async function findIncident(api: Api, call: ProjectCall): Promise<Found> {
  const id = pathId(call, "incident", "invalidIncidentId");
  const incident = await api.controlPlane.incidents.find(call.project.id, id);
  if (incident === undefined) throw refusal("incidentNotFound");
  return incident;
}

function noteId(call: ProjectCall): number {
  const id = parseId("event", call.params[1] ?? "");
  if (id === undefined) throw refusal("noteNotFound");
  return id;
}

/** @throws 403 unless the caller wrote it, or is an owner or an admin */
function refuseForeign({ user, role }: ProjectCall, { actor }: IncidentEvent): void {
  const isAuthor = actor.type === "user" && actor.id === user.id;
  if (!isAuthor && role !== "owner" && role !== "admin") throw refusal("noteForeign");
}

/** @throws 400 */
function readNote(body: JsonObject): NoteData {
  const [text, phase, isPublic] = [
    fieldOf(body, "text"),
    fieldOf(body, "phase") ?? null,
    fieldOf(body, "public") ?? false,
  ];
  const trimmed = typeof text === "string" ? text.trim() : "";
  if (trimmed === "" || codePoints(trimmed) > MAX_TEXT || hasNul(trimmed)) throw refusal("noteTextInvalid");
  const word = NOTE_PHASES.find((one) => one === phase);
  if (phase !== null && word === undefined) throw refusal("notePhaseInvalid");
  if (typeof isPublic !== "boolean") throw refusal("notePublicInvalid");
  return { text: trimmed, phase: word ?? null, public: isPublic };
}

function view(incidentId: number, { id, atMs, actor, data }: IncidentEvent) {
  return {
    id: formatId("event", id),
    incident_id: formatId("incident", incidentId),
    at: formatIso(atMs),
    actor: actorData(actor),
    ...(data as unknown as NoteData),
  };
}

const OF_BODY: readonly Refusal[] = ["noteTextInvalid", "notePhaseInvalid", "notePublicInvalid"];
const group = {
  group: "Incidents",
  scope: "project",
  description: "An addition of ours.",
  editorsOnly: EDITORS_ONLY,
} as const;

export const notes: readonly Route[] = [
  {
    ...group,
    method: "POST",
    path: "/incidents/{id}/notes",
    operationId: "addIncidentNote",
    audit: "note.created",
    summary: "Write a note into an incident's log",
    params: incidentIdParams,
    body: { schema: noteBody, required: true },
    responses: { 200: shape("incidentNote") },
    refusals: OF_BODY,
    handle: add,
  },
  {
    ...group,
    method: "PUT",
    path: "/incidents/{id}/notes/{note}",
    operationId: "changeIncidentNote",
    audit: "note.updated",
    summary: "Write a note anew: its author, an owner or an admin may",
    params: noteIdParams,
    body: { schema: noteBody, required: true },
    responses: { 200: shape("incidentNote") },
    refusals: ["noteNotFound", "noteForeign", ...OF_BODY],
    handle: change,
  },
  {
    ...group,
    method: "DELETE",
    path: "/incidents/{id}/notes/{note}",
    operationId: "deleteIncidentNote",
    audit: "note.deleted",
    summary: "Delete a note: its author, an owner or an admin may",
    params: noteIdParams,
    responses: { 200: shape("noteRemoved") },
    refusals: ["noteNotFound", "noteForeign"],
    handle: remove,
  },
];
