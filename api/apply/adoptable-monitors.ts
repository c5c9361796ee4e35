/** Monitors that a document may take over: those that no document has, of equal name and target. */
import { familyOf, isWebsite } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import type { MonitorOfProject } from "../../store/sql/documents/port.ts";
import { ApiError } from "../errors.ts";
import { wholeTarget } from "../monitors/address.ts";
import { draftOfNewTunnel } from "../monitors/tunnels.ts";
import type { DraftPlan } from "./draft-plan.ts";
import type { WantedMonitor } from "./wanted-monitor.ts";

/** Those that no key stands for, by name; what follows a subscription is the subscription's. */
export function adoptables(plan: DraftPlan, monitors: ReadonlyMap<number, MonitorOfProject>) {
  const taken = new Set(plan.thingsOf("monitor").map(({ thingId }) => thingId));
  const byName = new Map<string, MonitorOfProject[]>();
  for (const one of monitors.values()) {
    const { id, name, subscriptionId } = one.monitor;
    if (taken.has(id) || subscriptionId !== null) continue;
    byName.set(name, [...(byName.get(name) ?? []), one]);
  }
  return byName;
}

/** Equal name and target: it would be a double. */
export function isSameTarget(plan: DraftPlan, monitor: Monitor, { kind, body }: WantedMonitor): boolean {
  if (kind === "vpn") {
    if (familyOf(monitor.kind) !== "tunnel") return false;
    const draft = quietly(() => draftOfNewTunnel({ ...body, name: monitor.name }));
    return draft?.tunnel.protocol === monitor.kind && (draft.tunnel.endpoints[0]?.host ?? null) === monitor.host;
  }
  if (monitor.kind !== kind) return false;
  if (isWebsite(kind)) return wholeTarget(plan.api, monitor).settings.url === body.url;
  return ["host", "port", "domain"].every(
    (field) => body[field] === undefined || body[field] === monitor.settings[field],
  );
}

function quietly<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
