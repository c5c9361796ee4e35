/** A prober's way to a process of bounded work, which only the main thread may start: it asks over a port of its own. */
import type { MessagePort } from "node:worker_threads";
import { MessageBatcher } from "../cores/message-batcher.ts";

export interface ToBounded<Word> {
  readonly id: number;
  readonly word: Word;
}
export interface FromBounded<Answer> {
  readonly id: number;
  readonly answer: Answer;
}

/** @param port whose other end the process has (bounded-process.ts, connect). @returns what asks; it never rejects */
export function connectBounded<Word, Answer>(port: MessagePort): (word: Word) => Promise<Answer> {
  const mailbox = new MessageBatcher<ToBounded<Word>>(port);
  const waiting = new Map<number, (answer: Answer) => void>();
  let lastId = 0;
  port.on("message", (words: readonly FromBounded<Answer>[]) => {
    for (const { id, answer } of words) {
      waiting.get(id)?.(answer);
      waiting.delete(id);
    }
  });
  // The port need not keep the thread alive: each waiting caller has a deadline, and its timer does.
  port.unref();
  return (word) => {
    const id = ++lastId;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      mailbox.post({ id, word });
    });
  };
}
