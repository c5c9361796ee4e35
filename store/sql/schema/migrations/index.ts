/** THE LIST of migrations. A new one is a new file and one line, or a few lines here; one that was released never changes. */
import type { Kysely } from "kysely";
import type { Dialect } from "../dialect.ts";
import { controlPlane } from "./0001-control-plane.ts";
import { outbox } from "./0002-outbox.ts";
import { jobs } from "./0003-jobs.ts";
import { subscriptions } from "./0005-subscriptions.ts";
import { webhooks } from "./0006-webhooks.ts";
import { syncs } from "./0007-syncs.ts";
import { locations } from "./0008-locations.ts";
import { shards } from "./0009-shards.ts";
import { quarantine } from "./0010-quarantine.ts";
import { sealedTargets } from "./0011-sealed-targets.ts";
import { timeoutFollowsInterval } from "./0012-timeout-follows-interval.ts";
import { configAlertPercent } from "./0013-config-alert-percent.ts";
import { lastRow } from "./0014-last-row.ts";
import { statusSince } from "./0015-status-since.ts";
import { sessions } from "./0016-sessions.ts";
import { channels } from "./0017-channels.ts";
import { alerts } from "./0018-alerts.ts";
import { statusPages } from "./0019-status-pages.ts";
import { documents } from "./0020-documents.ts";
import { audit } from "./0021-audit.ts";
import { maintenances } from "./0022-maintenances.ts";
import { identities } from "./0023-identities.ts";
import { passkeys } from "./0028-passkeys.ts";
import { savedViews } from "./0029-saved-views.ts";
import { confirmedMail } from "./0030-confirmed-mail.ts";
import { expiryByHost } from "./0033-expiry-by-host.ts";
import { exitCountry } from "./0034-exit-country.ts";

export const migrations: Readonly<Record<string, (db: Kysely<unknown>, dialect: Dialect) => Promise<void>>> = {
  "0001-control-plane": controlPlane,
  "0002-outbox": outbox,
  "0003-jobs": jobs,
  "0005-subscriptions": subscriptions,
  "0006-webhooks": webhooks,
  "0007-syncs": syncs,
  "0008-locations": locations,
  "0009-shards": shards,
  "0010-quarantine": quarantine,
  "0011-sealed-targets": sealedTargets,
  "0012-timeout-follows-interval": timeoutFollowsInterval,
  "0013-config-alert-percent": configAlertPercent,
  "0014-last-row": lastRow,
  "0015-status-since": statusSince,
  "0016-sessions": sessions,
  "0017-channels": channels,
  "0018-alerts": alerts,
  "0020-documents": documents,
  "0021-audit": audit,
  "0022-maintenances": maintenances,
  "0023-identities": identities,
  "0028-passkeys": passkeys,
  "0029-saved-views": savedViews,
  "0030-confirmed-mail": confirmedMail,
  "0033-expiry-by-host": expiryByHost,
  "0034-exit-country": exitCountry,
  "0019-status-pages": statusPages,
};
