/** A prober's way to the process that opens foreign keys, which only the main thread may start: it asks over a port of its own. */
import type { MessagePort } from "node:worker_threads";
import { MessageBatcher } from "../cores/message-batcher.ts";
import type { ForeignKey, KeyAnswer, KeyOpener } from "./key-opener.ts";

export interface ToOpener {
  readonly id: number;
  readonly key: ForeignKey;
}
export interface FromOpener {
  readonly id: number;
  readonly answer: KeyAnswer;
}

/** @param port whose other end the opener has (opener-process.ts, connect) */
export function connectKeyOpener(port: MessagePort): KeyOpener {
  const mailbox = new MessageBatcher<ToOpener>(port);
  const waiting = new Map<number, (answer: KeyAnswer) => void>();
  let lastId = 0;
  port.on("message", (words: readonly FromOpener[]) => {
    for (const { id, answer } of words) {
      waiting.get(id)?.(answer);
      waiting.delete(id);
    }
  });
  // The port need not keep the thread alive: each waiting caller has a deadline, and its timer does.
  port.unref();
  return {
    open(key) {
      const id = ++lastId;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        mailbox.post({ id, key });
      });
    },
  };
}
