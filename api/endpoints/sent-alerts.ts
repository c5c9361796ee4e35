/** What was sent to channels: of an incident, and of a channel (docs/api-contract.md#alerts). */

import { formatId } from "../../model/ids.ts";
import { formatIso, isoOrNull } from "../../model/time.ts";
import type { SentAlert } from "../../store/sql/alerts/port.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { listed } from "../listed.ts";
import { EDITORS_ONLY, type ProjectCall, pathId, type Route, shape } from "../route.ts";
import { channelIdParams, incidentIdParams } from "./params.ts";

/** Newest first; our choice: what a person reads. */
const MOST_LISTED = 100;

async function ofIncident(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = pathId(call, "incident", "invalidIncidentId");
  if ((await api.controlPlane.incidents.find(call.project.id, id)) === undefined) throw refusal("incidentNotFound");
  return listOf(await api.controlPlane.alerts.ofIncident(id, MOST_LISTED));
}

async function ofChannel(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const id = pathId(call, "channel", "invalidChannelId");
  if ((await api.controlPlane.channels.find(call.project.id, id)) === undefined) throw refusal("channelNotFound");
  return listOf(await api.controlPlane.alerts.ofChannel(id, MOST_LISTED));
}

function listOf(sent: readonly SentAlert[]): ApiResponse {
  return ok({ alerts: sent.map(view), total: sent.length });
}

function view({ channel, reason, state, title, lastError, attempts, ...at }: SentAlert) {
  return {
    channel: { ...channel, id: formatId("channel", channel.id) },
    reason,
    state,
    title,
    attempts: attempts.map(({ atMs, statusCode, error, durationMs }) => ({
      at: formatIso(atMs),
      status_code: statusCode,
      error,
      duration_ms: durationMs,
    })),
    last_error: lastError,
    created_at: formatIso(at.createdAtMs),
    sent_at: state === "delivered" ? isoOrNull(at.endedAtMs) : null,
    next_attempt_at: isoOrNull(at.nextAttemptAtMs),
  };
}

const group = { group: "Alerts", scope: "project", method: "GET", description: "An addition of ours." } as const;

export const sentAlerts: readonly Route[] = [
  listed({
    ...group,
    path: "/incidents/{id}/alerts",
    operationId: "listIncidentAlerts",
    summary: "List the newest messages about an incident",
    params: incidentIdParams,
    responses: { 200: shape("sentAlerts") },
    handle: ofIncident,
  }),
  listed({
    ...group,
    path: "/channels/{id}/deliveries",
    operationId: "listChannelDeliveries",
    summary: "List the newest messages to a channel",
    editorsOnly: EDITORS_ONLY,
    params: channelIdParams,
    responses: { 200: shape("sentAlerts") },
    refusals: ["invalidChannelId", "channelNotFound"],
    handle: ofChannel,
  }),
];
