/** Monitors as a document writes them: all that POST /servers takes, secrets as variables. */

import { uptimeOf } from "../../engine/contract/registry.ts";
import { isPassive, isWebsite, type UptimeKind } from "../../model/kind.ts";
import { isActive, type Monitor } from "../../model/monitor.ts";
import { isShownToAll } from "../monitors/address.ts";
import { hasField, seesCertificate } from "../monitors/draft.ts";
import { isUptimeKind } from "../monitors/fields.ts";
import { escaped, type SecretNames } from "./secret-names.ts";

export type Entry = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];

export function uptimeEntry(kind: UptimeKind, monitor: Monitor, secrets: SecretNames, path: Path): Entry {
  const secret = new Set(uptimeOf(kind).secretFields ?? []);
  const fields = Object.entries(monitor.settings).flatMap(([field, value]) => {
    if (value === null || value === undefined) return [];
    if (secret.has(field)) return [[field, secrets.hidden(value, [...path, field])] as const];
    const isHidden = field === "url" && isWebsite(kind) && !isShownToAll(monitor);
    return [[field, isHidden ? secrets.placeholder([...path, field]) : escaped(value)] as const];
  });
  return {
    type: kind,
    ...common(monitor, path),
    ...Object.fromEntries(fields),
    ...(isPassive(kind) ? { token: secrets.placeholder([...path, "token"]) } : schedule(monitor)),
    ...expiry(kind, monitor),
  };
}

/** @param fields as they are sealed; null: they do not open, and the protocol alone is known */
export function tunnelEntry(monitor: Monitor, fields: Entry | null, secrets: SecretNames, path: Path): Entry {
  const said = Object.entries(fields ?? {}).filter(([, value]) => value !== null && value !== undefined);
  const hidden = said.map(([field, value]) => {
    // A word of two, which is no secret.
    if (field === "proto") return [field, value] as const;
    return [field, secrets.all(value, [...path, field])] as const;
  });
  return {
    protocol: monitor.kind,
    ...common(monitor, path),
    ...Object.fromEntries(hidden),
    ...schedule(monitor),
  };
}

function common(monitor: Monitor, path: Path): Entry {
  const { name, tags } = monitor;
  return {
    ...(name !== path.at(-1) && { name: escaped(name) }),
    ...(!isActive(monitor) && { active: false }),
    ...(tags.length > 0 && { tags: escaped(tags) }),
  };
}

function schedule(monitor: Monitor): Entry {
  const { disabledLocations, notifyOnPartial } = monitor;
  return {
    interval: monitor.intervalS,
    timeout: monitor.timeoutS,
    ...(monitor.timeoutFollowsInterval && { timeout_follows_interval: true }),
    maxretries: monitor.maxRetries,
    locations: monitor.locations,
    ...(disabledLocations.length > 0 && { disabled_locations: disabledLocations }),
    ...(notifyOnPartial && { notify_on_partial: true }),
  };
}

function expiry(kind: UptimeKind, { settings, sslExpirationDays, domainExpirationDays }: Monitor): Entry {
  return {
    ...(hasField(kind, "ssl_expiration") && seesCertificate(kind, settings) && { ssl_expiration: sslExpirationDays }),
    ...(hasField(kind, "domain_expiration") && { domain_expiration: domainExpirationDays }),
  };
}

/** Servers of a subscription are the subscription's. */
export function isExportable(monitor: Monitor): boolean {
  return monitor.subscriptionId === null;
}

export function isUptime(monitor: Monitor): monitor is Monitor & { readonly kind: UptimeKind } {
  return isUptimeKind(monitor.kind);
}
