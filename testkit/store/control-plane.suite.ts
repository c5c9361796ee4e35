/** What every control plane must do, whatever it is kept in: THE LIST of its ideas. */
import { accountTests } from "./accounts.suite.ts";
import { alertTests } from "./alerts.suite.ts";
import { auditTests } from "./audit.suite.ts";
import { channelTests } from "./channels.suite.ts";
import { documentsTests } from "./documents.suite.ts";
import { type DatabaseMaker, onGround } from "./ground.suite.ts";
import { heartbeatTests } from "./heartbeats.suite.ts";
import { identityTests } from "./identities.suite.ts";
import { incidentTests } from "./incidents.suite.ts";
import { keyTests } from "./keys.suite.ts";
import { locationTests } from "./locations.suite.ts";
import { maintenanceTests } from "./maintenance.suite.ts";
import { changeTests } from "./monitor-changes.suite.ts";
import { listTests, planTests } from "./monitor-lists.suite.ts";
import { monitorTests } from "./monitors.suite.ts";
import { overviewTests } from "./overview.suite.ts";
import { planChangeTests } from "./plans.suite.ts";
import { quarantineTests } from "./quarantine.suite.ts";
import { savedViewTests } from "./saved-views.suite.ts";
import { scheduleTests } from "./schedules.suite.ts";
import { sealedTests } from "./sealed.suite.ts";
import { sessionTests } from "./sessions.suite.ts";
import { shardTests } from "./shards.suite.ts";
import { sinkTests } from "./sink-store.suite.ts";
import { statusPageTests } from "./status-pages.suite.ts";
import { subscriptionTests } from "./subscriptions.suite.ts";
import { syncTests } from "./syncs.suite.ts";
import { upkeepTests } from "./upkeep.suite.ts";
import { webhookTests } from "./webhooks.suite.ts";

export type { DatabaseMaker } from "./ground.suite.ts";

export function controlPlaneSuite(name: string, databases: DatabaseMaker): void {
  onGround(`control plane on ${name}`, databases, [
    accountTests,
    keyTests,
    sessionTests,
    identityTests,
    savedViewTests,
    planChangeTests,
    monitorTests,
    changeTests,
    listTests,
    overviewTests,
    planTests,
    incidentTests,
    heartbeatTests,
    sinkTests,
    shardTests,
    subscriptionTests,
    syncTests,
    sealedTests,
    webhookTests,
    channelTests,
    documentsTests,
    alertTests,
    maintenanceTests,
    statusPageTests,
    locationTests,
    quarantineTests,
    upkeepTests,
    auditTests,
    scheduleTests,
  ]);
}
