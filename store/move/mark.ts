/** How far a move has come: kept in the target's database, in the transaction of the rows that it counts. While it is there no service starts on it. */

import { MOVE_MARK } from "../sql/copy/rows.ts";
import { type Database, type Session, statement, type Value } from "../sql/db/database.ts";

export interface Mark {
  /** In tokens: those of another try are others. */
  readonly id: string;
  /** Of the source, when the move began. */
  readonly identity: string;
  /** Unix ms: decides which results are carried. */
  readonly begunAtMs: number;
  readonly done: readonly string[];
  /** The one that is being carried, and the key of its last row. */
  readonly table: string | null;
  readonly after: readonly Value[] | null;
}

const READ = statement("move_mark", "select value from meta where name = ?");
const WRITE = statement(
  "set_move_mark",
  "insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
);
const REMOVE = statement("remove_move_mark", "delete from meta where name = ?");

export async function readMark({ read }: Database): Promise<Mark | null> {
  const [row] = await read.query<{ readonly value: string }>(READ, MOVE_MARK);
  return row === undefined ? null : (JSON.parse(row.value) as Mark);
}

export async function writeMark(session: Session, mark: Mark): Promise<void> {
  await session.query(WRITE, MOVE_MARK, JSON.stringify(mark));
}

export async function removeMark(session: Session): Promise<void> {
  await session.query(REMOVE, MOVE_MARK);
}
