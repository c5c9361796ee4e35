/**
 * Keys, rights and projects as they are now, cached against the control plane's generation number.
 *
 * The generation is read for every request, so a key that was revoked anywhere stops with the next request. On SQLite that is one prepared
 * statement (microseconds), and none when the database's stamp shows that nothing was committed. On PostgreSQL it is a round trip; requests that wait share one read, but only a read that *started* after they
 * came, so none is answered from before a revocation that was already committed.
 */

import { BoundedMap } from "../model/bounded-map.ts";
import type { MaybePromise } from "../model/maybe-promise.ts";
import type { Role } from "../model/plan.ts";
import type { KeyAccess } from "../store/sql/accounts/keys-port.ts";
import type { ProjectRecord, WorkspaceRecord } from "../store/sql/accounts/port.ts";
import type { SessionAccess } from "../store/sql/accounts/sessions-port.ts";
import type { ControlPlane } from "../store/sql/control-plane/port.ts";

/** Beyond this many entries a map starts anew: bounds memory, not correctness. */
const MAX_ENTRIES = 10_000;

export interface Membership {
  readonly workspace: WorkspaceRecord;
  readonly role: Role;
}

export interface AuthCache {
  /** Must be awaited first by every request that reads the others; nothing to await when nothing was committed since the last. */
  refresh(): Promise<void> | undefined;
  /** The database's stamp at the latest refresh. What was read after it is still current while the stamp stays the same. Null: the database has none. */
  stamp(): number | null;
  /** Of the control plane, as of the latest refresh: the same while no key, right, plan, project or monitor was changed. */
  generation(): number;
  key(id: number): MaybePromise<KeyAccess | undefined>;
  session(id: number): MaybePromise<SessionAccess | undefined>;
  project(id: number): MaybePromise<ProjectRecord | undefined>;
  /** Oldest membership first. */
  memberships(userId: number): Promise<readonly Membership[]>;
}

export function createAuthCache(controlPlane: ControlPlane): AuthCache {
  let generation = -1;
  let stamp: number | null = null;
  const keys = new BoundedMap<number, KeyAccess>(MAX_ENTRIES);
  const sessions = new BoundedMap<number, SessionAccess>(MAX_ENTRIES);
  const projects = new BoundedMap<number, ProjectRecord>(MAX_ENTRIES);
  const members = new BoundedMap<number, readonly Membership[]>(MAX_ENTRIES);
  const readGeneration =
    controlPlane.dialect === "postgres" ? shareReads(() => controlPlane.generation()) : () => controlPlane.generation();

  function cached<T>(
    map: BoundedMap<number, T>,
    id: number,
    fetch: (id: number) => Promise<T | undefined>,
  ): MaybePromise<T | undefined> {
    return map.get(id) ?? fetched(map, id, fetch);
  }

  async function fetched<T>(
    map: BoundedMap<number, T>,
    id: number,
    fetch: (id: number) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const fetchedAt = generation;
    const value = await fetch(id);
    // A change during the fetch may have emptied the map for a newer generation, to which this value does not belong.
    if (value !== undefined && fetchedAt === generation) {
      map.set(id, value);
    }
    return value;
  }

  async function follow(newStamp: number | null): Promise<void> {
    const now = await readGeneration();
    // Set only now: until the generation was read, others must not take the maps for up to date.
    stamp = newStamp;
    if (now === generation) return;
    generation = now;
    keys.clear();
    sessions.clear();
    projects.clear();
    members.clear();
  }

  return {
    refresh() {
      const now = controlPlane.stamp();
      return now !== null && now === stamp ? undefined : follow(now);
    },
    stamp: () => stamp,
    generation: () => generation,
    key: (id) => cached(keys, id, (missing) => controlPlane.keys.access(missing)),
    session: (id) => cached(sessions, id, (missing) => controlPlane.sessions.access(missing)),
    project: (id) => cached(projects, id, (missing) => controlPlane.accounts.project(missing)),
    memberships: async (userId) =>
      (await cached(members, userId, (missing) => controlPlane.accounts.memberships(missing))) ?? [],
  };
}

/** At most one read runs. A call during a read gets the next read, because the running one may be older than the call. */
export function shareReads<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  function start(): Promise<T> {
    next = null;
    const mine = read().finally(() => {
      if (running === mine) running = null;
    });
    running = mine;
    return mine;
  }

  return () => {
    if (running === null) return start();
    next ??= running.then(start, start);
    return next;
  };
}
