/** What monitors of both families share when they are made, paused and resumed (docs/api-contract.md#subscriptions). */
import type { Kind } from "../../model/kind.ts";
import { isActive, MONITOR_DEFAULTS } from "../../model/monitor.ts";
import { defaultIntervalS } from "../../model/schedule.ts";
import {
  type MonitorChange,
  type MonitorWithLive,
  type NewMonitor,
  SlotsFullError,
} from "../../store/sql/monitors/port.ts";
import { forbidden, refusal } from "../errors.ts";
import type { ProjectCall } from "../route.ts";
import { type CommonFields, DEFAULTS } from "./every-kind.ts";

type Activity = { readonly active?: boolean };
/** As it is stored; what its checks found does not count. */
export type Now = Pick<MonitorWithLive, "monitor">;

/** Active or paused, from everywhere, with the defaults of every kind. */
export function newMonitorOf(
  call: ProjectCall,
  kind: Kind,
  draft: CommonFields & Activity & { readonly name: string },
  host: string | null,
): NewMonitor {
  return {
    ...MONITOR_DEFAULTS,
    projectId: call.project.id,
    organizationId: call.project.organizationId,
    name: draft.name,
    kind,
    settings: {},
    intervalS: draft.intervalS ?? defaultIntervalS(call.plan),
    timeoutS: draft.timeoutS ?? DEFAULTS.timeoutS,
    timeoutFollowsInterval: draft.timeoutFollowsInterval ?? MONITOR_DEFAULTS.timeoutFollowsInterval,
    maxRetries: draft.maxRetries ?? DEFAULTS.maxRetries,
    tags: draft.tags ?? MONITOR_DEFAULTS.tags,
    ...(draft.active === false && { pauseReasons: ["user"] as const, pausedAtMs: call.nowMs }),
    host,
    heartbeatToken: null,
    nowMs: call.nowMs,
  };
}

/** State before plan (docs/api-contract.md#order-of-checks, #subscriptions). Whether a tunnel finds a slot is for the store to say. */
export function refuseResume({ active }: Activity, { monitor }: Now, call: ProjectCall): void {
  if (active !== true || isActive(monitor)) return;
  if (monitor.pauseReasons.includes("subscription")) throw refusal("subscriptionOff");
  if (monitor.pauseReasons.includes("provider")) throw refusal("providerDropped");
  if (call.workspace.suspended) throw refusal("noMonitorsOnPlan");
}

/** Sending what a monitor is already changes nothing. */
export function activityChange({ active }: Activity, { monitor }: Now): MonitorChange {
  if (active === false && isActive(monitor)) return { addPauseReason: "user" };
  if (active === true && !isActive(monitor)) return { removePauseReasons: monitor.pauseReasons };
  return {};
}

/** @throws 403 when the store finds no free slot */
export async function withinSlots<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SlotsFullError) throw forbidden(`Tunnel limit reached (${error.used}/${error.slots}).`);
    throw error;
  }
}
