/** Where a monitor is checked from, and whether a partial outage alerts (docs/api-contract.md#locations). */
import { z } from "zod";
import { formatId } from "../../model/ids.ts";
import { isPassive } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import type { MonitorChange, MonitorWithLive } from "../../store/sql/monitors/port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject, readObject } from "../body.ts";
import { refusal } from "../errors.ts";
import { type ApiResponse, ok } from "../http.ts";
import { findMonitor } from "../monitors/find.ts";
import {
  codesOf,
  locationField,
  locationsChange,
  MOST_LOCATIONS,
  readLocations,
  requireLocationsOnPlan,
  type WantedLocations,
} from "../monitors/locations.ts";
import { type ProjectCall, type Route, shape } from "../route.ts";
import { serverIdParams } from "./params.ts";

const locationsBody = z
  .object({
    locations: z
      .array(locationField)
      .min(1)
      .max(MOST_LOCATIONS)
      .optional()
      .describe("Where it is checked from, each once; countries need Pro or above"),
    disabled_locations: z.array(locationField).optional().describe("Those of them that are paused"),
    notify_on_partial: z.boolean().optional().describe("Whether an outage of some of its locations alerts"),
  })
  .meta({ id: "UpdateLocations", examples: [{ locations: ["de", "nl"], disabled_locations: [] }] });

async function read(api: Api, call: ProjectCall): Promise<ApiResponse> {
  return ok(view((await findMonitor(api, call)).monitor));
}

async function update(api: Api, call: ProjectCall): Promise<ApiResponse> {
  const { monitor } = await findMonitor(api, call);
  const wanted = readWanted(readObject(call.request));
  if (isPassive(monitor.kind)) throw refusal("heartbeatLocations");
  requireLocationsOnPlan(wanted.locations, call.plan);
  const { notifyOnPartial } = wanted;
  const decide = (now: MonitorWithLive): MonitorChange => ({
    ...locationsChange(now.monitor, wanted),
    ...(notifyOnPartial !== undefined && { notifyOnPartial }),
  });
  const after = await api.controlPlane.monitors.update(call.project.id, monitor.id, call.nowMs, call.actor, decide);
  if (after === undefined) throw refusal("serverNotFound");
  api.state.notices.publish("monitors");
  return ok(view(after.monitor));
}

interface Wanted extends WantedLocations {
  readonly notifyOnPartial?: boolean;
}

/** @throws 400 */
function readWanted(body: JsonObject): Wanted {
  const [locations, disabled, partial] = ["locations", "disabled_locations", "notify_on_partial"].map((name) =>
    fieldOf(body, name),
  );
  if (partial !== undefined && typeof partial !== "boolean") throw refusal("notifyOnPartialInvalid");
  const disabledLocations = disabled === undefined ? undefined : codesOf(disabled);
  if (disabledLocations === null) throw refusal("disabledLocationsInvalid");
  return {
    ...(locations !== undefined && { locations: readLocations(locations) }),
    ...(disabledLocations !== undefined && { disabledLocations }),
    ...(partial !== undefined && { notifyOnPartial: partial }),
  };
}

function view({ id, locations, disabledLocations, notifyOnPartial }: Monitor) {
  return {
    server_id: formatId("server", id),
    locations,
    disabled_locations: disabledLocations,
    notify_on_partial: notifyOnPartial,
  };
}

const group = { group: "Monitors", scope: "project", path: "/servers/{id}/locations", params: serverIdParams } as const;

export const monitorLocations: readonly Route[] = [
  {
    ...group,
    method: "GET",
    operationId: "getMonitorLocations",
    summary: "Read where a monitor is checked from",
    description: "An addition of ours.",
    responses: { 200: shape("monitorLocations") },
    refusals: ["invalidServerId", "serverNotFound"],
    handle: read,
  },
  {
    ...group,
    method: "PUT",
    operationId: "updateMonitorLocations",
    audit: "monitor.updated",
    summary: "Choose where a monitor is checked from",
    description: "An addition of ours. What is not sent stays as it is.",
    editorsOnly: "You do not have permission to edit this monitor",
    body: { schema: locationsBody, required: true },
    responses: { 200: shape("monitorLocations") },
    refusals: [
      "invalidServerId",
      "serverNotFound",
      "locationsInvalid",
      "disabledLocationsInvalid",
      "notifyOnPartialInvalid",
      "heartbeatLocations",
      "regionOnPlan",
    ],
    handle: update,
  },
];
