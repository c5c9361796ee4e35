/** A website's monitor to create; tests say what theirs has otherwise. */
import { MONITOR_DEFAULTS } from "../../model/monitor.ts";
import type { NewMonitor } from "../../store/sql/monitors/port.ts";

/** When tests of the store begin. */
export const NOW_MS = Date.UTC(2026, 10, 21, 6, 10);

export function newMonitor(
  { organizationId, projectId }: Pick<NewMonitor, "organizationId" | "projectId">,
  over: Partial<NewMonitor> = {},
): NewMonitor {
  return {
    ...MONITOR_DEFAULTS,
    projectId,
    organizationId,
    name: "Shop",
    kind: "http",
    settings: { url: "https://shop.test-site.org/", accepted_statuscodes: ["200-299"] },
    intervalS: 60,
    timeoutS: 30,
    maxRetries: 2,
    tags: ["prod"],
    pauseReasons: [],
    pausedAtMs: null,
    locations: ["any"],
    disabledLocations: [],
    notifyOnPartial: false,
    host: "shop.test-site.org",
    sslExpirationDays: 14,
    domainExpirationDays: null,
    graceS: null,
    subscriptionId: null,
    nowMs: NOW_MS,
    heartbeatToken: null,
    ...over,
  };
}
