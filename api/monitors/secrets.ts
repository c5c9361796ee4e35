/** Secrets in the settings of uptime checks: kept sealed beside them, shown as ***, and what a *** that is sent back means. */
import { uptimeOf } from "../../engine/contract/registry.ts";
import { hiddenField, hideSecrets, restoreSecrets, secretsOf } from "../../model/hidden-settings.ts";
import type { UptimeKind } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import { parseUrl } from "../../model/url.ts";
import { HIDDEN } from "../../model/web-address.ts";
import { SEALED_CELLS } from "../../store/sealed-cells.ts";
import type { MonitorChange, NewMonitor } from "../../store/sql/monitors/port.ts";
import type { Api } from "../api.ts";
import { badRequest } from "../errors.ts";

type Settings = Monitor["settings"];

function fieldsOfKind(kind: UptimeKind): readonly string[] {
  return uptimeOf(kind).secretFields ?? [];
}

/** What is stored of a new monitor's settings. @throws 400 when they hide what cannot be filled in */
export function storedSecrets(api: Api, kind: UptimeKind, settings: Settings): Pick<NewMonitor, "settings" | "sealed"> {
  const fields = fieldsOfKind(kind);
  refuseHidden(settings, fields);
  const secrets = secretsOf(settings, fields);
  if (Object.keys(secrets).length === 0) return { settings };
  return { settings: hideSecrets(settings, fields), sealed: (id) => seal(api, id, secrets) };
}

/**
 * What is stored of changed settings.
 * @param before as it is now, with its secrets sealed and its whole address @param settings with its whole address
 * @throws 400 when they hide what cannot be filled in, or would send a secret to another origin than the one that it was given for
 */
export function changedSecrets(api: Api, before: Monitor, kind: UptimeKind, settings: Settings): MonitorChange {
  const fields = fieldsOfKind(kind);
  if (fields.length === 0) return { settings };
  refuseOtherOrigin(before.settings, settings, fields);
  const kept = openSecrets(api, before);
  const whole = restoreSecrets(settings, fields, kept);
  refuseHidden(whole, fields);
  const secrets = secretsOf(whole, fields);
  const sealedFields = fields.filter((field) => JSON.stringify(kept[field]) !== JSON.stringify(secrets[field]));
  const shown = hideSecrets(whole, fields);
  if (sealedFields.length === 0) return { settings: shown };
  return { settings: shown, sealed: seal(api, before.id, secrets), sealedFields };
}

/** @throws 400 when a new monitor's settings hide what cannot be filled in */
export function refuseHiddenIn(kind: UptimeKind, settings: Settings): void {
  refuseHidden(settings, fieldsOfKind(kind));
}

function refuseHidden(settings: Settings, fields: readonly string[]): void {
  const field = hiddenField(settings, fields);
  if (field === undefined) return;
  throw badRequest(`${field}: ${HIDDEN} stands for something that is not shown: send the whole ${field}.`);
}

function refuseOtherOrigin(before: Settings, after: Settings, fields: readonly string[]): void {
  const field = hiddenField(after, fields);
  if (field === undefined) return;
  const [from, to] = [before.url, after.url].map((url) => parseUrl(String(url))?.origin);
  if (from === to) return;
  throw badRequest(`${field} has a secret of ${from}: send the whole ${field} for ${to}, or null.`);
}

/** Those that do not open are as lost, and can still be replaced. */
function openSecrets(api: Api, { id, sealed }: Monitor): Settings {
  if (sealed === undefined) return {};
  try {
    return JSON.parse(api.sealing.open(SEALED_CELLS.tunnel(id), sealed)) as Settings;
  } catch (error) {
    api.log.error({ err: error }, "a monitor's secrets do not open");
    return {};
  }
}

function seal(api: Api, id: number, secrets: Settings): string {
  return api.sealing.seal(SEALED_CELLS.tunnel(id), JSON.stringify(secrets));
}
