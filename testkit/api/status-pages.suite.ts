/** Status pages: their settings by key, and what the public reads of them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { batch, liveOf, opening } from "../store/ground.suite.ts";
import { call, openWorld, type Send, type World } from "./world.suite.ts";

const DAY_MS = 86_400_000;
const POLICY =
  "default-src 'none'; script-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors";
const NASTY = "</title><script>alert(1)</script>\u202e\u0007<b onclick='x'>";

export function statusPagesSuite(server: "net" | "node"): void {
  describe("status pages", () => {
    let world: World;
    let serverId = "";
    let address = 0;
    beforeAll(async () => {
      world = await openWorld(server, { hasStatusIndex: true, trustedProxies: ["127.0.0.1"] });
      const body = { type: "http", name: "Berlin", url: "https://secret-host.test-site.org/path", tags: ["eu"] };
      serverId = (await world.send("POST", "/api/v1/servers", { body })).body.id;
      const id = Number(serverId.slice(4));
      world.sql("update monitors set created_at_ms = ?", world.clock.nowMs - 3 * DAY_MS);
      const live = liveOf(id, { status: "down", lastCheckedAtMs: world.clock.nowMs });
      const incidents = [opening(id, world.clock.nowMs - 3_600_000)];
      await world.controlPlane.sink.apply(batch(1, { live: [live], incidents }));
    });
    afterAll(() => world.close());

    /** From an address of its own each time, so that no test is in the gate of another. */
    const visit = (path: string, send: Send = {}, method = "GET") =>
      world.send(method, path, {
        key: null,
        project: null,
        ...send,
        headers: { "x-forwarded-for": `198.51.100.${++address % 250}`, ...send.headers },
      });
    const create = async (slug: string, more: object = {}) => {
      const component = { servers: { tags: ["eu"] }, title: "Frankfurt", merge: "worst" };
      const groups = [{ title: "Europe", components: [component] }];
      const body = { slug, title: `Page ${slug}`, published: true, groups, ...more };
      return (await world.send("POST", "/api/v1/status-pages", { body })).body;
    };
    const put = (id: string, body: object) => world.send("PUT", `/api/v1/status-pages/${id}`, { body });

    it("are not changed over what another has changed since they were read", async () => {
      const made = await create("two-editors");
      const read = made.updated_at;
      const first = await put(made.id, { text: "first", if_updated_at: read });
      expect(first.status).toBe(200);
      const second = await put(made.id, { text: "second", if_updated_at: read });
      expect(second).toMatchObject({
        status: 409,
        body: { message: "The status page is another by now: read it again." },
      });
      expect((await put(made.id, { text: "second", if_updated_at: first.body.updated_at })).status).toBe(200);
      expect((await put(made.id, { text: "third" })).body.text).toBe("third");
      for (const wrong of ["soon", 1, null])
        expect((await put(made.id, { if_updated_at: wrong })).status, String(wrong)).toBe(400);
    });

    it("are made with what is left out as usual, changed in parts, listed and deleted", async () => {
      const made = await create("crud", { domians: [], domains: ["CRUD.acme.org"] });
      expect(made).toMatchObject({
        id: expect.stringMatching(/^spg_\d+$/),
        slug: "crud",
        published: true,
        listed: false,
        access: { type: "public" },
        domains: ["crud.acme.org"],
        timezone: "UTC",
        days: 90,
        show: { uptime: true, latency: false, certificate: false, incidents_days: 30 },
        groups: [{ title: "Europe", open: "problems", components: [{ merge: "worst", text: "" }] }],
        warnings: ['unknown field "domians" was ignored; did you mean "domains"?'],
      });
      const path = `/api/v1/status-pages/${made.id}`;
      expect((await put(made.id, { show: { latency: true }, links: { home: "https://acme.org" } })).body).toMatchObject(
        {
          title: "Page crud",
          show: { uptime: true, latency: true },
          links: { home: "https://acme.org/", contact: null },
        },
      );
      const list = (await world.send("GET", "/api/v1/status-pages")).body;
      expect(list.status_pages.map(({ slug }: { slug: string }) => slug)).toContain("crud");
      expect((await world.send("DELETE", path)).body).toEqual({ success: true, id: made.id });
      expect((await world.send("GET", path)).status).toBe(404);
      expect((await visit("/status/crud")).status).toBe(404);
    });

    it.each([
      [{ slug: "-a" }, 400, /^slug must be/],
      [{ title: " " }, 400, /^title must be/],
      [{ domains: ["127.0.0.1"] }, 400, /^domains must be names/],
      [{ timezone: "Mars/Base" }, 400, /^timezone must be/],
      [{ accent: "red" }, 400, /^accent must be/],
      [{ css: "a".repeat(32_769) }, 400, /^css must be/],
      [{ logo: "https://acme.org/logo.png" }, 400, /^logo must be a data URL/],
      [{ logo: `data:image/png;base64,${"A".repeat(90_000)}` }, 400, /^logo must be/],
      [{ links: { home: "javascript:alert(1)" } }, 400, /^links.home must be/],
      [{ access: { type: "password" } }, 400, /^access.password is required/],
      [{ access: { type: "secret" } }, 400, /^access.type must be/],
      [{ days: 91 }, 400, /^days must be/],
      [{ groups: [{ title: "g", components: [{ servers: {}, title: "x" }] }] }, 400, /servers must name monitors/],
      [
        { groups: [{ title: "g", components: [{ servers: { all: true }, merge: "share" }] }] },
        400,
        /title is required/,
      ],
      [{ groups: Array.from({ length: 51 }, () => ({ title: "g", components: [] })) }, 400, /^groups must be/],
    ])("are refused with %o", async (over, status, message) => {
      const body = { slug: "refused", title: "t", ...over };
      const answer = await world.send("POST", "/api/v1/status-pages", { body });
      expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)]);
    });

    it("have one slug and one domain for all", async () => {
      await create("one", { domains: ["one.acme.org"] });
      const body = { slug: "one", title: "t" };
      expect((await world.send("POST", "/api/v1/status-pages", { body })).status).toBe(409);
      const other = { slug: "two", title: "t", domains: ["one.acme.org"] };
      expect((await world.send("POST", "/api/v1/status-pages", { body: other })).status).toBe(409);
    });

    it("show lines, days and incidents, without script, and nothing of their targets", async () => {
      await create("shown", { text: "**All** of it", css: "h1{color:red}", accent: "#123456" });
      const answer = await visit("/status/shown");
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "public, max-age=10, stale-while-revalidate=60, stale-if-error=86400",
        "content-security-policy": `${POLICY} 'none'`,
      });
      const { text } = answer;
      for (const part of ["Page shown", "<strong>All</strong>", "Frankfurt is down", "Europe", "All systems are down"])
        expect(text).toContain(part);
      for (const secret of ["secret-host", "srv_", "inc_", "Berlin", "<script", " style=", "connection refused"])
        expect(text).not.toContain(secret);
      const known = await visit("/status/shown", { headers: { "if-none-match": answer.headers.etag ?? "" } });
      expect(known).toMatchObject({ status: 304, text: "" });
      const style = await visit("/status/shown/style.css");
      expect(style.headers["content-type"]).toBe("text/css; charset=utf-8");
      expect(style.text).toMatch(/--accent:#123456[\s\S]*h1\{color:red\}$/);
      expect(style.text.length).toBeLessThan(6_144 + 14);
      const [, incident = ""] = /href="shown\/incidents\/([\w-]{16})"/.exec(text) ?? [];
      expect((await visit(`/status/shown/incidents/${incident}`)).text).toContain("Frankfurt is down");
      expect((await visit("/status/shown/incidents/inc_1")).status).toBe(404);
      const summary = await visit("/status/shown/summary.json");
      expect(summary.headers["access-control-allow-origin"]).toBe("*");
      expect(summary.body).toMatchObject({
        status: "down",
        groups: [{ title: "Europe", components: [{ title: "Frankfurt", status: "down" }] }],
      });
      expect(summary.text).not.toMatch(/secret-host|srv_|inc_|Berlin/);
      expect((await visit("/status/shown/logo")).status).toBe(404);
      expect((await visit("/status/shown/other.txt")).status).toBe(404);
    });

    it("are missed in the reader's language, whether there is none or it is closed to him, and within a page in its own", async () => {
      await create("closed", { access: { type: "link" }, language: "zh" });
      const made = await create("persian", { language: "fa" });
      const asking = (path: string, language: string) => visit(path, { headers: { "accept-language": language } });
      const none = await asking("/status/nowhere", "de, ru-RU;q=0.9, en;q=0.5");
      expect([none.status, none.text]).toEqual([404, expect.stringContaining("Такой страницы нет")]);
      expect(none.text).toContain('<html lang="ru"');
      expect((await asking("/status/closed", "de, ru-RU;q=0.9, en;q=0.5")).text).toBe(none.text);
      expect((await visit("/status/nowhere")).text).toContain("There is no such page");
      expect((await asking("/status/persian/incidents/none", "ru")).text).toContain('<html lang="fa" dir="rtl"');
      const list = await asking("/status", "zh-CN");
      expect([list.text, list.headers.vary]).toEqual([expect.stringContaining('<html lang="zh"'), "Accept-Language"]);
      await world.send("DELETE", `/api/v1/status-pages/${made.id}`);
    });

    it("are 404 as drafts, and are announced where they want to be", async () => {
      const { id } = await create("draft", { published: false, listed: true });
      expect((await visit("/status/draft")).status).toBe(404);
      expect((await visit("/status")).text).not.toContain("Page draft");
      // Its makers see what readers will, and it is kept for no others.
      const seen = await visit("/status/draft", { key: world.key });
      expect([seen.status, seen.text]).toEqual([200, expect.stringContaining("This is a draft")]);
      expect(seen.headers["cache-control"]).toContain("private");
      expect((await visit("/status/draft", { key: "uk1_wrong" })).status).toBe(404);
      for (const path of ["/style.css", "/feed.atom", "/summary.json"])
        expect((await visit(`/status/draft${path}`)).status).toBe(404);
      const badge = seen.text.match(/badge\/[^"]*status\.svg/)?.[0] ?? "none";
      expect((await visit(`/${badge}`)).status).toBe(404);
      await put(id, { access: { type: "password", password: "correct horse" } });
      expect((await visit("/status/draft", { raw: "password=wrong" }, "POST")).status).toBe(404);
      await put(id, { published: true, access: { type: "public" } });
      expect((await visit("/status/draft")).status).toBe(200);
      expect((await visit("/status/draft")).text).not.toContain("This is a draft");
      expect((await visit("/status")).text).toContain("Page draft");
      await put(id, { access: { type: "session" } });
      expect((await visit("/status")).text).not.toContain("Page draft");
      const slashed = await visit("/status/?x=1");
      expect([slashed.status, slashed.headers.location]).toEqual([308, "../status?x=1"]);
    });

    it("show announcements and what was written for readers, whatever stands in it", async () => {
      const { id } = await create("said", { title: NASTY });
      const path = `/api/v1/status-pages/${id}/updates`;
      const ends = new Date(world.clock.nowMs + DAY_MS).toISOString();
      const body = {
        title: NASTY,
        text: "# big\n<script>x</script>[a](javascript:x)",
        level: "maintenance",
        ends_at: ends,
      };
      const made = (await world.send("POST", path, { body })).body;
      expect(made).toMatchObject({ id: expect.stringMatching(/^spu_/), level: "maintenance", ends_at: ends });
      const incident = (await world.send("GET", "/api/v1/incidents")).body.incidents[0].id;
      const note = { text: `public ${NASTY}`, public: true };
      await world.send("POST", `/api/v1/incidents/${incident}/notes`, { body: note });
      await world.send("POST", `/api/v1/incidents/${incident}/notes`, { body: { text: "for us alone" } });
      const report = { title: "Router lost", postmortem: "*because*", public: true };
      await world.send("PUT", `/api/v1/incidents/${incident}/report`, { body: report });
      expect((await world.send("GET", `/api/v1/incidents/${incident}`)).body.report).toEqual(report);
      const { text } = await visit("/status/said");
      expect(text).not.toMatch(/<script|for us alone|\u202e|<b onclick|href="javascript/);
      expect(text).toContain("public &lt;/title&gt;");
      expect(text).toContain("Router lost");
      expect((await world.send("GET", path)).body).toMatchObject({ total: 1 });
      const changed = await world.send("PUT", `${path}/${made.id}`, { body: { title: "Quiet" } });
      expect(changed.body).toMatchObject({ title: "Quiet", level: "maintenance" });
      expect((await visit("/status/said")).text).toContain("Quiet");
      for (const name of ["feed.atom", "feed.rss", "feed.json"]) {
        const feed = await visit(`/status/said/${name}`);
        expect([feed.status, feed.text.includes("Router lost"), feed.text.includes("\u202e")]).toEqual([
          200,
          true,
          false,
        ]);
      }
      expect((await world.send("DELETE", `${path}/${made.id}`)).status).toBe(200);
      expect((await world.send("DELETE", `${path}/${made.id}`)).status).toBe(404);
      await world.send("PUT", `/api/v1/incidents/${incident}/report`, { body: { public: false } });
      world.clock.nowMs += 16_000;
    });

    it("let in who has the link, until there is another", async () => {
      const made = await create("linked", { access: { type: "link" } });
      const query = new URL(made.access.url).search;
      expect((await visit("/status/linked")).status).toBe(404);
      const page = await visit(`/status/linked${query}`);
      expect(page.headers["cache-control"]).toBe("private, no-cache");
      expect(page.text).toContain(`linked/style.css${query}`);
      expect((await visit(`/status/linked/feed.atom${query}`)).status).toBe(200);
      const rotated = (await put(made.id, { access: { type: "link", rotate: true } })).body;
      expect(rotated.access.url).not.toBe(made.access.url);
      expect((await visit(`/status/linked${query}`)).status).toBe(404);
      expect((await visit(`/status/linked${new URL(rotated.access.url).search}`)).status).toBe(200);
    });

    it("let in who knows the password, by a form of their own", async () => {
      const { id } = await create("locked", { access: { type: "password", password: "correct horse" } });
      const closed = await visit("/status/locked");
      expect([closed.status, closed.headers["cache-control"]]).toEqual([403, "no-store"]);
      expect(closed.text).toContain('<form class="card" method="post" action="locked">');
      expect(closed.text).not.toContain("Frankfurt");
      const host = `127.0.0.1:${world.api.port}`;
      const post = (password: string, headers: Record<string, string>) =>
        visit("/status/locked", { raw: new URLSearchParams({ password }).toString(), headers }, "POST");
      const own = { origin: `http://${host}`, "sec-fetch-site": "same-origin" };
      expect((await post("correct horse", { ...own, origin: "https://evil.test-site.org" })).status).toBe(403);
      expect((await post("correct horse", { ...own, "sec-fetch-site": "cross-site" })).status).toBe(403);
      expect((await post("correct horse", {})).status).toBe(403);
      const wrong = await post("wrong", own);
      expect([wrong.status, wrong.text.includes('role="alert"')]).toEqual([403, true]);
      const right = await post("correct horse", own);
      expect([right.status, right.headers.location]).toEqual([303, "locked"]);
      const [cookie = ""] = (right.headers["set-cookie"] ?? "").split(";");
      expect(right.headers["set-cookie"]).toMatch(
        /^sonde-page-locked=\d+\.[\w-]{43}; HttpOnly; SameSite=Lax; Max-Age=/,
      );
      expect((await visit("/status/locked", { headers: { cookie } })).text).toContain("Frankfurt");
      expect((await visit("/status/locked", { headers: { cookie: `${cookie}x` } })).status).toBe(403);
      const answer = await put(id, { access: { type: "password", password: "another one" } });
      expect(answer.text).not.toContain("another one");
      expect((await visit("/status/locked", { headers: { cookie } })).status).toBe(403);
    });

    it("let in who is signed in to the project", async () => {
      await create("inside", { access: { type: "session" } });
      expect((await visit("/status/inside")).status).toBe(403);
      expect((await visit("/status/inside", { key: world.key })).status).toBe(200);
      const headers = { "x-forwarded-for": "198.51.100.41" };
      const guess = async () => (await visit("/status/inside", { key: "uk1_wrong", headers })).status;
      expect(await guess()).toBe(403);
      for (let tried = 1; tried < 60; tried += 1) await guess();
      expect(await guess()).toBe(429);
    });

    it("stand at domains of their own", async () => {
      await create("domain", { domains: ["status.acme.org"], frame: "*" });
      const at = (host: string) => call(world.api.port, "GET", "/", { host, "x-forwarded-for": "192.0.2.77" });
      const own = await at("status.acme.org:8443");
      expect(own.status).toBe(200);
      expect(own.text).toContain('href="status/domain/style.css"');
      expect(own.headers["content-security-policy"]).toBe(`${POLICY} *`);
      expect((await at("STATUS.acme.org.")).text).toBe(own.text);
      expect((await at("other.acme.org")).status).toBe(302);
      await create("neighbour");
      const of = async (path: string) =>
        (await call(world.api.port, "GET", path, { host: "status.acme.org", "x-forwarded-for": "192.0.2.77" })).status;
      expect(await of("/status/domain/style.css")).toBe(200);
      for (const path of ["", "/feed.atom", "/incidents/x"]) expect(await of(`/status/neighbour${path}`)).toBe(404);
      expect((await visit("/status/neighbour")).status).toBe(200);
      expect((await visit("/")).status).toBe(302);
    });

    it("have badges whose addresses cannot be guessed", async () => {
      const { badge } = await create("badges");
      const token = badge.split("/").at(-1);
      const image = await visit(`/badge/${token}/status.svg?label=%3Cb%3Eeu`);
      expect(image.headers).toMatchObject({
        "content-type": "image/svg+xml; charset=utf-8",
        "cross-origin-resource-policy": "cross-origin",
      });
      expect(image.text).toContain("&lt;b&gt;eu: down");
      expect(JSON.parse((await visit(`/badge/${token}/status.json`)).text)).toEqual({
        schemaVersion: 1,
        label: "status",
        message: "down",
        color: "red",
      });
      const summary = (await visit("/status/badges/summary.json")).body;
      const line = summary.groups[0].components[0].badge.split("/").at(-1);
      expect((await visit(`/badge/${line}/uptime.svg?days=7&style=flat-square`)).text).toMatch(
        /uptime: \d+(\.\d\d)? %/,
      );
      expect((await visit(`/badge/${line}/latency.json`)).text).toContain("no data");
      expect((await visit(`/badge/${line}/uptime.svg?days=91`)).status).toBe(400);
      expect((await visit(`/badge/${line}/uptime.svg?style=plastic`)).status).toBe(400);
      const other = `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`;
      for (const path of [`${other}/status.svg`, `${token}/status.gif`, `${token}/other.svg`, "x/status.svg"])
        expect((await visit(`/badge/${path}`)).status).toBe(404);
    });

    it("refuse an address that asks more than 120 times a minute", async () => {
      await create("gate");
      const headers = { "x-forwarded-for": "203.0.113.9" };
      for (let n = 0; n < 120; n++) await visit("/status/gate/style.css", { headers });
      const refused = await visit("/status/gate", { headers });
      expect(refused.status).toBe(429);
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
      expect((await visit("/status/gate")).status).toBe(200);
    });
  });
}
