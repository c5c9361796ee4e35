/** Small named values. */

import { type Database, statement } from "../db/database.ts";
import type { Meta } from "./meta-port.ts";

const READ = statement("meta", "select value from meta where name = ?");
const WRITE = statement(
  "set_meta",
  "insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
);

export function createMeta({ read, write }: Database): Meta {
  return {
    async get(name) {
      return (await read.query<{ value: string }>(READ, name))[0]?.value;
    },
    async set(name, value) {
      await write((session) => session.query(WRITE, name, value));
    },
  };
}
