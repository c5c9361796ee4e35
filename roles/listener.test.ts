import { get } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseListen, startRoleListener } from "./listener.ts";

describe("parseListen", () => {
  it("reads an address and a port, or a port of loopback", () => {
    expect(parseListen("9464")).toEqual({ host: "127.0.0.1", port: 9464 });
    expect(parseListen("0.0.0.0:1")).toEqual({ host: "0.0.0.0", port: 1 });
    expect(parseListen("[::1]:65535")).toEqual({ host: "::1", port: 65_535 });
    for (const text of ["", "x", "1:2:3", "::1:1", "65536", "127.0.0.1:", "-1", " 1"]) {
      expect([text, parseListen(text)]).toEqual([text, undefined]);
    }
  });
});

it("reads any text, or says that it is no address", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[[\]:.0-9a-f]{0,30}$/)), (text) => {
      const found = parseListen(text);
      if (found !== undefined) expect(found.port >= 0 && found.port <= 65_535 && found.host !== "").toBe(true);
    }),
    { numRuns: 10_000 },
  );
});

describe("a role's listener", () => {
  it("answers metrics and health, and nothing else", async () => {
    let problems: readonly string[] = [];
    let notices: readonly string[] = [];
    let isFailing = false;
    const { port, close } = await startRoleListener({
      host: "127.0.0.1",
      port: 0,
      token: null,
      metrics: async () => {
        if (isFailing) throw new Error("no");
        return "sonde_x 1\n";
      },
      problems: () => problems,
      notices: () => notices,
    });
    const ask = async (path: string, method = "GET") => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
      return [answer.status, await answer.text()];
    };
    expect(await ask("/metrics")).toEqual([200, "sonde_x 1\n"]);
    expect(await ask("/health?a")).toEqual([200, "ok\n"]);
    notices = ["prober 1 hangs"];
    expect(await ask("/health")).toEqual([200, "ok\nprober 1 hangs\n"]);
    problems = ["Redis is away"];
    isFailing = true;
    expect(await ask("/health")).toEqual([503, "Redis is away\n"]);
    expect((await ask("/metrics"))[0]).toBe(500);
    expect((await ask("/"))[0]).toBe(404);
    expect((await ask("/health", "POST"))[0]).toBe(405);
    const second = { host: "127.0.0.1", port, token: null, metrics: async () => "", problems: () => [] };
    await expect(startRoleListener(second)).rejects.toThrow(`cannot listen on 127.0.0.1:${port} (EADDRINUSE)`);
    await close();
  });

  it("shows metrics to callers with the token, where there is one", async () => {
    const { port, close } = await startRoleListener({
      host: "127.0.0.1",
      port: 0,
      token: "word",
      metrics: async () => "sonde_x 1\n",
      problems: () => [],
    });
    const ask = async (path: string, authorization = "") =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } })).status;
    expect(await ask("/metrics")).toBe(403);
    expect(await ask("/metrics", "Bearer sword")).toBe(403);
    expect(await ask("/metrics", "Bearer word")).toBe(200);
    expect(await ask("/health")).toBe(200);
    await close();
  });

  it("shows them without a token to this machine alone", async () => {
    const start = (host: string) =>
      startRoleListener({ host, port: 0, token: null, metrics: async () => "", problems: () => [] });
    const ask = (port: number, headers: Record<string, string>): Promise<number> =>
      new Promise((settle, fail) => {
        get({ host: "127.0.0.1", port, path: "/metrics", headers }, (answer) => {
          answer.resume();
          settle(answer.statusCode ?? 0);
        }).on("error", fail);
      });
    const local = await start("127.0.0.1");
    expect(await ask(local.port, {})).toBe(200);
    for (const hint of [{ "x-forwarded-for": "127.0.0.1" }, { via: "1.1 a" }, { host: "metrics.test-site.org" }])
      expect([hint, await ask(local.port, hint)]).toEqual([hint, 403]);
    await local.close();
    const open = await start("0.0.0.0");
    expect(await ask(open.port, {})).toBe(403);
    await open.close();
  });
});
