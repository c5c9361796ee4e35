/** Names of headers that no server of ours looks at: whatever RFC 9110 allows is let pass, anything else is refused at once. */
import { connect } from "node:net";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HttpServer, ListenOptions } from "../../api/http.ts";

/** RFC 9110 section 5.6.2: what a name is made of. */
const TOKEN_CHARACTERS = [..."!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"];
/** Longer than an answer takes, shorter than a server lets an idle connection be (10 s). */
const ANSWERED_WITHIN_MS = 5_000;

/** @param listen one of the two servers */
export function headerNamesSuite(listen: (options: ListenOptions) => Promise<HttpServer>): void {
  describe("header names", () => {
    let server: HttpServer;

    beforeAll(async () => {
      server = await listen({
        host: "127.0.0.1",
        port: 0,
        bodyTimeoutMs: 10_000,
        answerTimeoutMs: 1_000,
        stallTimeoutMs: 1_000,
        lingerMs: 0,
        drainTimeoutMs: 1_000,
        handle: ({ path }) => ({ status: 200, headers: ["Content-Type", "text/plain"], body: path }),
      });
    });
    afterAll(() => server.close());

    it("answers whatever legal name a header has, also beside those that it reads", async () => {
      const name = fc.string({ unit: fc.constantFrom(...TOKEN_CHARACTERS), minLength: 1, maxLength: 40 });
      await fc.assert(
        fc.asyncProperty(name, async (other) => {
          // One that is read has rules of its own.
          expect(await statusOf(server.port, `x_${other}: 1\r\n`)).toBe("200");
          expect(await statusOf(server.port, `${other}.x: 1\r\nX-Request-Id: 2\r\n`)).toBe("200");
        }),
        { numRuns: 30 },
      );
      for (const each of TOKEN_CHARACTERS) expect(await statusOf(server.port, `a${each}b: 1\r\n`)).toBe("200");
    });

    it.each(["X Id: 1", "X(Id: 1", "X@Id: 1", '"XId": 1', "X\u00e4: 1", " X: 1", "X : 1", "X"])(
      "refuses %j at once",
      async (line) => {
        expect(await statusOf(server.port, `${line}\r\n`)).toBe("400");
      },
    );
  });
}

/** The status, or what came instead of one. */
function statusOf(port: number, lines: string): Promise<string> {
  return new Promise((settle) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () =>
      socket.write(Buffer.from(`GET /a HTTP/1.1\r\nHost: a\r\n${lines}Connection: close\r\n\r\n`, "latin1")),
    );
    const timer = setTimeout(() => socket.destroy(), ANSWERED_WITHIN_MS);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      settle(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? JSON.stringify(text));
    });
  });
}
