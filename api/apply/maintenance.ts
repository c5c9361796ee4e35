/** What a document would do to schedules of maintenance. */
import { isDeepStrictEqual } from "node:util";
import type { Document, MaintenanceEntry } from "../../model/document/document.ts";
import { formatId } from "../../model/ids.ts";
import type { MaintenanceSchedule, ScheduleDraft } from "../../store/sql/monitors/schedules-port.ts";
import { MOST_SCHEDULES } from "../../store/sql/monitors/schedules-port.ts";
import { badRequest, wordsOf } from "../errors.ts";
import { refuseUseless, scheduleDraft } from "../monitors/schedule-draft.ts";
import { dayNumbers } from "./days.ts";
import type { DraftPlan } from "./draft-plan.ts";
import { maintenanceEntry } from "./entries.ts";
import type { References } from "./references.ts";
import { type Found, Things, type Wanted } from "./things.ts";

/** Stands for the selector, which is read by keys. */
const ANY_MONITOR = { all: true } as const;

export async function planMaintenance(plan: DraftPlan, document: Document, references: References): Promise<void> {
  const records = await plan.api.controlPlane.schedules.list(plan.call.project.id);
  const entries = Object.entries(document.maintenance ?? {});
  const planner = new MaintenancePlanner(plan, records, references);
  planner.leave(new Set(entries.map(([key]) => key)));
  for (const [key, entry] of entries) await planner.plan(key, entry);
}

class MaintenancePlanner {
  readonly #plan: DraftPlan;
  readonly #things: Things<MaintenanceSchedule>;
  readonly #references: References;

  constructor(plan: DraftPlan, records: readonly MaintenanceSchedule[], references: References) {
    this.#plan = plan;
    const [, message] = wordsOf("maintenanceTooMany");
    this.#things = new Things(plan, "maintenance", records, { most: MOST_SCHEDULES, message });
    this.#references = references;
  }

  leave(keys: ReadonlySet<string>): void {
    const describe = ({ id, title }: MaintenanceSchedule) => ({ id: formatId("maintenance", id), name: title });
    for (const { id } of this.#things.leave(keys, describe)) this.#plan.maintenance.remove.push({ id, version: 0 });
  }

  async plan(key: string, entry: MaintenanceEntry): Promise<void> {
    const wanted: Wanted = { kind: "maintenance", key, path: ["maintenance", key], entry: { ...entry } };
    const isSame = ({ title }: MaintenanceSchedule): boolean => title === (entry.title ?? key);
    await this.#things.each(wanted, isSame, (found) => {
      const draft = this.#plan.attempt(wanted, entry, () => this.#read(wanted, entry, found.now));
      if (draft !== undefined && draft !== null) this.#write(wanted, draft, found);
    });
  }

  /** @throws 400 */
  #read({ key, path }: Wanted, entry: MaintenanceEntry, now: MaintenanceSchedule | null): ScheduleDraft | null {
    const { schedule } = entry;
    const days = schedule.type === "weekly" ? dayNumbers(schedule.days ?? []) : undefined;
    if (schedule.type === "weekly" && days === undefined)
      throw badRequest("schedule: days are mon, tue, wed, thu, fri, sat, sun, or a range such as mon-fri.");
    const title = now === null ? { title: key } : {};
    const body = {
      ...title,
      ...entry,
      select: ANY_MONITOR,
      schedule: days === undefined ? schedule : { ...schedule, days },
    };
    const draft = scheduleDraft(body, now);
    const selector = this.#references.selector(entry.select, [...path, "select"]);
    return selector === null ? null : { ...draft, selector };
  }

  #write(wanted: Wanted, draft: ScheduleDraft, { now, act }: Found<MaintenanceSchedule>): void {
    const { names } = this.#references;
    const [before, after] = [now === null ? {} : maintenanceEntry(now, names), maintenanceEntry(draft, names)];
    const isChanged = !isDeepStrictEqual(before, after);
    // One that is over stays as it is: a document may name what was.
    if (isChanged) refuseUseless(draft, this.#plan.call.nowMs);
    const id = now === null ? null : formatId("maintenance", now.id);
    const managed = this.#things.describe(wanted, act, { id, name: draft.title, before, after, secret: [] });
    if (managed === null) return;
    const { maintenance } = this.#plan;
    if (now === null) maintenance.create.push({ ...managed, input: draft });
    else {
      const change = isChanged ? { draft, before: now } : null;
      maintenance.change.push({ id: now.id, version: 0, change, managed });
    }
  }
}
