import * as zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { makeRig } from "../../test/web-rig.ts";
import { http } from "../probes/http.ts";
import { planOf } from "./plan.ts";
import { check, fixed, page, raw, transport } from "./website.suite.ts";

const probe = await http.load();

describe("settings", () => {
  it.each([
    [null, "both"],
    ["ipv4", "ipv4"],
    ["ipv6", "ipv6"],
  ] as const)("ip_version %s asks for %s addresses on every hop", async (ipVersion, preference) => {
    const asked: string[] = [];
    const second = await fixed(page("x"));
    const first = await fixed(`HTTP/1.1 302 Found\r\nLocation: http://web.rig:${second.port}/\r\n\r\n`);
    const { context } = makeRig({
      ...transport,
      resolve: (host, port, addresses, dial) => {
        asked.push(addresses);
        return transport.resolve(host, port, "ipv4", dial);
      },
    });
    const settings = http.settings.parse({ url: `http://web.rig:${first.port}/`, ip_version: ipVersion });
    expect((await probe.run(settings, context)).verdict).toBe("ok");
    expect(asked).toEqual([preference, preference]);
  });

  it("are compiled once for each settings object", () => {
    const settings = http.settings.parse({ url: "http://web.rig/" });
    expect(planOf(settings)).toBe(planOf(settings));
  });
});

describe("a connection", () => {
  it.each(["node", "native"] as const)("closes by reset, which leaves no TIME_WAIT: %s", async (way) => {
    let tell: (error: NodeJS.ErrnoException) => void = () => {};
    const ended = new Promise<NodeJS.ErrnoException>((resolve) => {
      tell = resolve;
    });
    const { port } = await raw((socket) => {
      socket.on("error", tell);
      socket.write(page("hello"));
    });
    expect((await check(way, { url: `http://web.rig:${port}/` })).verdict).toBe("ok");
    expect((await ended).code).toBe("ECONNRESET");
  });
});

describe.each(["node", "native"] as const)("website check, %s sockets", (path) => {
  describe("answers", () => {
    it("passes on an accepted status, with the time it took", async () => {
      const { port } = await fixed(page("hello"));
      const outcome = await check(path, { url: `http://web.rig:${port}/` });
      expect(outcome).toMatchObject({ verdict: "ok", certificate: null, peerAnswered: true });
      expect(outcome.latencyMs).toBeGreaterThan(0);
      expect(outcome.phases).toEqual(["resolve", "connect", "request", "transfer"]);
    });

    it.each([
      ["sized", page("hello")],
      [
        "chunked with extensions and trailers",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nA: b\r\n\r\n",
      ],
      ["until close", "HTTP/1.1 200 OK\r\n\r\nhello"],
      ["HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nhello"],
      [
        "after interim responses",
        `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${page("hello")}`,
      ],
    ])("reads a body %s", async (_name, bytes) => {
      const { port } = await fixed(bytes);
      expect((await check(path, { url: `http://web.rig:${port}/`, keyword: "hello" })).verdict).toBe("ok");
    });

    it("reads what comes byte by byte", async () => {
      const { port } = await raw(async (socket) => {
        for (const byte of Buffer.from(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        )) {
          await new Promise<void>((resolve) => void socket.write(Buffer.from([byte]), () => setImmediate(resolve)));
        }
      });
      expect((await check(path, { url: `http://web.rig:${port}/`, keyword: "hello" })).verdict).toBe("ok");
    });

    it("needs no close from the server once the answer is complete", async () => {
      const { port } = await raw((socket) => void socket.write(page("hello")));
      expect((await check(path, { url: `http://web.rig:${port}/`, keyword: "hello" })).verdict).toBe("ok");
    });

    it("passes without a body", async () => {
      const { port } = await fixed("HTTP/1.1 204 No Content\r\n\r\n");
      expect((await check(path, { url: `http://web.rig:${port}/` })).verdict).toBe("ok");
    });

    it("rejects a status that is not accepted", async () => {
      const { port } = await fixed("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
      const url = `http://web.rig:${port}/`;
      expect(await check(path, { url })).toMatchObject({
        verdict: "rejected",
        message: "Answered with status 503, accepted is 200-299",
      });
      expect((await check(path, { url, accepted_statuscodes: ["200", "500-599"] })).verdict).toBe("ok");
    });

    it("sends path and query as written, credentials, and no fragment", async () => {
      let request = "";
      const { port } = await raw((socket, text) => {
        request = text;
        socket.end(page("x"));
      });
      await check(path, { url: `http://me:p%40ss@web.rig:${port}//a%2Fb?q=1&&r#frag` });
      const lines = request.toLowerCase().split("\r\n");
      expect(request.split("\r\n")[0]).toBe("GET //a%2Fb?q=1&&r HTTP/1.1");
      expect(lines).toContain(`host: web.rig:${port}`);
      expect(lines).toContain("connection: close");
      expect(request).toContain(Buffer.from("me:p@ss").toString("base64"));
    });
  });

  describe("keywords", () => {
    it("is case-sensitive and can be inverted", async () => {
      const { port } = await fixed(page("In Stock"));
      const url = `http://web.rig:${port}/`;
      expect((await check(path, { url, keyword: "In Stock" })).verdict).toBe("ok");
      expect(await check(path, { url, keyword: "in stock" })).toMatchObject({
        verdict: "rejected",
        message: "The keyword is not in the answer",
      });
      expect((await check(path, { url, keyword: "in stock", invert_keyword: true })).verdict).toBe("ok");
      expect(await check(path, { url, keyword: "Stock", invert_keyword: true })).toMatchObject({
        verdict: "rejected",
        message: "The keyword is in the answer",
      });
    });

    it.each([
      ["gzip", zlib.gzipSync("the word")],
      ["deflate", zlib.deflateSync("the word")],
      ["deflate", zlib.deflateRawSync("the word")],
      ["br", zlib.brotliCompressSync("the word")],
    ])("looks inside %s", async (coding, body) => {
      const head = `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n`;
      const { port } = await fixed(head, body);
      expect((await check(path, { url: `http://web.rig:${port}/`, keyword: "the word" })).verdict).toBe("ok");
    });

    it("reads the charset that the answer names", async () => {
      const { port } = await fixed(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=iso-8859-1\r\nContent-Length: 4\r\n\r\n",
        Buffer.from("caf\xe9", "latin1"),
      );
      expect((await check(path, { url: `http://web.rig:${port}/`, keyword: "café" })).verdict).toBe("ok");
    });

    it("says so when the compressed body cannot be read", async () => {
      const broken = await fixed(page("not gzip at all", "Content-Encoding: gzip\r\n"));
      const unknown = await fixed(page("x", "Content-Encoding: compress\r\n"));
      expect((await check(path, { url: `http://web.rig:${broken.port}/`, keyword: "gzip" })).verdict).toBe(
        "protocol-error",
      );
      expect((await check(path, { url: `http://web.rig:${unknown.port}/`, keyword: "x" })).verdict).toBe(
        "protocol-error",
      );
      const none = await fixed(page("x", "Content-Encoding: UTF-8\r\n"));
      expect((await check(path, { url: `http://web.rig:${none.port}/`, keyword: "x" })).verdict).toBe("ok");
      // A website check does not look inside.
      expect((await check(path, { url: `http://web.rig:${broken.port}/` })).verdict).toBe("ok");
    });

    it("searches the first MiB and no more", async () => {
      const filler = Buffer.alloc(1024 * 1024 - 4, "x");
      const inside = await fixed("HTTP/1.1 200 OK\r\n\r\n", filler, "word", filler);
      const outside = await fixed("HTTP/1.1 200 OK\r\n\r\n", filler, "-word", filler);
      expect((await check(path, { url: `http://web.rig:${inside.port}/`, keyword: "word" })).verdict).toBe("ok");
      expect((await check(path, { url: `http://web.rig:${outside.port}/`, keyword: "word" })).verdict).toBe("rejected");
    });
  });

  describe("redirects", () => {
    /** Answers by path: a redirect's target, or null for a page. */
    const site = (routes: Readonly<Record<string, string | null>>, code = 302) =>
      raw((socket, request) => {
        const target = routes[request.split(" ")[1] ?? ""];
        socket.end(
          target === undefined
            ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
            : target === null
              ? page("arrived")
              : `HTTP/1.1 ${code} Found\r\nLocation: ${target}\r\nContent-Length: 4\r\n\r\ngone`,
        );
      });

    it.each([301, 302, 303, 307, 308])("follows %i on a fresh connection, each hop resolved", async (code) => {
      const second = await site({ "/end": null });
      const first = await site({ "/": "/next", "/next": `http://other.rig:${second.port}/end` }, code);
      const outcome = await check(path, { url: `http://web.rig:${first.port}/`, keyword: "arrived" });
      expect(outcome).toMatchObject({
        verdict: "ok",
        hosts: [`web.rig:${first.port}`, `web.rig:${first.port}`, `other.rig:${second.port}`],
      });
      expect([first.connections(), second.connections()]).toEqual([2, 1]);
    });

    it("does not follow a redirect whose own code is accepted", async () => {
      const { port, connections } = await site({ "/": "/next" });
      expect((await check(path, { url: `http://web.rig:${port}/`, accepted_statuscodes: ["302"] })).verdict).toBe("ok");
      expect(connections()).toBe(1);
    });

    it("follows ten and no more", async () => {
      const chain = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`/${index}`, `/${index + 1}`]));
      const { port, connections } = await site({ ...chain, "/10": null });
      expect((await check(path, { url: `http://web.rig:${port}/0` })).verdict).toBe("ok");
      expect(connections()).toBe(11);
      const endless = await site(chain);
      expect(await check(path, { url: `http://web.rig:${endless.port}/0` })).toMatchObject({
        verdict: "rejected",
        message: "Redirected more than 10 times",
      });
      expect(endless.connections()).toBe(11);
    });

    it("sees a loop", async () => {
      const { port, connections } = await site({ "/a": "/b", "/b": "/a" });
      expect(await check(path, { url: `http://web.rig:${port}/a` })).toMatchObject({
        verdict: "rejected",
        message: `Redirected in a loop, back to http://web.rig:${port}/a`,
      });
      expect(connections()).toBe(2);
    });

    it("names the hop that is refused, does not exist or cannot be reached", async () => {
      const inside = await site({ "/": "http://10.0.0.1/admin" });
      expect(await check(path, { url: `http://web.rig:${inside.port}/` })).toMatchObject({
        verdict: "misconfigured",
        message: expect.stringMatching(/^After a redirect to http:\/\/10\.0\.0\.1\/admin: .*10\.0\.0\.1/),
      });
      const nowhere = await site({ "/": "http://nowhere.invalid/" });
      expect(await check(path, { url: `http://web.rig:${nowhere.port}/` })).toMatchObject({
        verdict: "unresolved",
        message: "After a redirect to http://nowhere.invalid/: The name nowhere.invalid does not exist",
      });
      const closed = await site({});
      await closed.close();
      const dead = await site({ "/": `http://web.rig:${closed.port}/` });
      expect(await check(path, { url: `http://web.rig:${dead.port}/` })).toMatchObject({
        verdict: "refused",
        message: `After a redirect to http://web.rig:${closed.port}/: Connection refused`,
      });
    });

    it.each(["ftp://web.rig/", "javascript:alert(1)", "http://"])("does not go to %s", async (target) => {
      const { port } = await site({ "/": target });
      expect(await check(path, { url: `http://web.rig:${port}/` })).toMatchObject({
        verdict: "rejected",
        message: "Redirected to an address that is not http or https",
      });
    });

    it("judges a redirect that says no place by its code", async () => {
      const { port } = await fixed("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n");
      expect(await check(path, { url: `http://web.rig:${port}/` })).toMatchObject({
        verdict: "rejected",
        message: "Answered with status 302, accepted is 200-299",
      });
    });
  });

  describe("hostile servers", () => {
    it.each([
      ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n"],
      ["noise", "\u0000\u0001\u0002\u0003 what is this"],
      ["a header without name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
      ["a NUL in a header", "HTTP/1.1 200 OK\r\nServer: a\0b\r\nContent-Length: 0\r\n\r\n"],
      ["a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello"],
      ["a length beyond numbers", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello"],
      ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"],
      ["a chunk size that is no number", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello"],
      [
        "a chunk size that overflows",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello",
      ],
      ["a chunk longer than its size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n"],
    ])("%s is a protocol error", async (_name, bytes) => {
      const { port } = await raw((socket) => void socket.write(bytes));
      expect(await check(path, { url: `http://web.rig:${port}/` })).toMatchObject({
        verdict: "protocol-error",
        peerAnswered: true,
      });
    });

    it.each([
      ["without an answer", ""],
      ["inside the headers", "HTTP/1.1 200 OK\r\nServer: x\r\n"],
      ["inside a sized body", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"],
      ["inside a chunked body", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"],
    ])("closing %s is a closed connection", async (_name, bytes) => {
      const { port } = await fixed(bytes);
      expect(await check(path, { url: `http://web.rig:${port}/` })).toMatchObject({ verdict: "closed" });
    });

    it.each(["", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello"])(
      "a reset after %j is a closed connection",
      async (bytes) => {
        const { port } = await raw((socket) => {
          if (bytes === "") socket.resetAndDestroy();
          else socket.write(bytes, () => setTimeout(() => socket.resetAndDestroy(), 20));
        });
        expect(await check(path, { url: `http://web.rig:${port}/` })).toMatchObject({ verdict: "closed" });
      },
    );

    it("endless headers are a protocol error", async () => {
      let written = 0;
      const { port } = await raw((socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        const more = () => {
          while (!socket.destroyed && socket.write(`X-${written++}: ${"y".repeat(500)}\r\n`));
        };
        socket.on("drain", more);
        more();
      });
      expect(await check(path, { url: `http://web.rig:${port}/` })).toMatchObject({ verdict: "protocol-error" });
      expect(written).toBeLessThan(50_000);
    });

    it("an endless body ends at the bound, in flat memory", async () => {
      const { port } = await raw((socket) => {
        const piece = Buffer.alloc(64 * 1024, "x");
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        const more = () => {
          while (!socket.destroyed && socket.write(piece));
        };
        socket.on("drain", more);
        more();
      });
      const url = `http://web.rig:${port}/`;
      const before = process.memoryUsage().rss;
      for (let round = 0; round < 20; round++) {
        expect((await check(path, { url })).verdict).toBe("ok");
        expect((await check(path, { url, keyword: "y" })).verdict).toBe("rejected");
      }
      expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    });

    it("a gzip bomb ends at the bound", async () => {
      const bomb = zlib.gzipSync(Buffer.alloc(100 * 1024 * 1024));
      const { port } = await fixed(
        `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`,
        bomb,
      );
      expect((await check(path, { url: `http://web.rig:${port}/`, keyword: "x" })).verdict).toBe("rejected");
    });

    it.each([
      ["says nothing", "", false],
      ["drips its headers", "HTTP/1.1 2", true],
      ["drips its body", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhel", true],
    ])("who %s times out at the deadline", async (_name, bytes, answered) => {
      let heard: () => void = () => {};
      const reached = new Promise<void>((resolve) => {
        heard = resolve;
      });
      const { port } = await raw((socket) => {
        if (bytes !== "") socket.write(bytes);
        setTimeout(heard, 50);
      });
      const outcome = await check(path, { url: `http://web.rig:${port}/` }, reached);
      expect(outcome).toMatchObject({ verdict: "timeout", peerAnswered: answered });
    });

    it("who cannot be reached is refused", async () => {
      const server = await fixed("");
      await server.close();
      expect((await check(path, { url: `http://web.rig:${server.port}/` })).verdict).toBe("refused");
    });

    it("leaves no connection open, whatever the end", async () => {
      let open = 0;
      const { port } = await raw((socket, request) => {
        open++;
        socket.on("close", () => open--);
        socket.write(request.startsWith("GET /bad") ? "garbage garbage" : `${page("hello")}`);
      });
      for (const target of ["/", "/bad"]) {
        await check(path, { url: `http://web.rig:${port}${target}` });
        await expect.poll(() => open).toBe(0);
      }
    });
  });
});
