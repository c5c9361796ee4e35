/** Requests whose end two servers could see in two places: each is refused with its connection, or is one request and no more. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HttpServer, ListenOptions } from "../../api/http.ts";
import { smugglingCases } from "./smuggling-cases.suite.ts";

interface Seen {
  readonly handled: { readonly what: string; readonly body: string | null }[];
  /** Everything that came back. */
  readonly text: string;
  /** Whether the server ended the connection. */
  readonly isClosed: boolean;
}

/** @param listen one of the two servers */
export function smugglingSuite(listen: (options: ListenOptions) => Promise<HttpServer>): void {
  describe("request smuggling", () => {
    const seen = new Map<string, Seen>();
    let server: HttpServer;

    beforeAll(async () => {
      const handled = new Map<string, Seen["handled"]>();
      server = await listen({
        host: "127.0.0.1",
        port: 0,
        bodyTimeoutMs: 500,
        answerTimeoutMs: 1_000,
        stallTimeoutMs: 1_000,
        lingerMs: 0,
        drainTimeoutMs: 1_000,
        handle: ({ method, path, body }) => {
          const prefix = /\/case-\d+-/.exec(path)?.[0] ?? "";
          const text = body === null ? null : body === "too-large" ? body : Buffer.from(body).toString("latin1");
          const what = `${method} ${path.slice(path.indexOf(prefix) + prefix.length)}`;
          if (what !== "GET last") handled.get(prefix)?.push({ what, body: text });
          return { status: 200, headers: ["Content-Type", "text/plain"], body: `${what}\n` };
        },
      });
      await Promise.all(
        smugglingCases.map(async ({ name, bytes }, index) => {
          const prefix = `/case-${index}-`;
          handled.set(prefix, []);
          const { text, isClosed } = await sent(server.port, bytes(prefix), prefix);
          seen.set(name, { handled: handled.get(prefix) ?? [], text, isClosed });
        }),
      );
    }, 60_000);
    afterAll(() => server.close());

    it.each(smugglingCases)("$name: $expected", ({ name, expected, body }) => {
      const { handled, text, isClosed } = seen.get(name) ?? { handled: [], text: "", isClosed: false };
      const first = handled.filter(({ what }) => what.endsWith("first"));
      // Nothing but what stands at the beginning is ever a request.
      expect(handled).toEqual(first);
      expect(first.length).toBeLessThanOrEqual(1);
      const isRefused = first.length === 0 && isClosed && /^$|^HTTP\/1\.1 [45]\d\d /.test(text);
      const isOne = first.length === 1 && /^(HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 200 /.test(text);
      if (expected === "refused") expect({ isRefused, text }).toMatchObject({ isRefused: true });
      if (expected === "one") expect({ isOne, text }).toMatchObject({ isOne: true });
      if (expected === "refused or one")
        expect({ isEither: isRefused || isOne, text }).toMatchObject({ isEither: true });
      if (isOne && body !== undefined) expect(first[0]?.body).toBe(body);
    });
  });
}

/** Sends the bytes; where the connection stays open after an answer, one more request makes sure that all of them were looked at. */
function sent(port: number, bytes: string, prefix: string): Promise<{ text: string; isClosed: boolean }> {
  return new Promise((settle) => {
    let text = "";
    let isAsked = false;
    let isClosed = true;
    const socket = connect(port, "127.0.0.1", () => socket.write(Buffer.from(bytes, "latin1")));
    const timer = setTimeout(() => {
      isClosed = false;
      socket.destroy();
    }, 25_000);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (!isAsked && /^HTTP\/1\.1 200 .*\r\n\r\n./s.test(text)) {
        isAsked = true;
        if (socket.writable) socket.write(`GET ${prefix}last HTTP/1.1\r\nHost: a\r\n\r\n`);
      } else if (text.includes("\r\n\r\nGET last\n")) {
        isClosed = false;
        socket.destroy();
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      settle({ text, isClosed });
    });
  });
}
