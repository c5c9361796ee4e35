/** Schedules of maintenance (docs/api-contract.md#maintenance). Their turns become windows of monitors, which the plan reads. */
import type { PlannedTurns, Turn } from "../../../model/maintenance-schedule.ts";
import type { Selector } from "../../../model/selector.ts";

export interface MaintenanceSchedule extends PlannedTurns {
  readonly id: number;
  readonly projectId: number;
  readonly title: string;
  readonly text: string;
  readonly selector: Selector;
  /** Whether public pages show it. */
  readonly announce: boolean;
  /** Turns that began before it were ended; null: none. */
  readonly endedUntilMs: number | null;
  /** It has no turn from then on; null: it never ends. */
  readonly overAtMs: number | null;
  readonly createdAtMs: number;
}

export type ScheduleDraft = Omit<MaintenanceSchedule, "id" | "projectId" | "endedUntilMs" | "createdAtMs">;

/** Of one project. */
export const MOST_SCHEDULES = 200;

export interface Schedules {
  /** @returns undefined when the project has as many as it may */
  create(projectId: number, draft: ScheduleDraft, nowMs: number): Promise<MaintenanceSchedule | undefined>;
  find(projectId: number, id: number): Promise<MaintenanceSchedule | undefined>;
  /** Oldest first. */
  list(projectId: number): Promise<readonly MaintenanceSchedule[]>;
  /** Of active projects, those that have a turn to come. */
  current(nowMs: number): Promise<readonly MaintenanceSchedule[]>;
  /** Where its turns or monitors change, its windows end but for those of a turn that goes on; `make` makes what is missing. A turn that was ended stays so. */
  update(
    id: number,
    decide: (before: MaintenanceSchedule) => ScheduleDraft,
    nowMs: number,
  ): Promise<MaintenanceSchedule | undefined>;
  /** Ends its windows. @returns false when it was not there */
  remove(id: number, nowMs: number): Promise<boolean>;
  /** Ends the windows of the turn, which gets none any more. */
  endTurn(id: number, turn: Turn, nowMs: number): Promise<MaintenanceSchedule | undefined>;
  /** Makes windows of the turn for monitors that are selected and have none, unless the schedule has changed. @returns how many; fewer than `limit`: that is all */
  make(schedule: MaintenanceSchedule, turn: Turn, limit: number, nowMs: number): Promise<number>;
  /** Monitors whose stretch has ended and that have another one get it. @returns how many; fewer than `limit`: that is all */
  settleNext(limit: number, nowMs: number): Promise<number>;
  /** Deletes windows that ended before then. @returns how many */
  forget(beforeMs: number, limit: number): Promise<number>;
}
