/** What a sync writes of imported monitors: in a few statements however many there are, so that others wait for milliseconds. */

import { SYSTEM_ACTOR } from "../../../model/actor.ts";
import { newLiveState } from "../../../model/live.ts";
import { MONITOR_DEFAULTS, type Monitor } from "../../../model/monitor.ts";
import { kindOf, type ListedServer, type ServerChange, testedOf } from "../../../model/sync.ts";
import { bulkInsert, bulkUpdate, insertRows } from "../db/bulk.ts";
import { bulkStatement, type Session } from "../db/database.ts";
import { insertHistory } from "../monitors/history.ts";
import { fromLive, fromMonitor } from "../monitors/rows.ts";
import { encoder } from "../schema/column.ts";
import { IMPORTED_CONFIGS, IMPORTED_SERVERS, LIVE, MONITORS } from "../schema/tables.ts";
import { storable, storableOrNull } from "../schema/text.ts";
import type { SubscriptionRecord } from "./port.ts";

/** Failures in a row that confirm down; the contract's default. */
const MAX_RETRIES = 2;
/** Code points of a monitor's name (docs/api-contract.md#lengths). */
const LONGEST_NAME = 255;

const ADD_MONITORS = bulkInsert(MONITORS);
const ADD_LIVE = bulkInsert(LIVE);
const ADD_SERVERS = bulkInsert(IMPORTED_SERVERS);
const ADD_CONFIGS = bulkInsert(IMPORTED_CONFIGS);
const fromServer = encoder(IMPORTED_SERVERS);
const fromConfig = encoder(IMPORTED_CONFIGS);

const UPDATE_SERVERS = bulkUpdate("update_imported_servers", IMPORTED_SERVERS, {
  set: ["server_name", "config_count"],
  key: "monitor_id",
});
const MOVE_CONFIGS = bulkUpdate("move_imported_configs", IMPORTED_CONFIGS, { set: ["position", "tag"], key: "id" });
const RUN_OTHERS = bulkUpdate("update_imported_monitors", MONITORS, {
  set: ["kind", "updated_at_ms", "generation"],
  key: "id",
});
const REMOVE_CONFIGS = bulkStatement(
  "remove_imported_configs",
  "delete from imported_configs where id = ?",
  "delete from imported_configs where id = any($1::bigint[])",
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
    ADD_MONITORS,
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
    ADD_LIVE,
    known.map(({ id }) => ({ ...fromLive(newLiveState(id)) })),
  );
  const entry = { type: "created", atMs: nowMs, message: "Monitor created", actor: SYSTEM_ACTOR } as const;
  await insertHistory(
    session,
    known.map(({ id }) => ({ monitorId: id, entry })),
  );
  await insertRows(
    session,
    ADD_SERVERS,
    known.map(({ id, server }) => ({
      ...fromServer({ serverAddress: server.address, serverName: server.name, configCount: server.configs.length }),
      monitor_id: id,
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
    ADD_CONFIGS,
    configs.map(({ config, ...where }) => fromConfig({ ...where, ...config })),
  );
}

function monitorOf(subscription: SubscriptionRecord, server: ListedServer, nowMs: number): Omit<Monitor, "id"> {
  const name = [...(server.name ?? "")].slice(0, LONGEST_NAME).join("").trim();
  return {
    ...MONITOR_DEFAULTS,
    projectId: subscription.projectId,
    organizationId: subscription.organizationId,
    name: name === "" ? server.address : name,
    kind: kindOf(server),
    settings: {},
    intervalS: subscription.syncIntervalS,
    timeoutS: subscription.timeoutS,
    maxRetries: MAX_RETRIES,
    host: server.address,
    maintenance: null,
    subscriptionId: subscription.id,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}
