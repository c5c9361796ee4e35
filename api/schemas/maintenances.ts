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

export const maintenanceList = z
  .strictObject({ maintenances: z.array(maintenance), total, warnings })
  .meta({ id: "MaintenanceList" });
