/** The listeners of notices by topic, for both kinds of notices. */
import type { Notices, RowFeed, Topic } from "./state.ts";

export interface OpenNotices extends Notices {
  readonly rows: RowFeed;
  close(): Promise<void>;
}

export interface Listeners {
  readonly subscribe: Notices["subscribe"];
  /** Ignores unknown topics: a newer version may send more. */
  tell(topic: unknown): void;
}

export function createListeners(): Listeners {
  const byTopic: Readonly<Record<Topic, Set<() => void>>> = {
    monitors: new Set(),
    keys: new Set(),
    heartbeats: new Set(),
    jobs: new Set(),
    shards: new Set(),
    quarantine: new Set(),
    "rows-wanted": new Set(),
    "rows-inserted": new Set(),
  };
  return {
    subscribe(topic, listener) {
      // The same function may listen twice; each subscription ends by itself.
      const entry = (): void => listener();
      byTopic[topic].add(entry);
      return () => byTopic[topic].delete(entry);
    },
    tell(topic) {
      if (typeof topic !== "string" || !Object.hasOwn(byTopic, topic)) return;
      for (const listener of byTopic[topic as Topic]) listener();
    },
  };
}

export interface RowListeners {
  readonly subscribe: RowFeed["subscribe"];
  tell(text: string): void;
  /** Texts may have been lost. */
  lost(): void;
}

/** @param onFirst called when the first listener comes */
export function createRowListeners(onFirst: () => void): RowListeners {
  const listeners = new Set<{ readonly onText: (text: string) => void; readonly onLost: () => void }>();
  return {
    subscribe(onText, onLost) {
      const entry = { onText, onLost };
      if (listeners.size === 0) onFirst();
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    tell(text) {
      for (const { onText } of listeners) onText(text);
    },
    lost() {
      for (const { onLost } of listeners) onLost();
    },
  };
}
