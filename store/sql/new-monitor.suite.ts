/** A website's monitor to create; tests say what theirs has otherwise. */
import type { NewMonitor } from "./control-plane.ts";

/** When tests of the store begin. */
export const NOW_MS = Date.UTC(2026, 10, 21, 6, 10);

export function newMonitor(
  { organizationId, projectId }: Pick<NewMonitor, "organizationId" | "projectId">,
  over: Partial<NewMonitor> = {},
): NewMonitor {
  return {
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
