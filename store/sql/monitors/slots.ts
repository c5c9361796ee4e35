/** Tunnel slots of a workspace, counted in the transaction that takes them: of two callers at once the second sees what the first has made. */
import { sql } from "kysely";
import { holdWorkspace } from "../accounts/workspaces.ts";
import type { Session } from "../db/database.ts";
import { SlotsFullError } from "./port.ts";

/**
 * Runs in the transaction that makes a tunnel or resumes it after the plan's pause, before that change.
 * @param slots null: unlimited. @throws SlotsFullError
 */
export async function requireSlot(session: Session, organizationId: number, slots: number | null): Promise<void> {
  if (slots === null) return;
  await holdWorkspace(session, organizationId);
  const used = await slotsUsed(session, organizationId);
  if (used >= slots) throw new SlotsFullError(used, slots);
}

/** Tunnels of all projects, paused ones too, but for those that the plan paused (docs/api-contract.md#plans). */
export async function slotsUsed(session: Session, organizationId: number): Promise<number> {
  const { used } = await session.kysely
    .selectFrom("monitors")
    .select((of) => of.fn.countAll<number>().as("used"))
    .where("organization_id", "=", organizationId)
    .where("family", "=", "tunnel")
    .where("deleted_at_ms", "is", null)
    .where(sql<boolean>`pause_reasons not like '%"plan"%'`)
    .executeTakeFirstOrThrow();
  return used;
}
