/** Uptime checks made and changed: what is stored of a draft, its secrets sealed (the twin of tunnel-requests.ts). */
import { isPassive, isWebsite, type UptimeKind } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import { storedTarget } from "../../store/sealing/target.ts";
import type { MonitorChange, NewMonitor } from "../../store/sql/monitors/port.ts";
import type { Api } from "../api.ts";
import { fieldOf, type JsonObject } from "../body.ts";
import { badRequest, refusal } from "../errors.ts";
import type { ProjectCall } from "../route.ts";
import { MONITOR_TYPES } from "../schemas/words.ts";
import { wholeTarget } from "./address.ts";
import { type Draft, type Expiry, expiryOfNew, type NewDraft, targetOf } from "./draft.ts";
import { isUptimeKind } from "./fields.ts";
import { activityChange, type Now, newMonitorOf } from "./lifecycle.ts";
import { unknownType } from "./refusals.ts";
import { changedSecrets, storedSecrets } from "./secrets.ts";
import { hashToken } from "./token.ts";
import { hasTunnelField } from "./tunnels.ts";

export function isTunnel(body: JsonObject): boolean {
  const type = fieldOf(body, "type");
  return type === undefined ? hasTunnelField(body) : type === "vpn";
}

/** @throws for groups and what is no type at all */
export function kindOfNew(body: JsonObject): UptimeKind {
  const type = fieldOf(body, "type");
  if (type === undefined) {
    const isNamed = typeof fieldOf(body, "name") === "string";
    throw isNamed ? refusal("typeInvalid", { details: { types: MONITOR_TYPES } }) : refusal("nameInvalid");
  }
  if (type === "group") throw refusal("typeGroup");
  if (typeof type !== "string" || !isUptimeKind(type)) throw badRequest(unknownType(type));
  return type;
}

/**
 * What is stored of a new check.
 * @param shared expiry settings of the project's other checks on the host @param token of a heartbeat; null: it is none
 * @throws 400 when its settings hide what cannot be filled in
 */
export function newUptimeMonitor(
  api: Api,
  call: ProjectCall,
  kind: UptimeKind,
  draft: NewDraft,
  { shared, token }: { readonly shared: Required<Expiry> | null; readonly token: string | null },
): NewMonitor {
  const { settings: shownSettings, ...secrets } = storedSecrets(api, kind, draft.settings);
  const { settings, seal } = storedTarget(shownSettings, api.sealing);
  const heartbeatToken =
    token === null
      ? null
      : { sealed: (id: number) => api.sealing.seal(SEALED_CELLS.heartbeat(id), token), hash: hashToken(token) };
  return {
    ...newUptime(call, kind, draft, targetOf(kind, draft.settings)?.host ?? null),
    settings,
    ...secrets,
    ...(seal !== null && { urlSealed: seal }),
    ...expiryOfNew(kind, draft.settings, draft.expiry, shared),
    heartbeatToken,
  };
}

function newUptime(call: ProjectCall, kind: UptimeKind, draft: NewDraft, host: string | null) {
  const monitor = { ...newMonitorOf(call, kind, draft, host), settings: draft.settings };
  if (!isPassive(kind)) return monitor;
  const { period, grace } = draft.settings;
  // Heartbeats have no retries: silence is down at once (docs/api-contract.md#status).
  return { ...monitor, intervalS: Number(period), graceS: Number(grace), maxRetries: 1 };
}

/** Made inside the store's transaction, from the monitor as it is then. */
export function uptimeChange(api: Api, now: Now, draft: Draft, moved: Expiry): MonitorChange {
  const { active, settings, expiry, periodS: _, ...common } = draft;
  const kind = now.monitor.kind;
  const change: Record<string, unknown> = { ...common };
  if (settings !== undefined) {
    change.settings = settings;
    if (isWebsite(kind)) Object.assign(change, websiteChange(api, now, kind as UptimeKind, settings));
    if (isUptimeKind(kind)) change.host = targetOf(kind, settings)?.host ?? null;
    if (isPassive(kind)) {
      change.intervalS = Number(settings.period);
      change.graceS = Number(settings.grace);
    }
  }
  return { ...change, ...moved, ...expiry, ...activityChange(active === undefined ? {} : { active }, now) };
}

/** What is stored of an address and of secrets, and which of them are others. */
function websiteChange(api: Api, now: Now, kind: UptimeKind, settings: Monitor["settings"]): MonitorChange {
  const secrets = changedSecrets(api, wholeTarget(api, now.monitor), kind, settings);
  const target = targetChange(api, now, secrets.settings ?? settings);
  const sealedFields = [...(target.sealedFields ?? []), ...(secrets.sealedFields ?? [])];
  return { ...secrets, ...target, sealedFields };
}

/** The address to store, and whether it has changed: its masked form, which users see, may be the same. */
function targetChange(api: Api, { monitor }: Now, settings: Monitor["settings"]): MonitorChange {
  if (settings.url === wholeTarget(api, monitor).settings.url)
    return { settings: { ...settings, url: monitor.settings.url } };
  const stored = storedTarget(settings, api.sealing);
  const urlSealed = stored.seal === null ? null : stored.seal(monitor.id);
  return { settings: stored.settings, urlSealed, sealedFields: ["url"] };
}
