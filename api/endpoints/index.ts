/** THE LIST: every group of endpoints, one line each. */
import type { Route } from "../route.ts";
import { account } from "./account.ts";
import { acknowledging } from "./acknowledge.ts";
import { alertRules } from "./alert-rules.ts";
import { documents } from "./apply.ts";
import { audits } from "./audit.ts";
import { badges } from "./badges.ts";
import { bulk } from "./bulk.ts";
import { bulkChecks } from "./bulk-check.ts";
import { channels } from "./channels.ts";
import { checks } from "./checks.ts";
import { subscriptionConfigs } from "./configs.ts";
import { confirming } from "./confirm.ts";
import { days } from "./days.ts";
import { exports } from "./export.ts";
import { health } from "./health.ts";
import { imports } from "./import.ts";
import { incidents } from "./incidents.ts";
import { keys } from "./keys.ts";
import { latencies } from "./latency.ts";
import { revealedLinks } from "./links.ts";
import { live } from "./live.ts";
import { maintenances } from "./maintenances.ts";
import { memberships } from "./members.ts";
import { monitorLocations } from "./monitor-locations.ts";
import { notes } from "./notes.ts";
import { providerSignIn } from "./oidc.ts";
import { operator } from "./operator.ts";
import { overviews } from "./overview.ts";
import { pageUpdates } from "./page-updates.ts";
import { passkeyRoutes } from "./passkeys.ts";
import { pushes } from "./push.ts";
import { quietHours } from "./quiet-hours.ts";
import { reference } from "./reference.ts";
import { reports } from "./reports.ts";
import { results } from "./results.ts";
import { schedules } from "./schedules.ts";
import { searches } from "./search.ts";
import { sentAlerts } from "./sent-alerts.ts";
import { servers } from "./servers.ts";
import { services } from "./service.ts";
import { session } from "./session.ts";
import { site } from "./site.ts";
import { statuses } from "./status.ts";
import { statusPages } from "./status-pages.ts";
import { subscriptions } from "./subscriptions.ts";
import { tests } from "./tests.ts";
import { usages } from "./usage.ts";
import { verifications } from "./verify.ts";
import { views } from "./views.ts";
import { webhooks } from "./webhooks.ts";

export const routes: readonly Route[] = [
  ...servers,
  ...bulk,
  ...monitorLocations,
  ...documents,
  ...searches,
  ...overviews,
  ...views,
  ...live,
  ...results,
  ...days,
  ...latencies,
  ...incidents,
  ...notes,
  ...reports,
  ...maintenances,
  ...channels,
  ...alertRules,
  ...quietHours,
  ...sentAlerts,
  ...acknowledging,
  ...confirming,
  ...schedules,
  ...statusPages,
  ...pageUpdates,
  ...webhooks,
  ...imports,
  ...exports,
  ...subscriptions,
  ...subscriptionConfigs,
  ...revealedLinks,
  ...tests,
  ...checks,
  ...bulkChecks,
  ...account,
  ...usages,
  ...keys,
  ...audits,
  ...memberships,
  ...session,
  ...providerSignIn,
  ...passkeyRoutes,
  ...health,
  ...pushes,
  ...operator,
  ...services,
  ...verifications,
  ...reference,
  ...statuses,
  ...badges,
  ...site,
];
