/** Locations in SQL: a handful of rows that every process reads again and again. */
import { type Database, statement } from "../db/database.ts";
import type { Location, Locations } from "./locations-port.ts";

const COLUMNS = `code, key_sealed as "sealedKey", next_key_sealed as "nextSealedKey", created_at_ms as "createdAtMs"`;
const ALL = statement("locations", `select ${COLUMNS} from locations order by code`);
const FIND = statement("location", `select ${COLUMNS} from locations where code = ?`);
const ADD = statement(
  "location_add",
  "insert into locations (code, key_sealed, created_at_ms) values (?, ?, ?) on conflict (code) do nothing returning id",
);
const ADD_KEY = statement(
  "location_add_key",
  "update locations set next_key_sealed = ? where code = ? and next_key_sealed is null returning id",
);
const PROMOTE = statement(
  "location_promote_key",
  "update locations set key_sealed = next_key_sealed, next_key_sealed = null where code = ? and next_key_sealed is not null returning id",
);
const REMOVE = statement("location_remove", "delete from locations where code = ? returning id");

export function createLocations({ read, write }: Database): Locations {
  const change = (what: typeof ADD, ...values: readonly (string | number)[]): Promise<boolean> =>
    write(async (session) => (await session.query(what, ...values)).length > 0);
  return {
    all: () => read.query<Location>(ALL),
    find: async (code) => (await read.query<Location>(FIND, code))[0],
    add: (code, sealedKey, nowMs) => change(ADD, code, sealedKey, nowMs),
    addKey: (code, nextSealedKey) => change(ADD_KEY, nextSealedKey, code),
    promoteKey: (code) => change(PROMOTE, code),
    remove: (code) => change(REMOVE, code),
  };
}
