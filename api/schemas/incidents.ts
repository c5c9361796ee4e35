/** Incidents and their activity log (docs/api-contract.md#incidents). */
import { z } from "zod";
import { INCIDENT_EVENT_TYPES, NOTE_PHASES } from "../../store/sql/incidents/port.ts";
import { actor, errorCategory, id, iso, MONITOR_TYPES, PROTOCOLS, total, warnings } from "./words.ts";

const incidentFields = {
  id: id("inc_"),
  server_id: id("srv_"),
  server_name: z.string(),
  status: z.enum(["active", "recovered"]),
  severity: z.enum(["critical", "warning"]),
  started_at: iso,
  ended_at: iso.nullable(),
  acknowledged: z.boolean(),
  acknowledged_at: iso.nullable(),
  error_type: z.enum(["down", "degraded"]),
  error_message: z.string(),
};

export const incidentRow = z.strictObject(incidentFields).meta({ id: "IncidentRow" });
export const incident = z
  .strictObject({
    ...incidentFields,
    type: z.enum(MONITOR_TYPES),
    protocol: z.enum(PROTOCOLS),
    duration_seconds: z.int().min(0),
    acknowledged_by: actor.nullable(),
    locations: z.array(z.string()),
    error_category: errorCategory.nullable(),
    event_count: z.int().min(0),
    report: z
      .strictObject({ title: z.string().nullable(), postmortem: z.string().nullable(), public: z.boolean() })
      .nullable()
      .optional()
      .describe("An addition of ours, in the answer to GET only: what was written afterwards; null: nothing"),
    warnings,
  })
  .meta({ id: "Incident" });
export const incidentReport = z
  .strictObject({
    incident_id: id("inc_"),
    title: z.string().nullable(),
    postmortem: z.string().nullable(),
    public: z.boolean(),
    warnings,
  })
  .meta({ id: "WrittenReport" });
export const incidentList = z
  .strictObject({ incidents: z.array(incidentRow), total, active: total })
  .meta({ id: "IncidentList" });
export const incidentsAcknowledged = z
  .strictObject({
    acknowledged: total.describe("Those that were not acknowledged before"),
    unchanged: total,
    total,
    warnings,
  })
  .meta({ id: "AcknowledgedIncidents" });
export const incidentEvents = z
  .strictObject({
    incident_id: id("inc_"),
    events: z.array(
      z
        .strictObject({
          id: id("evt_"),
          type: z.enum(INCIDENT_EVENT_TYPES),
          at: iso,
          message: z.string(),
          actor,
          location: z.string().nullable(),
          data: z.record(z.string(), z.unknown()),
        })
        .meta({ id: "IncidentEvent" }),
    ),
    total,
  })
  .meta({ id: "IncidentEventList" });

export const incidentNote = z
  .strictObject({
    id: id("evt_"),
    incident_id: id("inc_"),
    at: iso,
    actor,
    text: z.string(),
    phase: z.enum(NOTE_PHASES).nullable(),
    public: z.boolean(),
    warnings,
  })
  .meta({ id: "WrittenNote" });
export const noteRemoved = z.strictObject({ success: z.literal(true), id: id("evt_") }).meta({ id: "RemovedNote" });
