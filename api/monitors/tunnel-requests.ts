/** Tunnels made and changed: their fields are kept sealed, and every server they name is judged before. */
import type { ParsedTunnel, TunnelFields } from "../../engine/contract/registry.ts";
import type { TunnelProtocol } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import type { MonitorChange, MonitorWithLive, NewMonitor } from "../../store/sql/monitors/port.ts";
import type { Api } from "../api.ts";
import type { JsonObject } from "../body.ts";
import { refusal } from "../errors.ts";
import type { ProjectCall } from "../route.ts";
import { refuseShort } from "./draft.ts";
import { activityChange, type Now, newMonitorOf, refuseResume, withinSlots } from "./lifecycle.ts";
import {
  changedFields,
  changesTunnel,
  draftOfNewTunnel,
  draftOfTunnelChange,
  type NewTunnelDraft,
  readTunnelChange,
  type TunnelDraft,
} from "./tunnels.ts";

export async function createTunnel(api: Api, call: ProjectCall, body: JsonObject): Promise<Monitor> {
  const { tunnel, ...draft } = draftOfNewTunnel(body);
  await acceptEndpoints(api, tunnel);
  if (call.workspace.suspended) throw refusal("noMonitorsOnPlan");
  refuseShort(draft, call.plan);
  const monitor = newTunnelMonitor(api, call, { ...draft, tunnel });
  return withinSlots(api.controlPlane.monitors.create(monitor, call.actor, call.plan.tunnelSlots));
}

/** What is stored of a new tunnel. */
export function newTunnelMonitor(api: Api, call: ProjectCall, { tunnel, ...draft }: NewTunnelDraft): NewMonitor {
  const { protocol, fields } = tunnel;
  const sealed = (id: number): string => seal(api, id, fields);
  return { ...newMonitorOf(call, protocol, draft, hostOf(tunnel)), sealed };
}

/** @returns undefined when it is gone */
export async function updateTunnel(
  api: Api,
  call: ProjectCall,
  found: MonitorWithLive,
  body: JsonObject,
): Promise<MonitorWithLive | undefined> {
  const { monitors } = api.controlPlane;
  const { id, kind } = found.monitor;
  const draft = isImported(found) ? readTunnelChange(body) : await draftNow(api, id, protocolIn(kind), body);
  refuseFollowing(found, draft, body);
  if (draft.tunnel !== undefined) await acceptEndpoints(api, draft.tunnel);
  refuseResume(draft, found, call);
  refuseShort(draft, call.plan);
  const decide = (now: MonitorWithLive): MonitorChange => {
    refuseFollowing(now, draft, body);
    refuseResume(draft, now, call);
    return tunnelChange(api, now, body);
  };
  return withinSlots(monitors.update(call.project.id, id, call.nowMs, call.actor, decide, call.plan.tunnelSlots));
}

/** Made inside the store's transaction, from the monitor as it is then. */
export function tunnelChange(api: Api, now: Now, body: JsonObject): MonitorChange {
  const stored = openTunnel(api, now.monitor);
  const { active, tunnel, ...common } = isImported(now)
    ? withoutFields(readTunnelChange(body))
    : draftOfTunnelChange(protocolIn(now.monitor.kind), stored, body);
  const activity = activityChange(active === undefined ? {} : { active }, now);
  if (tunnel === undefined) return { ...common, ...activity };
  const sealedFields = changedFields(stored ?? {}, tunnel.fields);
  const isSame = stored !== null && sealedFields.length === 0 && tunnel.protocol === now.monitor.kind;
  if (isSame) return { ...common, ...activity };
  const { protocol: kind, fields } = tunnel;
  return {
    ...common,
    ...activity,
    kind,
    sealed: seal(api, now.monitor.id, fields),
    sealedFields,
    host: hostOf(tunnel),
  };
}

function withoutFields({ sent: _, ...draft }: ReturnType<typeof readTunnelChange>): TunnelDraft {
  return draft;
}

/** The change as it is to be judged now; another one may come in between, so that the store's transaction asks again. */
async function draftNow(api: Api, id: number, kind: TunnelProtocol, body: JsonObject): Promise<TunnelDraft> {
  if (!changesTunnel(kind, body)) return draftOfTunnelChange(kind, null, body);
  const whole = await api.controlPlane.monitors.recall(id);
  return draftOfTunnelChange(kind, whole === undefined ? null : openTunnel(api, whole.monitor), body);
}

/** Imported monitors are what their subscription says (docs/api-contract.md#subscriptions). */
function refuseFollowing(now: MonitorWithLive, draft: TunnelDraft, body: JsonObject): void {
  if (!isImported(now)) return;
  if (draft.intervalS !== undefined || changesTunnel(protocolIn(now.monitor.kind), body)) {
    throw refusal("followsSubscription");
  }
}

function isImported({ monitor }: Now): boolean {
  return monitor.subscriptionId !== null;
}

/** All at once, because names may be slow to resolve; of several refusals the first is returned. */
async function acceptEndpoints(api: Api, { endpoints }: ParsedTunnel): Promise<void> {
  const unlike = new Map(endpoints.map((endpoint) => [`${endpoint.host} ${endpoint.port}`, endpoint]));
  const judged = await Promise.allSettled([...unlike.values()].map((endpoint) => api.targets.accept(endpoint)));
  for (const one of judged) if (one.status === "rejected") throw one.reason;
}

/** The first server stands for the monitor in searches. */
function hostOf({ endpoints }: ParsedTunnel): string | null {
  return endpoints[0]?.host ?? null;
}

function seal(api: Api, id: number, fields: TunnelFields): string {
  return api.sealing.seal(SEALED_CELLS.tunnel(id), JSON.stringify(fields));
}

/** null: it has none of its own. */
export function openTunnel(api: Api, { id, sealed }: Monitor): TunnelFields | null {
  return sealed === undefined ? null : (JSON.parse(api.sealing.open(SEALED_CELLS.tunnel(id), sealed)) as TunnelFields);
}

/** Callers hand in tunnels only. */
function protocolIn(kind: Monitor["kind"]): TunnelProtocol {
  return kind as TunnelProtocol;
}
