/** Matches the monitors of a document with existing ones: which are unchanged, and which must be compared. */
import type { Document } from "../../model/document/document.ts";
import type { Act } from "../../model/document/plan.ts";
import type { MonitorOfProject } from "../../store/sql/documents/port.ts";
import { adoptables, isSameTarget } from "./adoptable-monitors.ts";
import type { About, DraftPlan } from "./draft-plan.ts";
import { isUntouched } from "./untouched-monitors.ts";
import { type WantedMonitor, wantedMonitor } from "./wanted-monitor.ts";

export interface Existing extends MonitorOfProject {
  readonly act: Extract<Act, "change" | "adopt">;
}

export interface Waiting {
  readonly wanted: WantedMonitor;
  readonly existing: Existing | null;
}

export type Staying = Waiting & { readonly existing: Existing };

export async function readEntries(
  plan: DraftPlan,
  document: Document,
  monitors: ReadonlyMap<number, MonitorOfProject>,
): Promise<{ readonly untouched: readonly Staying[]; readonly others: readonly Waiting[] }> {
  const adoptable = plan.options.adopt ? adoptables(plan, monitors) : new Map<string, MonitorOfProject[]>();
  const [untouched, others]: [Staying[], Waiting[]] = [[], []];
  for (const [key, entry] of Object.entries(document.monitors ?? {})) {
    await plan.slices.rest();
    const wanted = plan.attempt(aboutMonitor(key), entry, () => wantedMonitor(key, entry, document.defaults ?? {}));
    if (wanted === undefined) continue;
    const existing = existingOf(plan, wanted, monitors, adoptable);
    if (existing !== null && isUntouched(plan, wanted, existing)) untouched.push({ wanted, existing });
    else others.push({ wanted, existing });
  }
  return { untouched, others };
}

export function aboutMonitor(key: string): About {
  return { kind: "monitor", key, path: ["monitors", key] };
}

export async function allMonitors(plan: DraftPlan): Promise<ReadonlyMap<number, MonitorOfProject>> {
  const found = new Map<number, MonitorOfProject>();
  for await (const some of plan.api.controlPlane.documents.monitors(plan.call.project.id)) {
    for (const one of some) found.set(one.monitor.id, one);
  }
  return found;
}

function existingOf(
  plan: DraftPlan,
  wanted: WantedMonitor,
  monitors: ReadonlyMap<number, MonitorOfProject>,
  adoptable: ReadonlyMap<string, MonitorOfProject[]>,
): Existing | null {
  const thing = plan.thing("monitor", wanted.key);
  const known = thing === undefined ? undefined : monitors.get(thing.thingId);
  if (thing !== undefined && known !== undefined) return { ...known, act: plan.isOurs(thing) ? "change" : "adopt" };
  const found = adoptable.get(wanted.name)?.find(({ monitor }) => isSameTarget(plan, monitor, wanted));
  return found === undefined ? null : { ...found, act: "adopt" };
}
