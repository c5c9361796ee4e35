/** A monitor's body, new or changed, to what is stored. Validation is pure: the plan and the stored monitor are handed in. */
import { isIP } from "node:net";
import {
  fieldsOf,
  settingsOf,
  type Target,
  TUNNEL_FIELDS,
  type TunnelFieldName,
  uptimeOf,
  webUrlFault,
} from "../../engine/contract/registry.ts";
import { isWebsite, type UptimeKind } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import type { Plan } from "../../model/plan.ts";
import { refuseInterval, refusePeriod } from "../../model/schedule.ts";
import { fieldOf, type JsonObject } from "../body.ts";
import { ApiError, badRequest, fieldTooLong, forbidden, refusal } from "../errors.ts";
import { type CommonFields, commonFields, hasNul, nameField, parsed, readCommon, readField } from "./every-kind.ts";
import { refuseForeignFields, settingsFields } from "./fields.ts";

type Settings = Readonly<Record<string, unknown>>;

/** What a website check alerts on by default (docs/api-contract.md#uptime-fields). */
const STANDARD_SSL_EXPIRATION_DAYS = 14;

export interface Expiry {
  readonly sslExpirationDays?: number | null;
  readonly domainExpirationDays?: number | null;
}

/** A body after all checks that need only the body and the plan. */
export interface Draft extends CommonFields {
  readonly active?: boolean;
  /** Whole settings of the kind, without the expiry fields, which the project's checks on one host share. */
  readonly settings?: Settings;
  readonly expiry: Expiry;
  /** A heartbeat's period when it was sent. */
  readonly periodS?: number;
}

/** The draft of a new monitor: no stored values can fill a gap. */
export type NewDraft = Draft & { readonly name: string; readonly settings: Settings };

/** @throws 413 naming a configuration field over its limit */
export function refuseLongFields(body: JsonObject): void {
  for (const field of Object.keys(body)) {
    const limit = Object.hasOwn(TUNNEL_FIELDS, field) ? TUNNEL_FIELDS[field as TunnelFieldName].maxBytes : null;
    const value = body[field];
    if (limit === null || typeof value !== "string") continue;
    const size = Buffer.byteLength(value);
    if (size > limit) throw fieldTooLong(field, limit, size);
  }
}

export function draftOfNew(kind: UptimeKind, body: JsonObject): NewDraft {
  const name = parsed(nameField, fieldOf(body, "name"), "Missing or invalid name");
  const common = commonOf(kind, body);
  return { ...common, name, ...readSettings(kind, settingsFields(kind, body), {}) };
}

/** The sent fields over the stored ones; settings only when some of them were sent. */
export function draftOfChange(monitor: Monitor, kind: UptimeKind, body: JsonObject): Draft {
  const type = fieldOf(body, "type");
  if (type !== undefined && type !== kind) throw refusal("typeChange");
  if (fieldOf(body, "token") !== undefined) throw badRequest("token is read only when a heartbeat is made.");
  const common = commonOf(kind, body);
  const sent = settingsFields(kind, body);
  if (Object.keys(sent).length === 0) return { ...common, expiry: {} };
  return { ...common, ...readSettings(kind, sent, monitor.settings) };
}

function commonOf(kind: UptimeKind, body: JsonObject): CommonFields & { readonly active?: boolean } {
  refuseForeignFields(kind, body);
  refuseLongFields(body);
  const common = readCommon(body);
  const active = readField(body, "active", commonFields.active);
  return { ...common, ...(active !== undefined && { active }) };
}

interface ReadSettings {
  readonly settings: Settings;
  readonly expiry: Expiry;
  readonly periodS?: number;
}

function readSettings(kind: UptimeKind, sent: Settings, stored: Settings): ReadSettings {
  for (const [field, value] of Object.entries(sent)) {
    if (hasNul(value)) throw badRequest(`Missing or invalid ${field}`);
  }
  const schema = settingsOf(kind);
  if (schema === undefined) throw new ApiError(422, `${kind} checks cannot be run here.`);
  refuseUrl(kind, sent, stored);
  const whole = parsed(schema, { ...stored, ...sent }, `Missing or invalid ${Object.keys(sent)[0] ?? "type"}`);
  refuseOtherFamily(sent, whole as Settings, targetOf(kind, whole as Settings));
  const { ssl_expiration: ssl, domain_expiration: domain, ...settings } = whole as Record<string, unknown>;
  return {
    settings,
    expiry: {
      ...("ssl_expiration" in sent && { sslExpirationDays: daysOrOff(ssl) }),
      ...("domain_expiration" in sent && { domainExpirationDays: daysOrOff(domain) }),
    },
    ...("period" in sent && { periodS: Number(settings.period) }),
  };
}

/** An address that is stored already may be sent back, even if a new one like it would be refused. @throws 400 */
function refuseUrl(kind: UptimeKind, { url }: Settings, stored: Settings): void {
  if (!isWebsite(kind) || typeof url !== "string" || url === stored.url) return;
  const fault = webUrlFault(url);
  if (fault !== undefined) throw badRequest(`Missing or invalid url: ${fault}.`);
}

/** An address of the family that the check must not use is never dialled. @throws 400 */
function refuseOtherFamily(sent: Settings, { ip_version: wanted }: Settings, target: Target | null): void {
  const isSent = "ip_version" in sent || "url" in sent || "host" in sent;
  if (!isSent || target === null || (wanted !== "ipv4" && wanted !== "ipv6")) return;
  const family = isIP(target.host);
  if (family === 0 || family === Number(wanted.slice(-1))) return;
  throw badRequest(`ip_version is ${wanted}, but ${target.host} is an IPv${family} address.`);
}

/** 0 and null are off and read back as null (docs/api-contract.md#monitors). */
export function daysOrOff(value: unknown): number | null {
  return typeof value === "number" && value > 0 ? value : null;
}

/** @throws 403 when the plan does not check that often; asked last, after everything else of the body */
export function refuseShort({ intervalS, periodS }: Pick<Draft, "intervalS" | "periodS">, plan: Plan): void {
  const tooShort =
    (intervalS !== undefined ? refuseInterval(intervalS, plan) : undefined) ??
    (periodS !== undefined ? refusePeriod(periodS, plan) : undefined);
  if (tooShort !== undefined) throw forbidden(tooShort);
}

/** Host and port that a check of these settings dials; null for heartbeats. */
export function targetOf(kind: UptimeKind, settings: Settings): Target | null {
  const described = uptimeOf(kind);
  return described.isPassive ? null : described.target(settings);
}

/** Whether the kind has alerts on a certificate's expiry, and a check of these settings sees a certificate. */
export function seesCertificate(kind: UptimeKind, settings: Settings): boolean {
  const described = uptimeOf(kind);
  if (described.isPassive || !hasField(kind, "ssl_expiration")) return false;
  return described.seesCertificate?.(settings) ?? true;
}

export function hasField(kind: UptimeKind, field: string): boolean {
  return Object.hasOwn(fieldsOf(uptimeOf(kind)), field);
}

/** Sent values win, then those of the project's other checks on the host, then the contract's default. */
export function expiryOfNew(
  kind: UptimeKind,
  settings: Settings,
  sent: Expiry,
  shared: Required<Expiry> | null,
): { sslExpirationDays: number | null; domainExpirationDays: number | null } {
  const standard = shared ?? { sslExpirationDays: STANDARD_SSL_EXPIRATION_DAYS, domainExpirationDays: null };
  const ssl = sent.sslExpirationDays === undefined ? standard.sslExpirationDays : sent.sslExpirationDays;
  const domain = sent.domainExpirationDays === undefined ? standard.domainExpirationDays : sent.domainExpirationDays;
  return {
    sslExpirationDays: seesCertificate(kind, settings) ? ssl : null,
    domainExpirationDays: hasField(kind, "domain_expiration") ? domain : null,
  };
}
