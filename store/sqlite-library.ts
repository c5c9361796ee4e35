/**
 * better-sqlite3, in the major version that this Node can load. 12 is built on node::ObjectWrap, whose finalizers abort the process since Node 24.19
 * (they ask for the current environment during garbage collection, node_object_wrap.h); 13 is built on Node-API, which older Node lacks.
 */
import { createRequire } from "node:module";
import type BetterSqlite3 from "better-sqlite3";

/** The prebuilt binaries of 13 need Node 22.14 or newer. An older Node crashes with them in `new Database()`. */
const NODE_API = 10;

const require = createRequire(import.meta.url);
const library: unknown =
  Number(process.versions.napi) >= NODE_API ? require("better-sqlite3-napi") : require("better-sqlite3");

export const Sqlite = library as typeof BetterSqlite3;
export type SqliteHandle = BetterSqlite3.Database;
export type PreparedStatement = BetterSqlite3.Statement<unknown[]>;
