/** Incidents: list, one, its events, acknowledge (docs/api-contract.md#incidents). */

import { z } from "zod";
import { actorData, incidentData } from "../../model/event.ts";
import { formatId, parseId } from "../../model/ids.ts";
import { familyOf, type Kind } from "../../model/kind.ts";
import { formatIso } from "../../model/time.ts";
import type { IncidentRecord } from "../../store/sql/incidents/port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject, readOptionalObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { tellTurns } from "../live/tell.ts";
import { codePoints, hasNul } from "../monitors/every-kind.ts";
import {
  choiceParameter,
  limitParameter,
  offsetParameter,
  readQuery,
  textParameter,
  timeParameter,
  wordParameter,
} from "../query.ts";
import { type Change, EDITORS_ONLY, type ProjectCall, pathId, type Route, shape } from "../route.ts";
import { incidentIdParams } from "./params.ts";

/** Code points (docs/api-contract.md#incidents). */
const MAX_NOTE = 500;
/** In one request. */
const MOST_ACKNOWLEDGED = 500;

const listQuery = {
  server_id: textParameter("Only incidents of this monitor, `srv_<n>` or `<n>`."),
  status: textParameter("`active` or `recovered`; anything else means both."),
  limit: limitParameter(100, "How many incidents to consider, before the status filter."),
  offset: offsetParameter,
  from: timeParameter(
    "from",
    "Only incidents that were open at this time or later. An addition of ours, as the next four.",
  ),
  to: timeParameter("to", "Only incidents that were open at this time or before."),
  tag: textParameter("Only incidents of monitors that have this tag."),
  acknowledged: choiceParameter("acknowledged", "`true`: only acknowledged ones; `false`: only others."),
  severity: wordParameter({
    words: ["critical", "warning"],
    fallback: null,
    message: "severity must be critical or warning.",
    description: "Only incidents of this severity.",
  }),
} as const;
const eventsQuery = { limit: limitParameter(500), offset: offsetParameter } as const;

async function list(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const query = readQuery(listQuery, call.request.query);
  let monitorId: number | null = null;
  if (query.server_id !== "") {
    monitorId = parseId("server", query.server_id) ?? null;
    if (monitorId === null) throw refusal("invalidServerId");
    if ((await api.controlPlane.monitors.find(call.project.id, monitorId)) === undefined)
      throw refusal("serverNotFound");
  }
  if (query.from !== null && query.to !== null && query.from > query.to) throw refusal("fromAfterTo");
  const considered = await api.controlPlane.incidents.list(call.project.id, {
    monitorId,
    limit: query.limit,
    offset: query.offset,
    fromMs: query.from,
    toMs: query.to,
    tag: query.tag.trim() === "" ? null : query.tag.trim().toLowerCase(),
    acknowledged: query.acknowledged,
    level: query.severity === null ? null : query.severity === "critical" ? "down" : "degraded",
  });
  const isOpen = (incident: IncidentRecord): boolean => incident.endedAtMs === null;
  const active = considered.filter(isOpen).length;
  const wanted =
    query.status === "active" || query.status === "recovered"
      ? considered.filter((incident) => isOpen(incident) === (query.status === "active"))
      : considered;
  return ok({ incidents: wanted.map(incidentData), total: wanted.length, active });
}

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const incident = await find(api, call);
  const report = await api.controlPlane.incidents.report(incident.id);
  return ok({ ...viewIncident(incident, call.nowMs), report });
}

async function events(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { id } = await find(api, call);
  const { limit, offset } = readQuery(eventsQuery, call.request.query);
  const { rows, total } = await api.controlPlane.incidents.events(id, limit, offset);
  const shown = rows.map((event) => ({
    id: formatId("event", event.id),
    type: event.type,
    at: formatIso(event.atMs),
    message: event.message,
    actor: actorData(event.actor),
    location: event.location,
    data: event.data,
  }));
  return ok({ incident_id: formatId("incident", id), events: shown, total });
}

async function acknowledge(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { id } = await find(api, call);
  const note = noteOf(readOptionalObject(call.request));
  const { incidents } = api.controlPlane;
  const acknowledged = await incidents.acknowledge(call.project.id, id, call.nowMs, call.actor, note);
  if (acknowledged === undefined) throw refusal("incidentNotFound");
  tellTurns(api, call.project.id, [{ monitorId: acknowledged.monitorId, incidentId: id, what: "acknowledged" }]);
  return ok(viewIncident(acknowledged, call.nowMs));
}

async function acknowledgeAll(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const body = readObject(call.request);
  const sent = fieldOf(body, "ids");
  if (!Array.isArray(sent) || sent.length === 0 || sent.length > MOST_ACKNOWLEDGED) throw refusal("incidentIdsInvalid");
  const ids = sent.map((word: unknown) => {
    const id = typeof word === "string" ? parseId("incident", word) : undefined;
    if (id === undefined) throw refusal("invalidIncidentId");
    return id;
  });
  const note = noteOf(body);
  const { incidents } = api.controlPlane;
  const done = await incidents.acknowledgeAll(call.project.id, [...new Set(ids)], call.nowMs, call.actor, note);
  const { acknowledged, unchanged } = done;
  const turns = acknowledged.map(({ id, monitorId }) => ({ monitorId, incidentId: id, what: "acknowledged" as const }));
  tellTurns(api, call.project.id, turns);
  return ok({ acknowledged: acknowledged.length, unchanged, total: acknowledged.length + unchanged });
}

/** @throws 400 */
function noteOf(body: JsonObject): string | null {
  const note = fieldOf(body, "note") ?? null;
  if (note !== null && (typeof note !== "string" || codePoints(note) > MAX_NOTE || hasNul(note)))
    throw refusal("noteInvalid");
  return note;
}

async function find(api: Api, call: ProjectCall): Promise<IncidentRecord> {
  const id = pathId(call, "incident", "invalidIncidentId");
  const incident = await api.controlPlane.incidents.find(call.project.id, id);
  if (incident === undefined) throw refusal("incidentNotFound");
  return incident;
}

function viewIncident(incident: IncidentRecord, nowMs: number) {
  const isTunnel = familyOf(incident.monitorKind as Kind) === "tunnel";
  return {
    ...incidentData(incident),
    type: isTunnel ? "vpn" : incident.monitorKind,
    protocol: incident.monitorKind,
    duration_seconds: Math.max(0, Math.floor(((incident.endedAtMs ?? nowMs) - incident.startedAtMs) / 1_000)),
    acknowledged_by: incident.acknowledgedBy === null ? null : actorData(incident.acknowledgedBy),
    locations: incident.locations,
    error_category: incident.errorCategory,
    event_count: incident.eventCount,
  };
}

/** It was open until this request. */
function isAcknowledgedNow({ call, answered }: Change): boolean {
  return answered.acknowledged_at === formatIso(call.nowMs);
}

const group = { group: "Incidents", scope: "project" } as const;

export const incidents: readonly Route[] = [
  listed({
    ...group,
    method: "GET",
    path: "/incidents",
    operationId: "listIncidents",
    summary: "List incidents, open ones first",
    query: listQuery,
    responses: { 200: shape("incidentList") },
    refusals: ["invalidServerId", "serverNotFound", "fromAfterTo"],
    handle: list,
  }),
  {
    ...group,
    method: "POST",
    path: "/incidents/acknowledge",
    operationId: "acknowledgeIncidents",
    audit: {
      what: "incident.acknowledged",
      isChange: ({ answered }) => answered.acknowledged !== 0,
      detail: ({ answered }) => ({ acknowledged: answered.acknowledged }),
    },
    summary: "Acknowledge many incidents; ids that are not there are passed over",
    description: "An addition of ours.",
    editorsOnly: EDITORS_ONLY,
    body: {
      schema: z
        .object({
          ids: z.array(z.string()).min(1).max(MOST_ACKNOWLEDGED).describe("Incidents, `inc_<n>` or `<n>`"),
          note: z.string().max(MAX_NOTE).nullable().optional(),
        })
        .meta({ id: "AcknowledgeIncidents", examples: [{ ids: ["inc_12", "inc_13"], note: "Looking into it" }] }),
      required: true,
    },
    responses: { 200: shape("incidentsAcknowledged") },
    refusals: ["incidentIdsInvalid", "invalidIncidentId", "noteInvalid"],
    handle: acknowledgeAll,
  },
  {
    ...group,
    method: "GET",
    path: "/incidents/{id}",
    operationId: "getIncident",
    summary: "Read an incident",
    params: incidentIdParams,
    responses: { 200: shape("incident") },
    handle: read,
  },
  listed({
    ...group,
    method: "GET",
    path: "/incidents/{id}/events",
    operationId: "listIncidentEvents",
    summary: "What happened during an incident, oldest first",
    params: incidentIdParams,
    query: eventsQuery,
    responses: { 200: shape("incidentEvents") },
    handle: events,
  }),
  {
    ...group,
    method: "POST",
    path: "/incidents/{id}/acknowledge",
    operationId: "acknowledgeIncident",
    audit: { what: "incident.acknowledged", isChange: isAcknowledgedNow },
    summary: "Acknowledge an incident; repeating it changes nothing",
    editorsOnly: EDITORS_ONLY,
    params: incidentIdParams,
    body: {
      schema: z.object({ note: z.string().max(MAX_NOTE).nullable().optional() }).meta({ id: "AcknowledgeIncident" }),
      required: false,
    },
    responses: { 200: shape("incident") },
    refusals: ["noteInvalid"],
    handle: acknowledge,
  },
];
