/** What needs no key: health, regions, the document, metrics, heartbeats. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { validate } from "./document.suite.ts";
import { openWorld, START_MS, type World } from "./world.suite.ts";

export function publicSuite(server: "net" | "node"): void {
  describe("public endpoints", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());
    const get = (path: string, headers = {}) => world.send("GET", path, { key: null, project: null, headers });

    it("tell health, shallow and deep", async () => {
      world.clock.nowMs = START_MS + 86_400_500;
      const shallow = await get("/api/v1/health");
      const basics = { status: "ok", version: "0.1.0", uptime: 86_400, timestamp: "2026-11-22T06:10:05.750Z" };
      expect(shallow.body).toEqual(basics);
      expect(shallow.headers["cache-control"]).toBe("no-store");
      expect(shallow.headers["x-ratelimit-limit"]).toBeUndefined();
      const component = { status: "ok", latency_ms: expect.any(Number) };
      expect((await get("/api/v1/health/deep")).body).toEqual({
        ...basics,
        checks: { database: component, queue: component },
      });
      world.state.isAway = true;
      world.clock.nowMs += 2_000;
      const failed = await get("/api/v1/health/deep");
      expect(failed.status).toBe(503);
      expect(failed.body).toEqual({
        error: true,
        code: 503,
        message: "Health check failed",
        details: { checks: { database: component, queue: { status: "error", latency_ms: null } } },
      });
      world.state.isAway = false;
    });

    it("list regions, any first", async () => {
      expect((await get("/api/v1/regions")).body).toEqual({
        regions: [
          { code: "any", name: "Any location", healthy_checkers: 9, available: true },
          { code: "de", name: "Germany", healthy_checkers: 3, available: true },
          { code: "nl", name: "Netherlands", healthy_checkers: 0, available: false },
        ],
        total: 3,
      });
    });

    it("answer OPTIONS with CORS", async () => {
      const preflight = await world.send("OPTIONS", "/api/v1/regions", { key: null });
      expect([preflight.status, preflight.text]).toEqual([204, ""]);
      expect(preflight.headers).toMatchObject({
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, OPTIONS",
      });
      expect((await get("/api/v1/regions")).headers["access-control-allow-origin"]).toBe("*");
      expect((await world.send("GET", "/api/v1/servers")).headers["access-control-allow-origin"]).toBeUndefined();
    });

    it("publish a valid document in three places", async () => {
      const json = await get("/openapi.json");
      expect(await validate(json.body)).toEqual([]);
      const yaml = await get("/docs/openapi.yaml");
      expect(yaml.headers["content-type"]).toBe("application/yaml");
      expect(await validate(yaml.text)).toEqual([]);
      expect((await get("/openapi.yaml")).text).toBe(yaml.text);
    });

    it("lead a browser from the address that the start prints to the page of the document", async () => {
      for (const method of ["GET", "HEAD"] as const) {
        const answer = await world.send(method, "/", { key: null });
        expect([answer.status, answer.headers.location, answer.text]).toEqual([302, "docs", ""]);
      }
      expect((await world.send("POST", "/", { key: null })).status).toBe(405);
    });

    it("show the document as a page whose every part comes from us", async () => {
      const page = await get("/docs");
      expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
      const policy = page.headers["content-security-policy"] ?? "";
      expect(policy).toMatch(/^default-src 'none'; /);
      for (const directive of policy.split("; ")) {
        expect(directive).toMatch(/^[a-z-]+ ('none'|'self'|'self' data:)$/);
      }
      const addresses = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = ""]) => address);
      expect(addresses).toEqual(
        expect.arrayContaining(["docs/swagger-ui.css", "docs/swagger-ui-bundle.js", "docs/start.js"]),
      );
      for (const address of addresses.filter((one) => one !== "data:,")) {
        expect(address).not.toMatch(/^[a-z]+:|^\//);
        expect([address, (await get(`/${address}`)).status]).toEqual([address, 200]);
      }
      expect(page.text).not.toMatch(/<script>|<style|style=|onload=|https?:/);
      const start = await get("/docs/start.js");
      expect(start.text).toContain('url: "openapi.json"');
      expect(start.text).toContain("validatorUrl: null");
      expect(start.text).toContain("prefers-color-scheme: dark");
      const sheet = await get("/docs/swagger-ui.css");
      expect(sheet.headers["content-type"]).toBe("text/css; charset=utf-8");
      expect(sheet.text).not.toMatch(/@import|url\((?!["']?data:)/);
      expect((await get("/docs/swagger-ui-bundle.js")).text).toContain("SwaggerUIBundle");
      for (const path of ["/docs/", "/docs/index.html", "/docs/package.json", "/docs/..%2fpackage.json"]) {
        expect([path, (await get(path)).status]).toEqual([path, 404]);
      }
    });

    it.each(["/docs", "/docs/openapi.yaml", "/openapi.json", "/docs/swagger-ui.css"])(
      "answer %s anew only when it changed, and HEAD without a body",
      async (path) => {
        const first = await get(path);
        const tag = first.headers.etag ?? "";
        expect(tag).toMatch(/^"[\w-]{22}"$/);
        for (const known of [tag, `"other", W/${tag}`, "*"]) {
          const again = await get(path, { "if-none-match": known });
          expect([again.status, again.text, again.headers.etag]).toEqual([304, "", tag]);
        }
        expect((await get(path, { "if-none-match": '"other"' })).text).toBe(first.text);
        const head = await world.send("HEAD", path, { key: null });
        expect([head.status, head.text, head.headers["content-length"]]).toEqual([
          200,
          "",
          String(Buffer.byteLength(first.text)),
        ]);
      },
    );

    it("answer the token that a proxy's check asks with, and no page that a caller made up", async () => {
      const answer = await get("/verify?token=0123456789abcdef");
      expect([answer.status, answer.text, answer.headers["cache-control"]]).toEqual([
        200,
        "0123456789abcdef",
        "no-store",
      ]);
      for (const token of ["", "short", "<script>alert(1)</script>", "a".repeat(65)]) {
        expect((await get(`/verify?token=${encodeURIComponent(token)}`)).status).toBe(400);
      }
    });

    it("show metrics on loopback, or for the token", async () => {
      const metrics = await get("/metrics");
      expect(metrics.status).toBe(200);
      expect(metrics.text).toMatch(/^sonde_up 1\n/);
      expect(metrics.text).toContain(`sonde_http_server{kind="${server}"} 1\n`);
      const hints = [
        { "x-forwarded-for": "198.18.0.1" },
        { "x-forwarded-for": "127.0.0.1" },
        { forwarded: "for=127.0.0.1" },
        { "x-real-ip": "127.0.0.1" },
        { via: "1.1 proxy" },
        { host: "sonde.test-site.org" },
        { host: "127.0.0.1.test-site.org" },
      ];
      for (const hint of hints) expect([hint, (await get("/metrics", hint)).status]).toEqual([hint, 403]);
      // What is told about a proxy counts, though this request has come by none.
      for (const config of [
        { trustedProxies: ["10.0.0.0/8"] },
        { baseUrl: "https://sonde.test-site.org" },
        { host: "0.0.0.0" },
      ]) {
        const behind = await openWorld(server, config);
        expect([config, (await behind.send("GET", "/metrics", { key: null })).status]).toEqual([config, 403]);
        await behind.close();
      }
      const guarded = await openWorld(server, { metricsToken: "let-me-in" });
      const ask = (headers: Record<string, string>) => guarded.send("GET", "/metrics", { key: null, headers });
      expect((await ask({})).status).toBe(401);
      expect((await ask({ authorization: "Bearer let-me-out" })).status).toBe(401);
      expect((await ask({ authorization: "Bearer let-me-in" })).status).toBe(200);
      await guarded.close();
    });
  });

  describe("heartbeat address", () => {
    let world: World;
    let path = "";
    let id = "";
    beforeAll(async () => {
      world = await openWorld(server);
      const push = (await world.send("POST", "/api/v1/servers", { body: { type: "push", name: "Job", period: 60 } }))
        .body;
      path = new URL(push.heartbeat_url).pathname;
      id = push.id;
    });
    afterAll(() => world.close());
    const call = (query = "", method = "GET") => world.send(method, path + query, { key: null, project: null });

    it("takes any method and keeps the call before it answers", async () => {
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]) {
        const answer = await call("", method);
        expect([method, answer.status, answer.text]).toEqual([method, 200, method === "HEAD" ? "" : '{"ok":true}']);
      }
      expect(await world.controlPlane.heartbeats.inbox(100)).toHaveLength(7);
      expect(world.state.published).toContain("heartbeats");
    });

    it("reads status, msg and ping", async () => {
      await call("?status=down&msg=disk%20full&ping=12.6");
      await call("?status=UP&msg=&ping=");
      await call(`?msg=${"%C3%A9".repeat(300)}`);
      const rows = (await world.controlPlane.heartbeats.inbox(100)).slice(-3);
      expect(rows[0]).toMatchObject({ up: false, message: "disk full", pingMs: 13, atMs: world.clock.nowMs });
      expect(rows[1]).toMatchObject({ up: false, message: "OK", pingMs: null });
      expect(rows[2]).toMatchObject({ up: true, message: "é".repeat(255), pingMs: null });
    });

    it("refuses bad pings, unknown tokens and paused heartbeats with 404", async () => {
      for (const ping of ["-1", "x", "1e12", "100000000001", "0x10", "NaN", "1,5"]) {
        expect((await call(`?ping=${ping}`)).body).toEqual({
          ok: false,
          msg: "ping must be a number from 0 to 100000000000.",
        });
      }
      expect((await call("?ping=100000000000")).status).toBe(200);
      for (const token of ["x", "a".repeat(32), "%00", "..%2f"]) {
        const answer = await world.send("GET", `/api/push/${token}`, { key: null });
        expect([answer.status, answer.body.ok]).toEqual([404, false]);
      }
      await world.send("PUT", `/api/v1/servers/${id}`, { body: { active: false } });
      expect((await call()).status).toBe(404);
      await world.send("PUT", `/api/v1/servers/${id}`, { body: { active: true } });
      expect((await call()).status).toBe(200);
    });

    it("may be one that jobs call already, which one heartbeat has", async () => {
      const make = (more: Record<string, unknown>) =>
        world.send("POST", "/api/v1/servers", { body: { type: "push", name: "Moved", period: 60, ...more } });
      for (const token of ["aB3dE5gH1j", "k".repeat(64)]) {
        const made = await make({ token });
        expect([made.status, new URL(made.body.heartbeat_url).pathname]).toEqual([200, `/api/push/${token}`]);
        expect(made.body).not.toHaveProperty("token");
        expect((await world.send("GET", `/api/push/${token}?msg=moved`, { key: null })).body).toEqual({ ok: true });
        expect(await make({ token })).toMatchObject({
          status: 409,
          body: { message: "Another heartbeat has this token already." },
        });
        const change = await world.send("PUT", `/api/v1/servers/${made.body.id}`, { body: { token } });
        expect(change).toMatchObject({
          status: 400,
          body: { message: "token is read only when a heartbeat is made." },
        });
        expect((await world.send("DELETE", `/api/v1/servers/${made.body.id}`)).status).toBe(200);
        expect((await make({ token })).status).toBe(200);
        expect(world.log.join("")).not.toContain(token);
      }
      for (const token of ["short", "k".repeat(65), "with-a-dash", "", 1234567890, null, "umlautä12345"]) {
        const refused = await make({ token });
        expect([refused.status, refused.body.message]).toEqual([400, "token must be 10 to 64 letters or digits."]);
      }
      const site = { type: "http", name: "Site", url: "https://www.test-site.org/", token: "aB3dE5gH2j" };
      expect(await world.send("POST", "/api/v1/servers", { body: site })).toMatchObject({ status: 400 });
    });

    it("takes sixty calls a minute", async () => {
      world.clock.nowMs += 60_000;
      for (let index = 0; index < 60; index++) expect((await call()).status).toBe(200);
      const refused = await call();
      expect([refused.status, refused.body.ok]).toEqual([429, false]);
      world.clock.nowMs += 60_000;
      expect((await call()).status).toBe(200);
    });

    it("logs neither token nor key", () => {
      expect(world.log.length).toBeGreaterThan(50);
      expect(world.log.join("")).not.toContain(path.slice(10));
      expect(world.log.join("")).not.toContain(world.key);
    });
  });
}
