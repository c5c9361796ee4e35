/** Hostile callers: bodies, paths and connections that no client sends by mistake. */
import { connect, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, openWorld, type World } from "./world.suite.ts";

export function hostileSuite(server: "net" | "node"): void {
  describe("hostile input", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server, {}, { bodyTimeoutMs: 1_000 });
    });
    afterAll(() => world.close());
    const post = (raw: string | Uint8Array) => world.send("POST", "/api/v1/servers", { raw });
    const stored = async () => (await world.send("GET", "/api/v1/servers?family=all")).body.total;

    it.each([
      ["nothing", ""],
      ["not JSON", "{"],
      ["an array", "[]"],
      ["null", "null"],
      ["a text", '"a"'],
      ["a number", "1"],
      ["trailing text", "{} x"],
      ["NaN", '{"interval":NaN}'],
      ["deep nesting", `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
      ["a hundred thousand members", `{"a":[${"0,".repeat(100_000)}0]}`],
      ["deep objects", `${'{"a":'.repeat(50)}1${"}".repeat(50)}`],
      ["half a character", '{"type":"http","name":"\\ud800","url":"https://a.test-site.org/"}'],
      ["half a character in a list", '{"type":"http","name":"a","url":"https://a.test-site.org/","tags":["\\udc00"]}'],
      ["invalid UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ])("refuses a body that is %s", async (_, raw) => {
      expect((await post(raw)).body).toEqual({ error: true, code: 400, message: "Invalid JSON body" });
      expect(await stored()).toBe(0);
    });

    it("does not let prototype keys in, and takes the last of two equal keys", async () => {
      const answer = await post(
        '{"type":"http","name":"first","name":"second","url":"https://a.test-site.org/","__proto__":{"active":false,"interval":1},"constructor":{"prototype":{"x":1}}}',
      );
      expect(answer.body).toMatchObject({ name: "second", active: true, interval: 180 });
      expect(Object.hasOwn(Object.prototype, "active")).toBe(false);
      await world.send("DELETE", `/api/v1/servers/${answer.body.id}`);
    });

    it("refuses bodies that are too long, however they come", async () => {
      const long = `{"name":"${"x".repeat(1_200_000)}"}`;
      expect((await post(long)).body).toMatchObject({ code: 413 });
      const chunked = await rawRequest(
        world.api.port,
        [
          `POST /api/v1/servers HTTP/1.1\r\nHost: a\r\nX-API-Key: ${world.key}\r\nX-Project-Id: 1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`,
          `${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`,
        ],
        /\r\n\r\n.*\}/s,
      );
      expect(chunked).toMatch(/^HTTP\/1\.1 413/);
      // Refused by its head alone, as the document says of every answer to a key.
      const headOnly = `POST /api/v1/servers HTTP/1.1\r\nHost: a\r\nX-API-Key: ${world.key}\r\nContent-Length: 99999999\r\n\r\n`;
      expect(await rawRequest(world.api.port, [headOnly], /\r\n\r\n.*\}/s)).toMatch(
        /^HTTP\/1\.1 413.*\r\nCache-Control: no-store\r\n/is,
      );
      expect(await stored()).toBe(0);
    });

    it("ignores bodies where there are none to read", async () => {
      expect((await world.send("GET", "/api/v1/servers", { raw: "{" })).status).toBe(200);
      expect((await world.send("DELETE", "/api/v1/servers/1", { raw: "\u0000" })).body.code).toBe(404);
    });

    it.each([
      "/api/v1/servers/%",
      "/api/v1/servers/%ff",
      "/api/v1/servers/%2e%2e%2f",
      "/api/v1/servers/1%00",
      "/api/v1/servers/-1",
      "/api/v1/servers/1e3",
      "/api/v1/servers/0x1",
      "/api/v1/servers/constructor",
      "/api/v1/servers/__proto__",
      `/api/v1/servers/${"9".repeat(400)}`,
    ])("refuses the id of %s", async (path) => {
      expect((await world.send("GET", path)).body).toEqual({ error: true, code: 400, message: "Invalid server ID" });
    });

    it.each([
      "?limit=%",
      "?name=%ff%fe",
      "?name=%00",
      "?&&=&=1&limit",
      "?__proto__=1&constructor=2",
      "?limit=5&limit=x",
    ])("reads the query %s without harm", async (query) => {
      expect((await world.send("GET", `/api/v1/servers${query}`)).status).toBeLessThan(500);
      expect((await world.send("GET", `/api/v1/servers/search${query}`)).status).toBeLessThan(500);
    });

    it("answers whatever header names RFC 9110 allows", async () => {
      const headers = { X_Id: "1", "a!#$%&'*+.^`|~b": "2" };
      expect((await world.send("GET", "/api/v1/servers", { headers })).status).toBe(200);
    });

    it("bounds floods of headers", async () => {
      const warnings: string[] = [];
      const hear = ({ message }: Error): void => void warnings.push(message);
      process.on("warning", hear);
      // Endless ones end the connection.
      const socket = connect(world.api.port, "127.0.0.1");
      const ended = new Promise<number>((settle) => {
        let sent = 0;
        const more = (): void => {
          while (!socket.destroyed) {
            sent += 1_024;
            if (!socket.write(`X-Flood-${sent}: ${"x".repeat(1_000)}\r\n`)) break;
          }
        };
        socket.on("drain", more);
        socket.on("connect", () => {
          socket.write("GET /api/v1/health HTTP/1.1\r\nHost: a\r\n");
          more();
        });
        socket.on("data", () => {});
        socket.on("error", () => {});
        socket.on("close", () => settle(sent));
      });
      expect(await ended).toBeLessThan(64 * 2 ** 20);
      expect((await world.send("GET", "/api/v1/health")).status).toBe(200);
      process.off("warning", hear);
      // Nothing listens once more for each piece that comes after the refusal.
      expect(warnings).toEqual([]);
    });

    it.each([
      "GARBAGE\r\n\r\n",
      "\u0000\u0001\u0002\r\n\r\n",
      "GET\r\n\r\n",
      "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
      "\u0016\u0003\u0001\u0002",
    ])("survives %j on the wire", async (text) => {
      await rawRequest(world.api.port, [text], /./s, 300);
      expect((await world.send("GET", "/api/v1/health")).status).toBe(200);
    });

    it("ends a connection whose body drips", async () => {
      const head = `POST /api/v1/servers HTTP/1.1\r\nHost: a\r\nX-API-Key: ${world.key}\r\nX-Project-Id: 1\r\nContent-Length: 1000\r\n\r\n{`;
      expect(await rawRequest(world.api.port, [head], null)).not.toMatch(/ 200 /);
    });

    it("goes on when a caller hangs up before the answer", async () => {
      for (let index = 0; index < 20; index++) {
        const socket = connect(world.api.port, "127.0.0.1");
        socket.on("error", () => {});
        socket.end(`GET /api/v1/servers HTTP/1.1\r\nHost: a\r\nX-API-Key: ${world.key}\r\nX-Project-Id: 1\r\n\r\n`);
        socket.destroy();
      }
      expect((await world.send("GET", "/api/v1/health")).status).toBe(200);
    });

    it("ends a connection whose headers drip", async () => {
      const socket = connect(world.api.port, "127.0.0.1");
      let sent = 0;
      await new Promise<void>((settle) => {
        socket.on("connect", () => {
          socket.write("GET /api/v1/health HTTP/1.1\r\nHost: a\r\n");
          // One byte now and then keeps a timer that counts from the last byte alive for ever.
          const drip = setInterval(() => {
            sent += 1;
            if (socket.writable) socket.write("x");
          }, 200);
          socket.on("close", () => {
            clearInterval(drip);
            settle();
          });
        });
        socket.on("data", () => {});
        socket.on("error", () => {});
      });
      expect(sent).toBeGreaterThan(0);
      expect((await world.send("GET", "/api/v1/health")).status).toBe(200);
    });

    it("lets callers hang up in the middle of a body, and keeps nothing of it", async () => {
      const head = `POST /api/v1/servers HTTP/1.1\r\nHost: a\r\nX-API-Key: ${world.key}\r\nX-Project-Id: 1\r\nContent-Length: 1000000\r\n\r\n`;
      const half = `{"name":"${"x".repeat(500_000)}`;
      const hangUp = (): Promise<void> =>
        new Promise((settle) => {
          const socket = connect(world.api.port, "127.0.0.1", () => {
            socket.write(head);
            socket.write(half, () => socket.destroy());
          });
          socket.on("error", () => {});
          socket.on("close", () => settle());
        });
      const hangUps = async (times: number): Promise<void> => {
        for (let index = 0; index < times; index++) await hangUp();
        // Its answer stands behind whatever the server has to tidy up.
        await world.send("GET", "/api/v1/health");
      };
      await hangUps(20);
      const before = usedBytes();
      await hangUps(100);
      await grewByLessThan(16 * 2 ** 20, before);
    });

    it("holds thousands of idle connections, and answers beside them", async () => {
      // With the timeouts that are usual: here they stand idle for longer than a second.
      const patient = await openWorld(server);
      const round = async (): Promise<void> => {
        const sockets: Awaited<ReturnType<typeof open>>[] = [];
        // No more at once than wait for accept(2) with a server's usual backlog of 511: the kernel forgets the others for seconds.
        while (sockets.length < 2_000)
          sockets.push(...(await Promise.all(Array.from({ length: 250 }, () => open(patient.api.port)))));
        expect((await patient.send("GET", "/api/v1/health")).status).toBe(200);
        const request = `GET /api/v1/servers HTTP/1.1\r\nHost: a\r\nX-API-Key: ${patient.key}\r\nX-Project-Id: 1\r\n\r\n`;
        const answers = await Promise.all(sockets.map((socket) => asked(socket, request)));
        expect(answers.filter((text) => text.startsWith("HTTP/1.1 200")).length).toBe(2_000);
        await Promise.all(sockets.map((socket) => closed(socket)));
      };
      await round();
      const before = usedBytes();
      await round();
      await patient.send("GET", "/api/v1/health");
      await grewByLessThan(16 * 2 ** 20, before);
      await patient.close();
    }, 180_000);

    it("answers a thousand pipelined requests, in their order", async () => {
      const count = 1_000;
      const paths = Array.from({ length: count }, (_, index) => `/api/v1/servers/${index + 100_000}x`);
      const requests = paths.map(
        (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${world.key}\r\nX-Project-Id: 1\r\n\r\n`,
      );
      const last = "GET /api/v1/regions HTTP/1.1\r\nHost: a\r\n\r\n";
      const answers = await rawRequest(world.api.port, [requests.join("") + last], /Netherlands/);
      expect(answers.match(/HTTP\/1\.1 400/g)?.length).toBe(count);
      expect(answers.match(/HTTP\/1\.1 \d+/g)?.at(-1)).toBe("HTTP/1.1 200");
    });

    it("answers pipelined requests in their order", async () => {
      const one = (path: string, method = "GET") =>
        `${method} ${path} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${world.key}\r\nX-Project-Id: 1\r\n\r\n`;
      const answers = await rawRequest(
        world.api.port,
        [
          one("/api/v1/servers") +
            one("/api/v1/nope") +
            one("/api/v1/health", "HEAD") +
            one("/api/v1/health", "OPTIONS") +
            one("/api/v1/regions"),
        ],
        /Netherlands/,
      );
      expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual([
        "HTTP/1.1 200",
        "HTTP/1.1 404",
        "HTTP/1.1 200",
        "HTTP/1.1 204",
        "HTTP/1.1 200",
      ]);
    });
  });

  describe("start and stop", () => {
    it("says in one line that a port is taken", async () => {
      const world = await openWorld(server);
      await expect(openWorld(server, { port: world.api.port })).rejects.toThrow(
        `127.0.0.1 port ${world.api.port} is taken: stop what listens there, or set SONDE_PORT to another port`,
      );
      await world.close();
    });

    it("answers what a kept connection still brings, ends it then, and waits for no longer", async () => {
      const world = await openWorld(server, {}, { lingerMs: 3_600_000, drainTimeoutMs: 3_600_000 });
      const health = "GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n";
      const kept = await open(world.api.port);
      expect(await asked(kept, health)).not.toMatch(/^connection: close/im);
      const ended = world.api.close();
      while (await isListening(world.api.port)) await new Promise((settle) => setImmediate(settle));
      kept.removeAllListeners("close");
      const last = await asked(kept, health);
      expect(last).toMatch(/^HTTP\/1\.1 200/);
      expect(last).toMatch(/^connection: close/im);
      await ended;
      await world.close();
    });

    it("does not wait for connections that bring nothing", async () => {
      const world = await openWorld(server, {}, { lingerMs: 50 });
      const idle = await open(world.api.port);
      const ended = new Promise((settle) => idle.once("close", settle));
      expect(await asked(idle, "GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n")).toMatch(/^HTTP\/1\.1 200/);
      await world.api.close();
      await ended;
      await world.close();
    });

    it("answers what is in flight before it closes", async () => {
      let release = (): void => {};
      const asked = new Promise<void>((seen) => {
        release = seen;
      });
      let finish = (): void => {};
      const world = await openWorld(
        server,
        {},
        {},
        {
          metrics: () =>
            new Promise<string>((settle) => {
              finish = () => settle("sonde_up 1\n");
              release();
            }),
        },
      );
      const answer = call(world.api.port, "GET", "/metrics", {});
      await asked;
      const closed = world.api.close();
      finish();
      expect((await answer).text).toMatch(/^sonde_up 1\n/);
      await closed;
      await expect(call(world.api.port, "GET", "/metrics", {})).rejects.toThrow();
      await world.close();
    });
  });
}

/** Once what ended has been let go of: that takes some turns of the loop, and what is kept is kept for ever. */
async function grewByLessThan(bytes: number, before: number): Promise<void> {
  for (let look = 0; look < 100 && usedBytes() - before >= bytes; look++)
    await new Promise((settle) => setTimeout(settle, 50));
  expect(usedBytes() - before).toBeLessThan(bytes);
}

/** What this process holds after all garbage is gone. */
function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

function isListening(port: number): Promise<boolean> {
  return open(port).then(
    (socket) => {
      socket.destroy();
      return true;
    },
    () => false,
  );
}

function open(port: number): Promise<Socket> {
  return new Promise((settle, fail) => {
    const socket = connect(port, "127.0.0.1", () => settle(socket));
    socket.once("error", fail);
  });
}

/** The first bytes of the answer. */
function asked(socket: Socket, request: string): Promise<string> {
  return new Promise((settle, fail) => {
    socket.once("data", (chunk: Buffer) => settle(chunk.toString("latin1")));
    socket.once("close", () => fail(new Error("the connection ended before its answer")));
    socket.write(request);
  });
}

function closed(socket: Socket): Promise<void> {
  return new Promise((settle) => {
    socket.removeAllListeners("close");
    socket.once("close", () => settle());
    socket.destroy();
  });
}

/** Sends bytes, and reads until the text matches, or the connection ends. */
function rawRequest(port: number, parts: readonly string[], until: RegExp | null, atMostMs = 15_000): Promise<string> {
  return new Promise((settle) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => {
      for (const part of parts) socket.write(part);
    });
    const timer = setTimeout(() => socket.destroy(), atMostMs);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      if (until?.test(text)) socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      settle(text);
    });
  });
}
