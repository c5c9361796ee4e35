/**
 * Room that a database file and its write-ahead log keep for a full disk: statuses and incidents are written into pages that are there already. Neither
 * file gives pages back by itself, so pages that were used once are enough.
 */
import { Sqlite } from "../../sqlite-library.ts";

/** Some hundred incidents with their events, and a second's worth of statuses many times over. */
export const KEPT_BYTES = 4 * 2 ** 20;
/** How long another's transaction is waited for, ms. */
const BUSY_TIMEOUT_MS = 5_000;

/** On a disk that is full already no room can be kept, which must not prevent the start. */
export function keepRoom(file: string): void {
  const handle = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    // One by one: pages that are freed in the transaction that took them are not written.
    handle.exec("drop table if exists kept_room");
    handle.exec("create table kept_room (bytes blob)");
    handle.exec(`insert into kept_room values (zeroblob(${KEPT_BYTES}))`);
  } catch {
    // A table that is there already is dropped below.
  }
  try {
    handle.exec("drop table if exists kept_room");
  } catch {
    // Busy or full: the next start drops it.
  } finally {
    handle.close();
  }
}
