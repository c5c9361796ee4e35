/** Maintenance of monitors and its list (docs/api-contract.md#maintenance). */
import { z } from "zod";
import { id, iso, total } from "./words.ts";

export const MAINTENANCE_STATES = ["active", "next", "ended"] as const;

export const maintenance = z
  .strictObject({
    id: id("mnt_"),
    server_id: id("srv_"),
    server_name: z.string(),
    starts_at: iso,
    ends_at: iso,
    state: z.enum(MAINTENANCE_STATES),
  })
  .meta({ id: "Maintenance" });

export const maintenanceList = z
  .strictObject({ maintenances: z.array(maintenance), total })
  .meta({ id: "MaintenanceList" });
