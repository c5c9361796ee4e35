import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { wholeText } from "./whole-text.ts";

it("reads an answer whole, and refuses one that is too long or has no end", async () => {
  expect(await wholeText(Readable.from([Buffer.from("zwei "), Buffer.from("Öl")]), 100, 1_000)).toBe("zwei Öl");
  let read = 0;
  const endless = new Readable({
    read() {
      read += 1;
      this.push(Buffer.alloc(2 ** 20));
    },
  });
  await expect(wholeText(endless, 4 * 2 ** 20, 60_000)).rejects.toThrow("its answer is longer than 4 MiB");
  expect([read < 20, endless.destroyed]).toEqual([true, true]);
  const silent = new Readable({ read() {} });
  await expect(wholeText(silent, 100, 20)).rejects.toThrow("its answer has no end after 0.02 s");
});
