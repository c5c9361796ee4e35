import { expect, it } from "vitest";
import { MessageBatcher } from "./message-batcher.ts";

it("sends the words of one turn in one message, in their order", async () => {
  const sent: (readonly number[])[] = [];
  const mailbox = new MessageBatcher<number>({ postMessage: (words) => sent.push(words) });
  for (const word of [1, 2, 3]) mailbox.post(word);
  expect(sent).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  mailbox.post(4);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual([[1, 2, 3], [4]]);
});

it("keeps back what can wait until something else is sent, and not for long", async () => {
  const sent: (readonly number[])[] = [];
  const mailbox = new MessageBatcher<number>({ postMessage: (words) => sent.push(words) });
  mailbox.postLater(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual([]);
  mailbox.post(2);
  mailbox.postLater(3);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sent).toEqual([[1, 2, 3]]);
  mailbox.postLater(4);
  mailbox.postLater(5);
  await expect
    .poll(() => sent)
    .toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
});
