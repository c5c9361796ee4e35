/** The child's side of bounded work (bounded-process.ts): one piece after the other, until its parent ends. It holds no secrets of Sonde. */
import type { FromChild, ToChild } from "./bounded-process.ts";

export function serveBounded<Word, Answer>(work: (word: Word) => Answer | Promise<Answer>): void {
  const tell = (word: FromChild<Answer>): void => void process.send?.(word);
  process.on("message", async ({ id, word }: ToChild<Word>) => tell({ type: "answer", id, answer: await work(word) }));
  process.on("disconnect", () => process.exit());
  tell({ type: "ready" });
}
