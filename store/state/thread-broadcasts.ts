/** Broadcasts between the threads of one process. Listeners say now and then what they listen to; a thread that begins to publish asks them. */
import { resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { BroadcastChannel } from "node:worker_threads";
import { onTicks } from "../../model/ticks.ts";
import { type OpenBroadcasts, ProjectListeners } from "./broadcasts.ts";

/** How often a thread repeats what it listens to, ms. */
const REPEATED_MS = 5_000;
/** A project that no thread has named for this long is not listened to, ms. */
const HEARD_MS = 15_000;

type Message =
  | { readonly type: "ask" }
  | { readonly type: "listening"; readonly projects: readonly number[] }
  | { readonly type: "text"; readonly projectId: number; readonly text: string };

/** @param file the state's file: its full path keeps two services in one process apart, as tests have them */
export function openThreadBroadcasts(file: string): OpenBroadcasts {
  const channel = new BroadcastChannel(`sonde broadcasts ${resolve(file)}`);
  channel.unref();
  const listeners = new ProjectListeners();
  /** Of other threads: until when. */
  const heard = new Map<number, number>();
  let isOpen = true;
  const send = (message: Message): void => {
    if (isOpen) channel.postMessage(message);
  };
  const tellWhat = (): void => {
    const { projects } = listeners;
    if (projects.length > 0) send({ type: "listening", projects });
  };
  channel.onmessage = (event: unknown): void => {
    const { data } = event as { readonly data: Message };
    if (data.type === "ask") tellWhat();
    else if (data.type === "text") listeners.tell(data.projectId, data.text);
    else for (const projectId of data.projects) heard.set(projectId, performance.now() + HEARD_MS);
  };
  const stopTelling = onTicks(REPEATED_MS, tellWhat);
  const isHeardElsewhere = (projectId: number): boolean => {
    const untilMs = heard.get(projectId);
    if (untilMs === undefined) return false;
    if (performance.now() < untilMs) return true;
    heard.delete(projectId);
    return false;
  };
  send({ type: "ask" });
  return {
    isHeard: (projectId) => isOpen && (listeners.has(projectId) || isHeardElsewhere(projectId)),
    publish(projectId, text) {
      if (!isOpen) return;
      if (isHeardElsewhere(projectId)) send({ type: "text", projectId, text });
      // A channel does not receive its own messages.
      if (listeners.has(projectId)) queueMicrotask(() => listeners.tell(projectId, text));
    },
    listen(projectId, listener) {
      const isFirst = !listeners.has(projectId);
      const end = listeners.add(projectId, listener);
      if (isFirst) tellWhat();
      return () => void end();
    },
    async close() {
      isOpen = false;
      stopTelling();
      channel.close();
    },
  };
}
