/** The front with the official client before it and an engine of the test's own behind it. */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type ClickHouseClient, createClient } from "@clickhouse/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listen } from "../../../demo/loopback.ts";
import type { EngineAnswer } from "./engine.ts";
import { createHttpInterface } from "./http-interface.ts";
import type { Statement } from "./statement.ts";

const MAX_BODY_BYTES = 1024 * 1024;
const EMPTY: EngineAnswer = { bytes: new Uint8Array(0), rowsRead: 0, rowsWritten: 0, elapsedNs: 5 };

let seen: { statement: Statement; body: Buffer; signal: AbortSignal }[] = [];
let answer: () => EngineAnswer | Promise<EngineAnswer> = () => EMPTY;
let server: ReturnType<typeof createHttpInterface>;
let port = 0;
const clients: ClickHouseClient[] = [];

beforeEach(async () => {
  seen = [];
  answer = () => EMPTY;
  server = createHttpInterface({
    user: "sonde",
    password: "s3cret",
    database: "sonde",
    maxBodyBytes: MAX_BODY_BYTES,
    run: async (statement, body, signal) => {
      seen.push({ statement, body, signal });
      return answer();
    },
  });
  port = await listen(server);
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  server.closeAllConnections();
  server.close();
});

function clientWith(overrides: Parameters<typeof createClient>[0] = {}): ClickHouseClient {
  const client = createClient({
    url: `http://sonde:s3cret@127.0.0.1:${port}/sonde`,
    log: { level: 127 },
    ...overrides,
  });
  clients.push(client);
  return client;
}

const text = (value: string): EngineAnswer => ({ ...EMPTY, bytes: Buffer.from(value), rowsRead: 1 });
const document = (rows: object[]) => text(JSON.stringify({ meta: [], data: rows, rows: rows.length }));

function post(path: string, headers: Record<string, string>, body: Buffer | string) {
  return new Promise<{ status: number; code: unknown; text: string }>((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", path, method: "POST", headers }, async (response) => {
      resolve({
        status: response.statusCode ?? 0,
        code: response.headers["x-clickhouse-exception-code"],
        text: await textOf(response),
      });
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

const AUTH = { authorization: `Basic ${Buffer.from("sonde:s3cret").toString("base64")}` };

describe("the HTTP interface", () => {
  it("answers the client's ping, with and without a query", async () => {
    answer = () => text("ping\n");
    const client = clientWith();
    expect(await client.ping()).toEqual({ success: true });
    expect(seen).toHaveLength(0);
    expect(await client.ping({ select: true })).toEqual({ success: true });
    expect(seen[0]?.statement).toMatchObject({ kind: "read", sql: "SELECT 'ping'" });
  });

  it.each([
    {},
    { response: true },
    { response: true, request: true },
    { response: { codec: "br" as const }, request: { codec: "br" as const } },
  ])("serves queries and inserts with compression %j", async (compression) => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ n }));
    answer = () => document(rows);
    const client = clientWith({ compression });
    const found = await (await client.query({ query: "SELECT n FROM t", format: "JSON" })).json();
    expect(found.data).toEqual(rows);
    expect(seen[0]?.statement.sql).toMatch(/^SELECT n FROM t\s+FORMAT JSON$/);
    answer = () => EMPTY;
    await client.insert({ table: "t", values: rows, format: "JSONEachRow" });
    expect(seen[1]?.body.toString()).toBe(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    expect(seen[1]?.statement.insert).toMatchObject({ table: "t", format: "JSONEachRow" });
    const lines = Readable.from([Buffer.from('{"n":1}\n'), Buffer.from('{"n":2}\n')], { objectMode: false });
    await client
      .exec({ query: "INSERT INTO t FORMAT JSONEachRow", values: lines })
      .then(({ stream }) => stream.resume());
    expect(seen[2]?.body.toString()).toBe('{"n":1}\n{"n":2}\n');
  });

  it("gives bound parameters through", async () => {
    answer = () => document([]);
    await (
      await clientWith().query({ query: "SELECT {x:String}", query_params: { x: "a'b\\\t" }, format: "JSON" })
    ).json();
    expect(seen[0]?.statement.params).toEqual({ x: "a'b\\\t" });
  });

  it("makes the engine's errors the client's errors, with code and type", async () => {
    answer = () => Promise.reject(new Error("Code: 60. DB::Exception: Unknown table nope. (UNKNOWN_TABLE)"));
    const client = clientWith();
    const failed = { code: "60", type: "UNKNOWN_TABLE", message: expect.stringContaining("Unknown table nope") };
    await expect(client.query({ query: "SELECT * FROM nope" })).rejects.toMatchObject(failed);
    await expect(client.insert({ table: "nope", values: [{}], format: "JSONEachRow" })).rejects.toMatchObject(failed);
    await expect(client.command({ query: "DROP TABLE nope" })).rejects.toMatchObject(failed);
    answer = () => Promise.reject(new Error("out of luck"));
    await expect(client.query({ query: "SELECT 1" })).rejects.toMatchObject({ code: "1002" });
  });

  it("refuses a wrong password, another user, and none, before the engine hears of it", async () => {
    for (const given of [{ password: "wrong" }, { username: "root", password: "s3cret" }]) {
      const client = clientWith({ url: `http://127.0.0.1:${port}`, ...given });
      await expect(client.query({ query: "SELECT 1" })).rejects.toMatchObject({ code: "516" });
    }
    expect(await post("/", {}, "SELECT 1")).toMatchObject({ status: 403, code: "516" });
    expect(await post("/", { "x-clickhouse-user": "sonde", "x-clickhouse-key": "s3cret" }, "SELECT 1")).toMatchObject({
      status: 200,
    });
    expect(seen).toHaveLength(1);
  });

  it("bounds a body, as sent and when decompressed", async () => {
    const large = Buffer.alloc(MAX_BODY_BYTES + 1, "x");
    expect(await post("/?query=INSERT", AUTH, large)).toMatchObject({ status: 413, code: "307" });
    for (const [encoding, packed] of [
      ["gzip", gzipSync(large)],
      ["br", brotliCompressSync(large)],
    ] as const) {
      expect(await post("/?query=INSERT", { ...AUTH, "content-encoding": encoding }, packed)).toMatchObject({
        status: 413,
      });
    }
    expect(await post("/", { ...AUTH, "content-encoding": "gzip" }, "no gzip")).toMatchObject({
      status: 400,
      code: "354",
    });
    expect(await post("/", { ...AUTH, "content-encoding": "lzma" }, "SELECT 1")).toMatchObject({ code: "89" });
    expect(seen).toHaveLength(0);
  });

  it("knows no other path and method", async () => {
    expect(await post("/play", AUTH, "")).toMatchObject({ status: 404 });
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: "DELETE", headers: AUTH });
    expect(response.status).toBe(501);
  });

  it("tells the engine when the asker has gone", async () => {
    let release: (value: EngineAnswer) => void = () => undefined;
    answer = () => new Promise((resolve) => (release = resolve));
    const socket = connect(port, "127.0.0.1");
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTH.authorization}\r\nContent-Length: 8\r\n\r\nSELECT 1`,
    );
    await expect.poll(() => seen.length).toBe(1);
    expect(seen[0]?.signal.aborted).toBe(false);
    socket.destroy();
    await expect.poll(() => seen[0]?.signal.aborted).toBe(true);
    release(EMPTY);
    expect(await clientWith().ping()).toEqual({ success: true });
  });

  it("outlives garbage", async () => {
    for (const garbage of [
      "\0\0\0\0",
      "GET / HTTP/9.9\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
      `GET /?${"a".repeat(20_000)} HTTP/1.1\r\n\r\n`,
      "GET //[ HTTP/1.1\r\nHost: x\r\n\r\n",
    ]) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined);
      socket.end(garbage);
      await once(socket.resume(), "close");
    }
    expect(await clientWith().ping()).toEqual({ success: true });
  });
});
