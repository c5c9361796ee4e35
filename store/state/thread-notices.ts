/** Notices between the threads of one process. */
import { resolve } from "node:path";
import { BroadcastChannel } from "node:worker_threads";
import { createListeners, type OpenNotices } from "./notices.ts";

/** @param file the state's file: its full path keeps two services in one process apart, as tests have them */
export function openThreadNotices(file: string): OpenNotices {
  const channel = new BroadcastChannel(`sonde ${resolve(file)}`);
  channel.unref();
  const listeners = createListeners();
  channel.onmessage = (event: unknown): void => listeners.tell((event as { readonly data: unknown }).data);
  let isOpen = true;
  return {
    publish(topic) {
      if (!isOpen) return;
      channel.postMessage(topic);
      // A BroadcastChannel does not deliver a message to its own sender.
      queueMicrotask(() => listeners.tell(topic));
    },
    subscribe: listeners.subscribe,
    async close() {
      isOpen = false;
      channel.close();
    },
  };
}
