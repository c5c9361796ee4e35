/** What a ClickHouse server must have, said at the start. */
import { createServer, type Server } from "node:http";
import pino from "pino";
import { afterEach, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { ClickHouseResults, openClickHouse } from "./clickhouse.ts";

let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((settle) => server.close(settle));
});

/** @param version what it answers to the question for what it lacks; empty: nothing */
async function urlOf(version: string): Promise<string> {
  server = createServer(async (request, response) => {
    let text = decodeURIComponent(request.url ?? "");
    for await (const chunk of request) text += chunk;
    response.end(text.includes("system.settings") ? JSON.stringify({ meta: [], data: [{ version }], rows: 1 }) : "1\n");
  });
  return `http://default@127.0.0.1:${await listen(server)}/sonde`;
}

it("waits for a schema no longer than for an insert", async () => {
  server = createServer((request, response) => {
    if (request.url?.includes("/ping") || request.url?.includes("SELECT%201")) response.end("1\n");
  });
  const url = `http://default@127.0.0.1:${await listen(server)}/sonde`;
  const results = new ClickHouseResults({ url, log: pino({ level: "silent" }), insertTimeoutMs: 200 });
  await expect(results.insert({ token: "a", lines: Buffer.from("{}\n"), rows: 1 })).rejects.toThrow(/Timeout/);
  await results.close();
});

it("refuses a server that would double the rows of a repeated insert, and takes another", async () => {
  const log = pino({ level: "silent" });
  const opening = openClickHouse({ url: await urlOf("18.16.1"), log });
  await expect(opening).rejects.toThrow(
    /^the ClickHouse at 127\.0\.0\.1:\d+ is version 18\.16\.1, too old for Sonde: /,
  );
  await new Promise((settle) => server.close(settle));
  await (await openClickHouse({ url: await urlOf(""), log })).close();
});
