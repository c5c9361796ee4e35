/** What our own reader takes of bytes that are nearly a request, node:http takes in the same way or refuses. */
import { connect } from "node:net";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiRequest, HttpServer } from "../../api/http.ts";
import { requestOf } from "../../api/request.ts";
import { RequestReader } from "../../api/request-reader.ts";
import { listenNode } from "../../api/server-node.ts";
import { smugglingCases } from "./smuggling-cases.suite.ts";

/** Longer than an answer takes, shorter than a server lets an idle connection be (10 s). */
const ANSWERED_WITHIN_MS = 5_000;
/** What servers read differently. */
const PIECES = [
  " ",
  "\t",
  "\r",
  "\n",
  "\r\n",
  "\u0000",
  "\u000b",
  ":",
  ";",
  ",",
  "/",
  "0",
  "1",
  "5",
  "a",
  "-",
  "+",
  "_",
];
/** Those that are read in a moment, and of methods that Node knows. */
const SEEDS = smugglingCases.map(({ bytes }) => bytes("/same-")).filter((text) => text.length < 1_000);

const change = fc.record({
  at: fc.nat(),
  takes: fc.constantFrom(0, 1, 2),
  puts: fc.constantFrom("", ...PIECES),
});
const nearly = fc
  .tuple(fc.constantFrom(...SEEDS), fc.array(change, { minLength: 1, maxLength: 3 }))
  .map(([seed, changes]) =>
    changes.reduce((text, { at, takes, puts }) => {
      const from = at % (text.length + 1);
      return text.slice(0, from) + puts + text.slice(from + takes);
    }, seed),
  );

export function sameReadingSuite(): void {
  describe("what both servers read", () => {
    let server: HttpServer;
    let handled: string[] = [];

    beforeAll(async () => {
      server = await listenNode({
        host: "127.0.0.1",
        port: 0,
        bodyTimeoutMs: 10_000,
        answerTimeoutMs: 1_000,
        stallTimeoutMs: 1_000,
        lingerMs: 0,
        drainTimeoutMs: 1_000,
        handle: (request) => {
          handled.push(saying(request));
          return { status: 200, headers: [], body: "" };
        },
      });
    });
    afterAll(() => server.close());

    it("is the same, as far as neither refuses it", async () => {
      await fc.assert(
        fc.asyncProperty(nearly, async (bytes) => {
          handled = [];
          await sent(server.port, bytes);
          const ours = readOf(bytes);
          const common = Math.min(ours.length, handled.length);
          expect(ours.slice(0, common)).toEqual(handled.slice(0, common));
        }),
        { numRuns: 150 },
      );
    });
  });
}

function saying({ method, path, query, host, apiKey, body }: Omit<ApiRequest, "remoteAddress">): string {
  const bytes = body === null || body === "too-large" ? body : Buffer.from(body).toString("latin1");
  return JSON.stringify([method, path, query, host, apiKey, bytes]);
}

function readOf(bytes: string): string[] {
  const reader = new RequestReader();
  const read: string[] = [];
  reader.push(Buffer.from(bytes, "latin1"));
  for (let next = reader.next(); next !== null && next !== "too long" && !("status" in next); next = reader.next()) {
    read.push(saying(requestOf(next.line, "192.0.2.1", next.body)));
    // Nothing behind it is read.
    if (next.line.isLast) break;
  }
  return read;
}

/** Once the server has read all of it, and the connection is gone. */
function sent(port: number, bytes: string): Promise<void> {
  return new Promise((settle) => {
    const socket = connect(port, "127.0.0.1", () => socket.end(Buffer.from(bytes, "latin1")));
    const timer = setTimeout(() => socket.destroy(), ANSWERED_WITHIN_MS);
    socket.on("data", () => {});
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      settle();
    });
  });
}
