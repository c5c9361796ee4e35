/** Notices between the threads of one process. */
import { resolve } from "node:path";
import { BroadcastChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { createListeners, createRowListeners, type OpenNotices } from "./notices.ts";
import type { RowFeed, Topic } from "./state.ts";

/** @param file the state's file: its full path keeps two services in one process apart, as tests have them */
export function openThreadNotices(file: string): OpenNotices {
  const channel = new BroadcastChannel(`sonde ${resolve(file)}`);
  channel.unref();
  const listeners = createListeners();
  channel.onmessage = (event: unknown): void => listeners.tell((event as { readonly data: unknown }).data);
  let isOpen = true;
  const rows = openThreadRows(file);
  const unsent = new Set<Topic>();
  const send = (): void => {
    if (!isOpen) return;
    const topics = [...unsent];
    unsent.clear();
    for (const topic of topics) {
      channel.postMessage(topic);
      // A BroadcastChannel does not deliver a message to its own sender.
      listeners.tell(topic);
    }
  };
  return {
    rows,
    // Each message wakes a thread: notices that are published often in one turn of the event loop are sent once.
    publish(topic) {
      if (unsent.size === 0) setImmediate(send);
      unsent.add(topic);
    },
    subscribe: listeners.subscribe,
    async close() {
      send();
      isOpen = false;
      channel.close();
      rows.close();
    },
  };
}

/** Node takes both kinds of ports (its documentation of receiveMessageOnPort); the types know one of them. */
function nextOf(channel: BroadcastChannel): { readonly message: string } | undefined {
  return receiveMessageOnPort(channel as unknown as MessagePort);
}

/** A BroadcastChannel of its own: every thread that has it open gets a copy of each text. */
function openThreadRows(file: string): RowFeed & { close(): void } {
  let channel: BroadcastChannel | undefined;
  let isOpen = true;
  const open = (): BroadcastChannel => {
    const made = new BroadcastChannel(`sonde rows ${resolve(file)}`);
    made.unref();
    made.onmessage = (event: unknown): void => listeners.tell((event as { readonly data: string }).data);
    return made;
  };
  const use = (): BroadcastChannel => {
    channel ??= open();
    return channel;
  };
  const listeners = createRowListeners(use);
  return {
    publish(text) {
      if (!isOpen) return;
      use().postMessage(text);
      listeners.tell(text);
    },
    // A text is in this thread's queue from the moment in which another has published it.
    catchUp() {
      if (channel === undefined) return;
      for (let next = nextOf(channel); next !== undefined; next = nextOf(channel)) listeners.tell(next.message);
    },
    subscribe: listeners.subscribe,
    close() {
      isOpen = false;
      channel?.close();
    },
  };
}
