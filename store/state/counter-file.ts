/** Where the in-process counters outlive the process: an SQLite file, written in batches. */
import { resolve } from "node:path";
import { StoreError } from "../errors.ts";
import { sqliteGuard } from "../sqlite-faults.ts";
import { Sqlite, type SqliteHandle } from "../sqlite-library.ts";
import type { Cell } from "./cells.ts";
import type { EndpointUsage } from "./state.ts";
import type { PendingUsage } from "./usage.ts";

/** Version of the tables below; raised when they change. */
const SCHEMA_VERSION = 1;
const SCHEMA = `
  create table if not exists counters (
    name text primary key, cells text not null, expires_at_ms integer not null
  ) without rowid;
  create table if not exists endpoint_usage (
    organization_id integer not null, day text not null, key_id integer not null, endpoint text not null,
    requests integer not null, errors integer not null,
    primary key (organization_id, day, key_id, endpoint)
  ) without rowid;
  create table if not exists counter_schema (version integer not null);
`;
/** Writers hold the file for milliseconds; a flush that meets one comes again a second later. */
const BUSY_TIMEOUT_MS = 1_000;

export interface CounterFile {
  load(nowMs: number): readonly (readonly [name: string, cell: Cell])[];
  /** All or nothing. */
  write(cells: readonly (readonly [name: string, cell: Cell])[], usage: readonly PendingUsage[]): void;
  usage(organizationId: number, sinceDay: string): readonly EndpointUsage[];
  dropExpired(nowMs: number, firstDay: string): void;
  ping(): void;
  close(): void;
}

/** @throws StoreError, one line, when the file cannot be used */
export function openCounterFile(path: string): CounterFile {
  const file = resolve(path);
  const run = sqliteGuard(file);
  const handle = run(() => new Sqlite(file, { timeout: BUSY_TIMEOUT_MS }));
  try {
    run(() => prepareFile(handle, file));
  } catch (error) {
    handle.close();
    throw error;
  }
  const load = handle.prepare("select name, cells, expires_at_ms from counters where expires_at_ms > ?");
  const save = handle.prepare(
    `insert into counters (name, cells, expires_at_ms) values (?, ?, ?)
     on conflict (name) do update set cells = excluded.cells, expires_at_ms = excluded.expires_at_ms`,
  );
  const count = handle.prepare(
    `insert into endpoint_usage (organization_id, day, key_id, endpoint, requests, errors) values (?, ?, ?, ?, ?, ?)
     on conflict (organization_id, day, key_id, endpoint)
     do update set requests = requests + excluded.requests, errors = errors + excluded.errors`,
  );
  const readUsage = handle.prepare(
    `select day, key_id as keyId, endpoint, requests, errors from endpoint_usage where organization_id = ? and day >= ?`,
  );
  const dropCounters = handle.prepare("delete from counters where expires_at_ms <= ?");
  const dropUsage = handle.prepare("delete from endpoint_usage where day < ?");
  const write: CounterFile["write"] = handle.transaction((cells, usage) => {
    for (const [name, cell] of cells) save.run(name, JSON.stringify(cell.values), cell.expiresAtMs);
    for (const one of usage) {
      count.run(one.organizationId, one.day, one.keyId, one.endpoint, one.requests, one.errors);
    }
  }).immediate;
  return {
    load: (nowMs) =>
      run(() =>
        (load.all(nowMs) as CounterRow[]).map((row) => [
          row.name,
          { values: JSON.parse(row.cells), expiresAtMs: row.expires_at_ms },
        ]),
      ),
    write: (cells, usage) => run(() => write(cells, usage)),
    usage: (organizationId, sinceDay) => run(() => readUsage.all(organizationId, sinceDay) as EndpointUsage[]),
    dropExpired: (nowMs, firstDay) =>
      run(() => {
        dropCounters.run(nowMs);
        dropUsage.run(firstDay);
      }),
    ping: () => run(() => void handle.prepare("select version from counter_schema").get()),
    close: () => handle.close(),
  };
}

interface CounterRow {
  readonly name: string;
  readonly cells: string;
  readonly expires_at_ms: number;
}

function prepareFile(handle: SqliteHandle, file: string): void {
  handle.pragma("journal_mode = WAL");
  handle.pragma("synchronous = NORMAL");
  const known = handle.prepare("select 1 from sqlite_master where name = 'counter_schema'").get();
  if (known === undefined) {
    handle
      .transaction(() => {
        handle.exec(SCHEMA);
        handle.prepare("insert into counter_schema (version) values (?)").run(SCHEMA_VERSION);
      })
      .immediate();
  }
  const { version } = handle.prepare("select version from counter_schema").get() as { version: number };
  if (version > SCHEMA_VERSION) {
    throw new StoreError(
      `${file} was written by a newer version of Sonde: run that version, or move the file away (counters start anew)`,
    );
  }
}
