/** Plans of workspaces, and what a change of plan does to their monitors (docs/api-contract.md#plans). */
import type { PlanName, PlanTable } from "../../../model/plan.ts";

/** How many monitors a change of plan touched. */
export interface PlanEffects {
  /** Intervals and heartbeats' periods raised to the plan's shortest. */
  readonly raised: number;
  /** Monitors that turned from running to paused; from paused to running. */
  readonly paused: number;
  readonly resumed: number;
}

export interface Plans {
  /**
   * Changes the plan and fits the monitors to it, in one transaction: too short intervals are raised, tunnels beyond the slots paused
   * (newest first), tunnels that a plan paused come back while there are slots (oldest first).
   * @param plans the numbers of each plan, as configured
   * @returns undefined when there is no such workspace
   */
  setPlan(organizationId: number, plan: PlanName, plans: PlanTable, nowMs: number): Promise<PlanEffects | undefined>;
  /** Suspended: no slots and no monitors at all; every monitor is paused by the plan until the workspace is restored. */
  setSuspended(
    organizationId: number,
    suspended: boolean,
    plans: PlanTable,
    nowMs: number,
  ): Promise<PlanEffects | undefined>;
}
