/** What a sync writes of imported monitors: in a few statements however many there are, so that others wait for milliseconds. */

import { newLiveState } from "../../model/live.ts";
import { ANY_LOCATION, type Monitor } from "../../model/monitor.ts";
import { kindOf, type ListedServer, type ServerChange, testedOf } from "../../model/sync.ts";
import { bulkInsert, insertRows } from "./bulk-insert.ts";
import { SYSTEM_ACTOR } from "./control-plane.ts";
import { bulkStatement, type Session } from "./database.ts";
import { insertHistory } from "./history.ts";
import { fromLive, fromMonitor } from "./monitor-rows.ts";
import type { SubscriptionRecord } from "./ports/subscriptions.ts";
import { storable, storableOrNull } from "./text.ts";

/** Failures in a row that confirm down; the contract's default. */
const MAX_RETRIES = 2;
/** Code points of a monitor's name (docs/api-contract.md#lengths). */
const LONGEST_NAME = 255;

const MONITORS = bulkInsert("monitors", {
  project_id: "bigint",
  organization_id: "bigint",
  name: "text",
  name_key: "text",
  search_key: "text",
  kind: "text",
  family: "text",
  settings: "text",
  interval_s: "int",
  timeout_s: "int",
  max_retries: "int",
  tags: "text",
  pause_reasons: "text",
  active: "int",
  paused_at_ms: "bigint",
  locations: "text",
  disabled_locations: "text",
  notify_on_partial: "int",
  host: "text",
  ssl_expiration_days: "int",
  domain_expiration_days: "int",
  grace_s: "int",
  subscription_id: "bigint",
  created_at_ms: "bigint",
  updated_at_ms: "bigint",
  generation: "bigint",
});

const LIVE = bulkInsert("live", {
  monitor_id: "bigint",
  status: "text",
  last_checked_at_ms: "bigint",
  latency_ms: "float8",
  connect_ms: "float8",
  region: "text",
  lateness_ms: "float8",
  seq: "bigint",
  last_row_status: "text",
  certificate_valid: "int",
  certificate_expires_at_ms: "bigint",
  location_states: "text",
  error_message: "text",
});

const SERVERS = bulkInsert("imported_servers", {
  monitor_id: "bigint",
  server_address: "text",
  server_name: "text",
  config_count: "int",
});

const CONFIGS = bulkInsert("imported_configs", {
  monitor_id: "bigint",
  position: "int",
  identity: "text",
  tag: "text",
  type: "text",
  server: "text",
  port: "int",
  sealed: "text",
});

const UPDATE_SERVERS = bulkStatement(
  "update_imported_servers",
  "update imported_servers set server_name = ?, config_count = ? where monitor_id = ?",
  `update imported_servers s set server_name = n.server_name, config_count = n.config_count
   from unnest($1::text[], $2::int[], $3::bigint[]) as n (server_name, config_count, monitor_id) where s.monitor_id = n.monitor_id`,
);
const MOVE_CONFIGS = bulkStatement(
  "move_imported_configs",
  "update imported_configs set position = ?, tag = ? where id = ?",
  `update imported_configs c set position = n.position, tag = n.tag
   from unnest($1::int[], $2::text[], $3::bigint[]) as n (position, tag, id) where c.id = n.id`,
);
const REMOVE_CONFIGS = bulkStatement(
  "remove_imported_configs",
  "delete from imported_configs where id = ?",
  "delete from imported_configs where id = any($1::bigint[])",
);
const RUN_OTHERS = bulkStatement(
  "update_imported_monitors",
  "update monitors set kind = ?, updated_at_ms = ?, generation = ? where id = ?",
  `update monitors m set kind = n.kind, updated_at_ms = n.updated_at_ms, generation = n.generation
   from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) as n (kind, updated_at_ms, generation, id) where m.id = n.id`,
);

/** New servers as monitors, each with its configs, active from now on. */
export async function createImported(
  session: Session,
  subscription: SubscriptionRecord,
  servers: readonly ListedServer[],
  generation: number,
  nowMs: number,
): Promise<void> {
  if (servers.length === 0) return;
  const monitors = servers.map((server) => fromMonitor(monitorOf(subscription, server, nowMs)));
  await insertRows(
    session,
    MONITORS,
    monitors.map((row) => ({ ...row, generation })),
  );
  const made = await session.kysely
    .selectFrom("monitors")
    .select(["id", "host"])
    .where("subscription_id", "=", subscription.id)
    .where("generation", "=", generation)
    .execute();
  const idOf = new Map(made.map(({ id, host }) => [host, id]));
  const known = servers.flatMap((server) => {
    const id = idOf.get(storable(server.address));
    return id === undefined ? [] : [{ id, server }];
  });
  await insertRows(
    session,
    LIVE,
    known.map(({ id }) => ({ ...fromLive(newLiveState(id)) })),
  );
  const entry = { type: "created", atMs: nowMs, message: "Monitor created", actor: SYSTEM_ACTOR } as const;
  await insertHistory(
    session,
    known.map(({ id }) => ({ monitorId: id, entry })),
  );
  await insertRows(
    session,
    SERVERS,
    known.map(({ id, server }) => ({
      monitor_id: id,
      server_address: storable(server.address),
      server_name: storableOrNull(server.name),
      config_count: server.configs.length,
    })),
  );
  const configs = known.flatMap(({ id, server }) =>
    testedOf(server).map((config, position) => ({ monitorId: id, server: server.address, position, config })),
  );
  await insertConfigs(session, configs);
}

/** Of monitors that this transaction holds where they run something else now. */
export async function changeImported(
  session: Session,
  changes: readonly (ServerChange & { readonly address: string })[],
  generation: number,
  nowMs: number,
): Promise<void> {
  if (changes.length === 0) return;
  await session.bulk(
    UPDATE_SERVERS,
    changes.map(({ name, configCount, monitorId }) => [storableOrNull(name), configCount, monitorId]),
  );
  await session.bulk(
    REMOVE_CONFIGS,
    changes.flatMap(({ removedIds }) => removedIds.map((id) => [id])),
  );
  await session.bulk(
    MOVE_CONFIGS,
    changes.flatMap(({ moved }) => moved.map(({ position, tag, id }) => [position, storable(tag), id])),
  );
  await insertConfigs(
    session,
    changes.flatMap(({ added, monitorId, address }) => added.map((one) => ({ ...one, monitorId, server: address }))),
  );
  await session.bulk(
    RUN_OTHERS,
    changes.filter(({ runsOthers }) => runsOthers).map(({ kind, monitorId }) => [kind, nowMs, generation, monitorId]),
  );
}

function insertConfigs(
  session: Session,
  configs: readonly {
    readonly monitorId: number;
    readonly server: string;
    readonly position: number;
    readonly config: ListedServer["configs"][number];
  }[],
): Promise<void> {
  return insertRows(
    session,
    CONFIGS,
    configs.map(({ monitorId, server, position, config }) => ({
      monitor_id: monitorId,
      position,
      identity: config.identity,
      tag: storable(config.tag),
      type: config.type,
      server: storable(server),
      port: config.port,
      sealed: config.sealed,
    })),
  );
}

function monitorOf(subscription: SubscriptionRecord, server: ListedServer, nowMs: number): Omit<Monitor, "id"> {
  const name = [...(server.name ?? "")].slice(0, LONGEST_NAME).join("").trim();
  return {
    projectId: subscription.projectId,
    organizationId: subscription.organizationId,
    name: name === "" ? server.address : name,
    kind: kindOf(server),
    settings: {},
    intervalS: subscription.syncIntervalS,
    timeoutS: subscription.timeoutS,
    maxRetries: MAX_RETRIES,
    tags: [],
    pauseReasons: [],
    pausedAtMs: null,
    locations: [ANY_LOCATION],
    disabledLocations: [],
    notifyOnPartial: false,
    host: server.address,
    sslExpirationDays: null,
    domainExpirationDays: null,
    graceS: null,
    maintenance: null,
    subscriptionId: subscription.id,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}
