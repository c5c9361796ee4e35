/** Channels: where a project's messages go. Secrets come sealed, and leave only for a sender or a change. */

import { REFUSALS_OF_FAILING } from "../../../model/channel.ts";
import type { Database, Session } from "../db/database.ts";
import { holdProject } from "../db/hold-project.ts";
import { CHANNELS } from "../schema/alert-tables.ts";
import { decoder } from "../schema/column.ts";
import { NOT_SEALED_YET, sealedFor } from "../schema/seal-new.ts";
import type { Row } from "../schema/tables.ts";
import { storable, toJson } from "../schema/text.ts";
import type {
  ChannelChanges,
  ChannelOutcome,
  ChannelRecord,
  ChannelStanding,
  Channels,
  NewChannel,
  OpenableChannel,
} from "./channels-port.ts";

const decode = decoder(CHANNELS);

export function createChannels({ read, write }: Database): Channels {
  return {
    create: (input, most) => write((session) => create(session, input, most)),
    async find(projectId, id) {
      const row = await rowOf(read, projectId, id);
      return row && decode(row);
    },
    async list(projectId) {
      const ofProject = read.kysely.selectFrom("channels").selectAll().where("project_id", "=", projectId);
      return (await ofProject.orderBy("id").execute()).map((row) => decode(row));
    },
    update: (projectId, id, nowMs, change) => write((session) => update(session, { projectId, id, nowMs }, change)),
    remove: (projectId, id) => write((session) => remove(session, projectId, id)),
    async openable(ids) {
      if (ids.length === 0) return [];
      const rows = read.kysely.selectFrom("channels").selectAll().where("id", "in", ids).orderBy("id");
      return (await rows.execute()).map(toOpenable);
    },
    judged: (id, outcome, nowMs) => write((session) => judged(session, id, outcome, nowMs)),
  };
}

export async function create(
  session: Session,
  input: NewChannel,
  most: number,
): Promise<ChannelRecord | "full" | "taken" | undefined> {
  const { kysely } = session;
  if (!(await holdProject(session, input.projectId))) return undefined;
  const others = await kysely.selectFrom("channels").select("name").where("project_id", "=", input.projectId).execute();
  if (others.length >= most) return "full";
  const name = storable(input.name);
  if (others.some((other) => other.name === name)) return "taken";
  const row = await kysely
    .insertInto("channels")
    .values({
      project_id: input.projectId,
      kind: input.kind,
      name,
      settings: toJson(input.settings),
      secret_names: toJson(input.secretNames),
      sealed: input.sealed === null ? null : NOT_SEALED_YET,
      active: input.active ? 1 : 0,
      verified_at_ms: input.verifiedAtMs ?? null,
      refusals: 0,
      created_at_ms: input.nowMs,
      updated_at_ms: input.nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  if (input.sealed !== null) {
    const sealed = sealedFor(row.id, input.sealed);
    await kysely.updateTable("channels").set({ sealed }).where("id", "=", row.id).execute();
  }
  return decode(row);
}

interface Which {
  readonly projectId: number;
  readonly id: number;
  readonly nowMs: number;
}

export async function update(
  session: Session,
  { projectId, id, nowMs }: Which,
  change: (before: OpenableChannel) => ChannelChanges,
): Promise<ChannelRecord | "taken" | undefined> {
  const { kysely } = session;
  await holdProject(session, projectId);
  const before = await rowOf(session, projectId, id);
  if (before === undefined) return undefined;
  const { name, settings, secretNames, sealed, active, verifiedAtMs } = change(toOpenable(before));
  if (name !== undefined) {
    const others = kysely.selectFrom("channels").select("id").where("project_id", "=", projectId).where("id", "!=", id);
    if ((await others.where("name", "=", storable(name)).executeTakeFirst()) !== undefined) return "taken";
  }
  const after = await kysely
    .updateTable("channels")
    .set({
      ...(name !== undefined && { name: storable(name) }),
      ...(settings !== undefined && { settings: toJson(settings) }),
      ...(secretNames !== undefined && { secret_names: toJson(secretNames) }),
      ...(sealed !== undefined && { sealed }),
      ...(active !== undefined && { active: active ? 1 : 0 }),
      ...(verifiedAtMs !== undefined && { verified_at_ms: verifiedAtMs }),
      // What was refused before says nothing of other settings.
      ...((settings !== undefined || sealed !== undefined) && {
        refusals: 0,
        failing_since_ms: null,
        last_error: null,
      }),
      updated_at_ms: nowMs,
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return decode(after);
}

/** @returns false when it was not there */
export async function remove({ kysely }: Session, projectId: number, id: number): Promise<boolean> {
  const own = kysely.deleteFrom("channels").where("project_id", "=", projectId).where("id", "=", id);
  return (await own.returning("id").execute()).length > 0;
}

/** Keeps how an attempt ended, in the transaction of its record. */
export async function judged(
  session: Session,
  id: number,
  outcome: ChannelOutcome,
  nowMs: number,
): Promise<ChannelStanding | undefined> {
  const { kysely } = session;
  let query = kysely.selectFrom("channels").select(["refusals", "failing_since_ms"]).where("id", "=", id);
  if (session.dialect === "postgres") query = query.forUpdate();
  const before = await query.executeTakeFirst();
  if (before === undefined) return undefined;
  const refusals = refusalsAfter(before.refusals, outcome);
  const error = outcome.delivered ? (outcome.refusal ?? null) : outcome.error;
  await kysely
    .updateTable("channels")
    .set({
      refusals,
      failing_since_ms: error === null ? null : (before.failing_since_ms ?? nowMs),
      last_error: error === null ? null : storable(error),
      ...(outcome.delivered && { last_success_at_ms: nowMs }),
    })
    .where("id", "=", id)
    .execute();
  const isFailing = refusals >= REFUSALS_OF_FAILING;
  return { isFailing, hasTurned: isFailing !== before.refusals >= REFUSALS_OF_FAILING };
}

/** A failure that may pass by itself neither adds to the refusals nor ends their row: only a success with all readers shows that the channel works. */
function refusalsAfter(before: number, outcome: ChannelOutcome): number {
  if (outcome.delivered) return (outcome.refusal ?? null) === null ? 0 : before + 1;
  return outcome.permanent ? before + 1 : before;
}

async function rowOf(session: Session, projectId: number, id: number): Promise<Row<"channels"> | undefined> {
  const rows = session.kysely.selectFrom("channels").selectAll().where("project_id", "=", projectId);
  return rows.where("id", "=", id).executeTakeFirst();
}

export function toOpenable(row: Row<"channels">): OpenableChannel {
  return { ...decode(row), sealed: row.sealed };
}
