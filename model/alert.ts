/**
 * Alerts without an incident (docs/api-contract.md#incidents): a monitor becomes partial and its settings ask for an alert; too few configs of its server work;
 * its certificate or its domain's registration expires. The last is sent once for each certificate or registration and threshold, and what was sent is remembered.
 */
import type { ConfigShare, ShareChange } from "./config-share.ts";
import type { ExpirySubject } from "./event.ts";
import { enabledLocations, type Monitor } from "./monitor.ts";
import type { CheckOutcome } from "./result.ts";
import type { LiveState, LiveStatus } from "./status.ts";
import { daysUntil } from "./time.ts";

export type MonitorAlert =
  | {
      readonly type: "partial";
      readonly monitorId: number;
      readonly atMs: number;
      readonly previousStatus: LiveStatus;
      readonly locationsDown: readonly string[];
    }
  | {
      readonly type: "configs";
      readonly monitorId: number;
      readonly atMs: number;
      readonly status: LiveStatus;
      readonly change: ShareChange;
      readonly share: ConfigShare;
      readonly location: string;
    }
  | ({
      readonly type: "expiring";
      readonly monitorId: number;
      readonly atMs: number;
      readonly status: LiveStatus;
    } & SentExpiryAlert);

/** A certificate or a registration is known by when it ends: its successor ends at another time. */
export interface SentExpiryAlert {
  readonly subject: ExpirySubject;
  readonly expiresAtMs: number;
  /** The most urgent threshold of which an alert was sent: a lower one that is set later is crossed anew. */
  readonly thresholdDays: number;
}

type AlertedMonitor = Pick<
  Monitor,
  "kind" | "locations" | "disabledLocations" | "notifyOnPartial" | "sslExpirationDays" | "domainExpirationDays"
>;
type AlertingOutcome = Pick<CheckOutcome, "certificate" | "domainExpiresAtMs" | "startedAtMs">;

const NONE: readonly MonitorAlert[] = [];

/**
 * What one check calls for. On the hot path: nearly always nothing.
 * @param previousStatus as of the check before
 * @param sent of this monitor
 */
export function alertsOf(
  monitor: AlertedMonitor,
  previousStatus: LiveStatus,
  after: LiveState,
  outcome: AlertingOutcome,
  sent: readonly SentExpiryAlert[],
): readonly MonitorAlert[] {
  const isPartialNow = monitor.notifyOnPartial && after.status === "partial" && previousStatus !== "partial";
  const certificate = expiringOf("certificate", outcome.certificate?.expiresAtMs, monitor.sslExpirationDays);
  const domain = expiringOf("domain", outcome.domainExpiresAtMs, monitor.domainExpirationDays);
  if (!isPartialNow && certificate === null && domain === null) return NONE;
  const { monitorId, status } = after;
  const atMs = outcome.startedAtMs;
  const alerts: MonitorAlert[] = [];
  if (isPartialNow) {
    const down = enabledLocations(monitor).filter((location) => after.locations[location]?.confirmed === "down");
    alerts.push({ type: "partial", monitorId, atMs, previousStatus, locationsDown: down });
  }
  for (const expiry of [certificate, domain]) {
    if (expiry === null || !isCrossed(expiry, atMs) || wasSent(expiry, sent)) continue;
    alerts.push({ type: "expiring", monitorId, atMs, status, ...expiry });
  }
  return alerts;
}

/** What is remembered after an alert: per certificate and registration the most urgent threshold. */
export function rememberSent(sent: readonly SentExpiryAlert[], added: SentExpiryAlert): readonly SentExpiryAlert[] {
  const others = sent.filter((one) => one.subject !== added.subject || one.expiresAtMs !== added.expiresAtMs);
  return [...others, { subject: added.subject, expiresAtMs: added.expiresAtMs, thresholdDays: added.thresholdDays }];
}

function expiringOf(
  subject: ExpirySubject,
  expiresAtMs: number | null | undefined,
  thresholdDays: number | null,
): SentExpiryAlert | null {
  if (thresholdDays === null || expiresAtMs === null || expiresAtMs === undefined) return null;
  return { subject, expiresAtMs, thresholdDays };
}

function isCrossed({ expiresAtMs, thresholdDays }: SentExpiryAlert, atMs: number): boolean {
  return daysUntil(expiresAtMs, atMs) <= thresholdDays;
}

function wasSent(expiry: SentExpiryAlert, sent: readonly SentExpiryAlert[]): boolean {
  return sent.some(
    (one) =>
      one.subject === expiry.subject &&
      one.expiresAtMs === expiry.expiresAtMs &&
      one.thresholdDays <= expiry.thresholdDays,
  );
}
