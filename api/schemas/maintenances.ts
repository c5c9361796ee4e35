/** Maintenance of monitors and its list (docs/api-contract.md#maintenance). */
import { z } from "zod";
import { id, iso, total, warnings } from "./words.ts";

export const MAINTENANCE_STATES = ["active", "next", "ended"] as const;

export const maintenance = z
  .strictObject({
    id: id("mnt_"),
    server_id: id("srv_"),
    server_name: z.string(),
    starts_at: iso,
    ends_at: iso,
    state: z.enum(MAINTENANCE_STATES),
    warnings,
  })
  .meta({ id: "Maintenance" });

const minutes = z.int().min(5).max(10_080).describe("How long a turn is");

/** When the turns are. */
export const maintenanceTurns = z
  .union([
    z
      .object({
        type: z.literal("once"),
        starts_at: z.string().describe("ISO time"),
        ends_at: z.string().describe("ISO time"),
      })
      .meta({ id: "MaintenanceOnce" }),
    z
      .object({
        type: z.literal("weekly"),
        days: z.array(z.int().min(1).max(7)).min(1).max(7).describe("1 is Monday, 7 Sunday"),
        from: z
          .string()
          .describe("Local time, HH:MM")
          .meta({ examples: ["02:00"] }),
        minutes,
      })
      .meta({ id: "MaintenanceWeekly" }),
    z
      .object({
        type: z.literal("cron"),
        cron: z
          .string()
          .max(100)
          .describe("Five fields, local time")
          .meta({ examples: ["0 2 1 * *"] }),
        minutes,
      })
      .meta({ id: "MaintenanceCron" }),
  ])
  .describe("Once, some days of the week, or by a cron pattern")
  .meta({ id: "MaintenanceTurns" });

export const maintenanceSchedule = z
  .strictObject({
    id: id("mnt_"),
    title: z.string(),
    text: z.string(),
    select: z.record(z.string(), z.unknown()),
    schedule: maintenanceTurns,
    timezone: z.string(),
    starts_on: z.string().nullable(),
    ends_on: z.string().nullable(),
    announce: z.boolean(),
    state: z.enum(MAINTENANCE_STATES),
    next_starts_at: iso.nullable(),
    created_at: iso,
    warnings,
  })
  .meta({ id: "MaintenanceSchedule" });

export const deletedMaintenance = z
  .strictObject({ success: z.literal(true), id: id("mnt_") })
  .meta({ id: "DeletedMaintenance" });

const createdMaintenances = z
  .strictObject({ maintenances: z.array(maintenance), total, warnings })
  .meta({ id: "CreatedMaintenances" });

export const plannedMaintenance = z
  .union([createdMaintenances, maintenanceSchedule])
  .meta({ id: "PlannedMaintenance" });
export const endedMaintenance = z.union([maintenance, maintenanceSchedule]).meta({ id: "EndedMaintenance" });

export const maintenanceList = z
  .strictObject({
    maintenances: z.array(maintenance).describe("Windows of monitors, those of schedules included"),
    total,
    schedules: z.array(maintenanceSchedule).describe("All of the project, oldest first"),
  })
  .meta({ id: "MaintenanceList" });
