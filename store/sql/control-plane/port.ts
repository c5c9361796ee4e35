/**
 * The control plane: what must survive and be consistent. One port, two adapters (SQLite, PostgreSQL), one shared suite.
 * Every change of keys, rights, plans or monitors raises the generation in the same transaction.
 * Ids are positive integers given by the store. Times are Unix ms. All methods reject with StoreError when the store is away.
 */

import type { Audit } from "../accounts/audit-port.ts";
import type { Identities } from "../accounts/identities-port.ts";
import type { Keys } from "../accounts/keys-port.ts";
import type { Members } from "../accounts/members-port.ts";
import type { Passkeys } from "../accounts/passkeys-port.ts";
import type { Accounts } from "../accounts/port.ts";
import type { SavedViews } from "../accounts/saved-views-port.ts";
import type { Sessions } from "../accounts/sessions-port.ts";
import type { Channels } from "../alerts/channels-port.ts";
import type { AlertSettings, AlertTurns } from "../alerts/port.ts";
import type { Leases } from "../coordination/leases-port.ts";
import type { Locations } from "../coordination/locations-port.ts";
import type { Meta } from "../coordination/meta-port.ts";
import type { Quarantines } from "../coordination/quarantine-port.ts";
import type { Shards } from "../coordination/shards-port.ts";
import type { Documents } from "../documents/port.ts";
import type { Incidents } from "../incidents/port.ts";
import type { Jobs } from "../jobs/port.ts";
import type { Heartbeats } from "../monitors/heartbeats-port.ts";
import type { History } from "../monitors/history-port.ts";
import type { Imports } from "../monitors/imports-port.ts";
import type { LiveReads } from "../monitors/live-reads-port.ts";
import type { Maintenance } from "../monitors/maintenance-port.ts";
import type { OverviewRead } from "../monitors/overview-port.ts";
import type { Plans } from "../monitors/plans-port.ts";
import type { Monitors } from "../monitors/port.ts";
import type { Schedules } from "../monitors/schedules-port.ts";
import type { Sealed } from "../sealed/port.ts";
import type { SinkStore } from "../sink/port.ts";
import type { StatusPages } from "../status-pages/port.ts";
import type { Subscriptions } from "../subscriptions/port.ts";
import type { Syncs } from "../subscriptions/syncs-port.ts";
import type { Outgoing, Webhooks } from "../webhooks/port.ts";

export interface ControlPlane {
  readonly dialect: "sqlite" | "postgres";
  readonly accounts: Accounts;
  readonly members: Members;
  readonly keys: Keys;
  readonly sessions: Sessions;
  readonly identities: Identities;
  readonly passkeys: Passkeys;
  readonly savedViews: SavedViews;
  readonly plans: Plans;
  readonly monitors: Monitors;
  readonly overview: OverviewRead;
  readonly liveReads: LiveReads;
  readonly incidents: Incidents;
  readonly history: History;
  readonly heartbeats: Heartbeats;
  readonly jobs: Jobs;
  readonly subscriptions: Subscriptions;
  readonly imports: Imports;
  readonly documents: Documents;
  readonly syncs: Syncs;
  readonly maintenance: Maintenance;
  readonly schedules: Schedules;
  readonly webhooks: Webhooks;
  readonly outgoing: Outgoing;
  readonly channels: Channels;
  readonly alerts: AlertSettings;
  readonly alertTurns: AlertTurns;
  readonly statusPages: StatusPages;
  readonly leases: Leases;
  readonly locations: Locations;
  readonly shards: Shards;
  readonly quarantine: Quarantines;
  readonly sink: SinkStore;
  readonly meta: Meta;
  readonly sealed: Sealed;
  readonly audit: Audit;
  /** The generation: a number that every change raises that a cache or the plan must know. */
  generation(): Promise<number>;
  /** A number that changes with every commit of any process; null where asking costs as much as reading anew (PostgreSQL). */
  stamp(): number | null;
  /** Answers within two seconds or rejects. */
  ping(): Promise<void>;
  /** The clock of the database's machine, Unix ms. Answers within two seconds or rejects. */
  clock(): Promise<number>;
  close(): Promise<void>;
}
