import { createServer } from "node:http";
import { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { clientOf, readJson, serverOf } from "./clickhouse.ts";
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

it("gives a statement the time that its caller has for it", async () => {
  const server = createServer((request, response) => {
    request.resume();
    setTimeout(() => response.end(JSON.stringify({ data: [{ n: 1 }], rows: 1 })), 300);
  });
  const client = clientOf(serverOf(`http://127.0.0.1:${await listen(server)}`), 60_000, 2);
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  await expect(readJson(client, "SELECT 1 AS n", 50)).rejects.toThrow();
  expect(await readJson(client, "SELECT 1 AS n", 30_000)).toEqual([{ n: 1 }]);
});
