/** API keys, as hashes, and the rights behind them. */
import type { PlanName, Role } from "../../../model/plan.ts";
import { bulkStatement, type Database, type Session, statement } from "../db/database.ts";
import { raiseGeneration } from "../db/generation.ts";
import { decoder } from "../schema/column.ts";
import { API_KEYS, type Row } from "../schema/tables.ts";
import { storable } from "../schema/text.ts";
import type { KeyAccess, KeyRecord, Keys, NewKey } from "./keys-port.ts";
import { holdWorkspace } from "./workspaces.ts";

const toKey: (row: Row<"api_keys">) => KeyRecord = decoder(API_KEYS);

interface AccessRow extends Row<"api_keys"> {
  readonly user_email: string;
  readonly user_name: string | null;
  readonly user_active: 0 | 1;
  readonly workspace_name: string | null;
  readonly workspace_plan: PlanName;
  readonly workspace_suspended: 0 | 1;
  readonly workspace_created_at_ms: number;
  readonly role: Role | null;
}

const ACCESS = statement(
  "key_access",
  `select k.*, u.email as user_email, u.name as user_name, u.active as user_active,
     w.name as workspace_name, w.plan as workspace_plan, w.suspended as workspace_suspended,
     w.created_at_ms as workspace_created_at_ms, m.role as role
   from api_keys k
   join users u on u.id = k.user_id
   left join workspaces w on w.id = k.organization_id
   left join memberships m on m.user_id = k.user_id and m.organization_id = k.organization_id
   where k.id = ?`,
);

const TOUCH = bulkStatement(
  "touch_keys",
  "update api_keys set last_used_at_ms = max(coalesce(last_used_at_ms, 0), ?) where id = ?",
  `update api_keys k set last_used_at_ms = greatest(coalesce(k.last_used_at_ms, 0), used.at_ms)
   from unnest($1::bigint[], $2::bigint[]) as used (at_ms, id) where k.id = used.id`,
);

export function createKeys({ read, write }: Database): Keys {
  return {
    create: (input) => write((session) => insertKey(session, input)),
    createWithin: (most, input) =>
      write(async (session) =>
        (await countHeld(session, input.organizationId)) >= most ? "full" : insertKey(session, input),
      ),
    async access(id) {
      const row = (await read.query<AccessRow>(ACCESS, id))[0];
      return row && toAccess(row);
    },
    async find(id) {
      const row = await read.kysely.selectFrom("api_keys").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toKey(row);
    },
    async ofWorkspace(organizationId, userId) {
      let query = newestFirst(read).where("organization_id", "=", organizationId);
      if (userId !== null) query = query.where("user_id", "=", userId);
      return (await query.execute()).map(toKey);
    },
    async ofPerson(userId, organizationIds) {
      const rows = await newestFirst(read)
        .where((of) => {
          const own = of("user_id", "=", userId);
          return organizationIds.length === 0 ? own : of.or([own, of("organization_id", "in", organizationIds)]);
        })
        .execute();
      return rows.map(toKey);
    },
    setActive: (id, active) =>
      write(async (session) => {
        const row = await session.kysely
          .updateTable("api_keys")
          .set({ active: active ? 1 : 0 })
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirst();
        await raiseGeneration(session);
        return row && toKey(row);
      }),
    remove: (id) =>
      write(async (session) => {
        const { numDeletedRows } = await session.kysely.deleteFrom("api_keys").where("id", "=", id).executeTakeFirst();
        await raiseGeneration(session);
        return numDeletedRows > 0n;
      }),
    async touch(uses) {
      if (uses.size === 0) return;
      // In the order of ids, so that two writers never wait for each other's rows.
      const rows = [...uses].sort(([a], [b]) => a - b).map(([id, atMs]) => [atMs, id]);
      await write((session) => session.bulk(TOUCH, rows));
    },
  };
}

function newestFirst(session: Session) {
  return session.kysely.selectFrom("api_keys").selectAll().orderBy("created_at_ms", "desc").orderBy("id", "desc");
}

/** Keys of the workspace, which is held: of two that are made at once one counts the other. */
async function countHeld(session: Session, organizationId: number): Promise<number> {
  await holdWorkspace(session, organizationId);
  const { count } = await session.kysely
    .selectFrom("api_keys")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("organization_id", "=", organizationId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertKey(session: Session, input: NewKey): Promise<KeyRecord> {
  const { id } = await session.kysely
    .insertInto("api_keys")
    .values({
      name: storable(input.name),
      kind: input.kind,
      user_id: input.userId,
      organization_id: input.organizationId,
      secret_hash: "",
      active: 1,
      expires_at_ms: input.expiresAtMs,
      created_at_ms: input.nowMs,
      last_used_at_ms: null,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const row = await session.kysely
    .updateTable("api_keys")
    .set({ secret_hash: input.secretHash(id) })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await raiseGeneration(session);
  return toKey(row);
}

function toAccess(row: AccessRow): KeyAccess {
  return {
    key: toKey(row),
    user: { id: row.user_id, email: row.user_email, name: row.user_name, active: row.user_active === 1 },
    workspace:
      row.organization_id === null || row.workspace_name === null
        ? null
        : {
            id: row.organization_id,
            name: row.workspace_name,
            plan: row.workspace_plan,
            suspended: row.workspace_suspended === 1,
            createdAtMs: row.workspace_created_at_ms,
          },
    role: row.role,
  };
}
