/** Monitors through the API: what is accepted, how it reads back, every message. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PLAIN_GET } from "./requests.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

const TYPES = "Missing or invalid type: type must be one of vpn, http, keyword, ping, port, dns, push, smtp, tls.";

export function monitorsSuite(server: "net" | "node"): void {
  describe("monitors", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server, { allowNets: ["192.168.7.0/24"] });
    });
    afterAll(() => world.close());

    const create = (body: unknown) => world.send("POST", "/api/v1/servers", { body });
    const made = async (body: unknown) => {
      const answer = await create(body);
      expect([answer.status, answer.text]).toEqual([200, answer.text]);
      return answer.body;
    };
    const change = (id: string, body: unknown) => world.send("PUT", `/api/v1/servers/${id}`, { body });
    const web = { type: "http", name: "Shop", url: "https://shop.test-site.org/a?b=1" };

    it("creates a website check with every default", async () => {
      const shop = await made({ ...web, tags: [" Prod ", "prod", "EU"] });
      expect(shop).toEqual({
        id: expect.stringMatching(/^srv_\d+$/),
        name: "Shop",
        type: "http",
        protocol: "http",
        status: "unknown",
        aggregate_status: "unknown",
        active: true,
        interval: 180,
        timeout_follows_interval: false,
        latency_ms: null,
        region: null,
        locations: ["any"],
        disabled_locations: [],
        regional_status: {},
        notify_on_partial: false,
        tags: ["prod", "eu"],
        last_checked: null,
        url: web.url,
        host: null,
        domain: null,
        port: null,
        keyword: null,
        invert_keyword: false,
        accepted_statuscodes: ["200-299"],
        certificate: null,
        ssl_expiration: 14,
        domain_expiration: null,
        ip_version: null,
        ...PLAIN_GET,
      });
      expect((await world.send("GET", `/api/v1/servers/${shop.id}`)).body).toEqual(shop);
      expect((await world.send("GET", `/api/v1/servers/${shop.id.slice(4)}`)).body).toEqual(shop);
      expect(world.state.published).toContain("monitors");
    });

    it("creates every other kind", async () => {
      const keyword = await made({
        type: "keyword",
        name: "K",
        url: "http://k.test-site.org/",
        keyword: "In stock",
        invert_keyword: true,
      });
      expect(keyword).toMatchObject({ keyword: "In stock", invert_keyword: true, ssl_expiration: null });
      const ping = await made({ type: "ping", name: "P", host: "p.test-site.org", ip_version: "ipv6", interval: 60 });
      expect(ping).toMatchObject({
        host: "p.test-site.org",
        ip_version: "ipv6",
        interval: 60,
        accepted_statuscodes: [],
        url: null,
      });
      const port = await made({ type: "port", name: "D", host: "192.168.7.9", port: 5432 });
      expect(port).toMatchObject({ host: "192.168.7.9", port: 5432 });
      const dns = await made({ type: "dns", name: "Z", domain: "test-site.org", keyword: "" });
      expect(dns).toMatchObject({ host: "1.1.1.1", port: 53, domain: "test-site.org", keyword: null });
    });

    it("creates heartbeats whose address only editors see", async () => {
      const push = await made({ type: "push", name: "Backup", period: 86_400 });
      expect(push).toMatchObject({ type: "push", interval: 86_400, period: 86_400, grace: 17_280 });
      expect(push.heartbeat_url).toMatch(new RegExp(`^${world.api.url}/api/push/[A-Za-z0-9]{32}$`));
      expect(await made({ type: "push", name: "B", period: 60, grace: 0 })).toMatchObject({ grace: 0 });
      const again = (await change(push.id, { period: 90_000 })).body;
      expect(again).toMatchObject({
        interval: 90_000,
        period: 90_000,
        grace: 17_280,
        heartbeat_url: push.heartbeat_url,
      });

      const viewer = world.sql(
        "insert into users (email, email_key, name, active, created_at_ms) values ('v@x.org', 'v@x.org', null, 1, 1)",
      );
      world.sql(
        "insert into memberships (organization_id, user_id, role, created_at_ms) values (?, ?, 'viewer', 1)",
        world.organizationId,
        viewer,
      );
      const key = await world.newKey({ userId: viewer, organizationId: world.organizationId });
      const seen = (await world.send("GET", `/api/v1/servers/${push.id}`, { key })).body;
      expect(seen.heartbeat_url).toBeUndefined();
      expect(seen.period).toBe(90_000);
      const list = await world.send("GET", "/api/v1/servers?family=uptime");
      const search = await world.send("GET", "/api/v1/servers/search?q=backup");
      expect(list.text + search.text).not.toContain("/api/push/");
    });

    it.each([
      [{}, "Missing or invalid name"],
      [{ type: "http", url: web.url }, "Missing or invalid name"],
      [{ ...web, name: "  " }, "Missing or invalid name"],
      [{ ...web, name: "x".repeat(256) }, "Missing or invalid name"],
      [{ ...web, name: "a\u0000b" }, "Missing or invalid name"],
      [{ ...web, name: ["a"] }, "Missing or invalid name"],
      [{ name: "x", type: "ftp" }, TYPES],
      [{ name: "x", type: 7 }, TYPES],
      [{ name: "x", type: "__proto__" }, TYPES],
      [
        { name: "x", type: "wireguard" },
        "Missing or invalid type: a tunnel has the type vpn and the protocol wireguard.",
      ],
      [{ name: "x", type: "group" }, "Groups cannot be created through the API."],
      [{ type: "http", name: "x" }, "Missing or invalid url"],
      [{ ...web, url: "ftp://a.test-site.org/" }, "Missing or invalid url: url must begin with http:// or https://."],
      [{ ...web, url: "http:///path" }, "Missing or invalid url: url has no host."],
      [
        { ...web, url: "https://a.test-site.org:0/" },
        "Missing or invalid url: the port of url must be from 1 to 65535.",
      ],
      [{ ...web, url: "http://a!b/" }, "Missing or invalid url: the host of url is neither a name nor an address."],
      [
        { ...web, url: "http://[2606:4700::1111]/", ip_version: "ipv4" },
        "ip_version is ipv4, but 2606:4700::1111 is an IPv6 address.",
      ],
      [
        { type: "ping", name: "x", host: "9.9.9.9", ip_version: "ipv6" },
        "ip_version is ipv6, but 9.9.9.9 is an IPv4 address.",
      ],
      [{ ...web, url: 5 }, "Missing or invalid url"],
      [{ type: "keyword", name: "x", url: web.url }, "Missing or invalid keyword"],
      [
        { type: "keyword", name: "x", url: web.url, keyword: "k".repeat(256) },
        "keyword must be at most 255 characters.",
      ],
      [{ type: "ping", name: "x" }, "Missing or invalid host"],
      [{ type: "port", name: "x", host: "h.test-site.org" }, "Missing or invalid port"],
      [
        { type: "port", name: "x", host: "h.test-site.org", port: 65_536 },
        "Missing or invalid port: port must be a whole number from 1 to 65535.",
      ],
      [{ type: "dns", name: "x" }, "Missing or invalid domain"],
      [{ type: "push", name: "x" }, "Missing or invalid period"],
      [
        { type: "push", name: "x", period: 59 },
        "Missing or invalid period: period must be a whole number of seconds from 60 to 604800.",
      ],
      [{ ...web, interval: 0 }, "interval must be a whole number from 1 to 86400."],
      [{ ...web, interval: 86_401 }, "interval must be a whole number from 1 to 86400."],
      [{ ...web, interval: 60.5 }, "interval must be a whole number from 1 to 86400."],
      [{ ...web, interval: "60" }, "interval must be a whole number from 1 to 86400."],
      [{ ...web, interval: 1e300 }, "interval must be a whole number from 1 to 86400."],
      [{ ...web, timeout: 9 }, "timeout must be a whole number from 10 to 120."],
      [{ ...web, timeout_follows_interval: 1 }, "timeout_follows_interval must be true or false."],
      [{ ...web, maxretries: 11 }, "maxretries must be a whole number from 1 to 10."],
      [{ ...web, active: "false" }, "active must be true or false."],
      [{ ...web, tags: "a" }, "tags must be an array of at most 20 texts of 1 to 50 characters."],
      [{ ...web, tags: [""] }, "tags must be an array of at most 20 texts of 1 to 50 characters."],
      [{ ...web, tags: ["x".repeat(51)] }, "tags must be an array of at most 20 texts of 1 to 50 characters."],
      [
        { ...web, tags: Array.from({ length: 21 }, (_, i) => `t${i}`) },
        "tags must be an array of at most 20 texts of 1 to 50 characters.",
      ],
      [{ ...web, port: 80 }, "port is for port checks."],
      [{ ...web, keyword: "x" }, "keyword is for keyword and dns checks."],
      [{ ...web, period: 60 }, "period is for push checks."],
      [{ ...web, config: "x" }, "config is for vpn checks."],
      [{ ...web, password: "x", config: "x" }, "password is for vpn checks."],
      [{ ...web, protocol: "wireguard" }, "protocol is for vpn checks."],
      [{ type: "ping", name: "x", host: "h.test-site.org", url: web.url }, "url is for http and keyword checks."],
      [
        { type: "dns", name: "x", domain: "d.org", ip_version: "ipv4" },
        "ip_version is for http, keyword, ping and port checks.",
      ],
      [
        { type: "push", name: "x", period: 60, interval: 60 },
        "interval is for http, keyword, ping, port and dns checks.",
      ],
      [{ ...web, ssl_expiration: 14, url: "http://shop.test-site.org/" }, "ssl_expiration needs an https URL."],
      [{ ...web, domain_expiration: 7, url: "https://192.168.7.9/" }, "domain_expiration needs a domain name."],
    ])("refuses %j", async (body, message) => {
      const before = (await world.send("GET", "/api/v1/servers?family=all")).body.total;
      expect((await create(body)).body).toEqual({ error: true, code: 400, message });
      expect((await world.send("GET", "/api/v1/servers?family=all")).body.total).toBe(before);
    });

    it("names the types that there are where none was sent", async () => {
      const { body } = await create({ name: "x" });
      expect(body).toMatchObject({ error: true, code: 400, message: "Missing or invalid type" });
      expect(body.details.types.join(", ")).toBe(TYPES.slice(TYPES.indexOf("vpn"), -1));
    });

    it("takes back the address that is stored, also one that would be refused today", async () => {
      const { id } = await made(web);
      const settings = JSON.stringify({
        url: "http:///old.test-site.org/",
        accepted_statuscodes: ["200"],
        ip_version: null,
      });
      world.sql("update monitors set settings = ?, url_sealed = null where id = ?", settings, Number(id.slice(4)));
      const same = { url: "http:///old.test-site.org/", accepted_statuscodes: ["204"] };
      expect((await change(id, same)).body).toMatchObject(same);
      expect((await change(id, { url: "http:///new.test-site.org/" })).status).toBe(400);
    });

    it.each([
      { ...web, ssl_expiration: 5 },
      { ...web, accepted_statuscodes: [] },
      { ...web, accepted_statuscodes: ["299-200"] },
      { ...web, accepted_statuscodes: "200" },
      { ...web, ip_version: "ipv5" },
      { type: "push", name: "x", period: 60, grace: -1 },
    ])("refuses %j naming the field", async (body) => {
      const answer = await create(body);
      expect(answer.status).toBe(400);
      const field = Object.keys(body).at(-1) ?? "";
      expect(answer.body.message).toContain(field);
    });

    it.each([
      "http://127.0.0.1/",
      "http://localhost:8080/",
      "http://[::1]/",
      "http://10.0.0.1/",
      "http://192.0.2.1/",
      "http://0x7f.1/",
      "http://169.254.169.254/",
      "https://example.com/",
      "https://www.example.org/",
      "http://inside.test-site.org/",
    ])("refuses to monitor %s", async (url) => {
      expect((await create({ ...web, url })).status).toBe(422);
    });

    it("refuses other kinds' private hosts too, and long fields with the size", async () => {
      expect((await create({ type: "ping", name: "x", host: "224.0.0.1" })).status).toBe(422);
      expect((await create({ type: "dns", name: "x", domain: "test-site.org", host: "10.0.0.53" })).status).toBe(422);
      const url = `https://a.test-site.org/${"x".repeat(8_192)}`;
      const long = await create({ ...web, url });
      expect(long.body).toEqual({
        error: true,
        code: 413,
        message: `url must be at most 8192 bytes (received ${url.length}).`,
      });
      const host = await create({ type: "ping", name: "x", host: "é".repeat(127) });
      expect(host.body.message).toBe("host must be at most 253 bytes (received 254).");
    });

    it("refuses what the plan does not check so often, after everything else", async () => {
      expect((await create({ ...web, interval: 29 })).body).toEqual({
        error: true,
        code: 403,
        message: "The shortest interval on your plan is 30 seconds (requested 29).",
      });
      expect((await create({ ...web, interval: 29, url: "http://10.0.0.1/" })).status).toBe(422);
      const poor = await openWorld(server);
      poor.sql("update workspaces set plan = 'starter'");
      const push = await poor.send("POST", "/api/v1/servers", { body: { type: "push", name: "x", period: 60 } });
      expect(push.body.message).toBe("The shortest period on your plan is 180 seconds (requested 60).");
      poor.sql("update workspaces set plan = 'business', suspended = 1");
      const suspended = await poor.send("POST", "/api/v1/servers", { body: web });
      expect(suspended.body).toEqual({ error: true, code: 403, message: "Your plan does not allow monitors." });
      expect((await poor.send("GET", "/api/v1/servers?family=all")).body.total).toBe(0);
      await poor.close();
    });

    it("changes only what is sent", async () => {
      const before = await made({
        type: "port",
        name: "Db",
        host: "db.test-site.org",
        port: 5432,
        interval: 60,
        tags: ["a"],
      });
      const renamed = (await change(before.id, { name: " Db 2 ", maxretries: 0 })).body;
      expect(renamed).toEqual({ ...before, name: "Db 2" });
      const moved = (await change(before.id, { port: 5433, type: "port", protocol: "port" })).body;
      expect(moved).toEqual({ ...renamed, port: 5433 });
      expect((await change(before.id, { tags: [] })).body.tags).toEqual([]);
      const following = (await change(before.id, { timeout_follows_interval: true })).body;
      expect(following).toEqual({ ...moved, tags: [], timeout_follows_interval: true });
      expect((await change(before.id, {})).body).toEqual(following);
    });

    it("refuses changes with the contract's words", async () => {
      const { id } = await made(web);
      const says = async (body: unknown) => (await change(id, body)).body;
      expect(await says({ type: "ping" })).toMatchObject({ code: 400, message: expect.stringContaining("new check") });
      expect(await says({ host: "h" })).toMatchObject({ code: 400, message: "host is for ping, port and dns checks." });
      expect(await says({ url: "http://10.0.0.1/" })).toMatchObject({ code: 422 });
      expect(await says({ interval: 5 })).toMatchObject({ code: 403 });
      expect(await says({ name: "" })).toMatchObject({ code: 400, message: "Missing or invalid name" });
      expect(await says([])).toMatchObject({ code: 400, message: "Invalid JSON body" });
      expect((await change("srv_0", {})).body).toMatchObject({ code: 400, message: "Invalid server ID" });
      expect((await change("prj_1", {})).body).toMatchObject({ code: 400, message: "Invalid server ID" });
      // The record before the body (docs/api-contract.md#order-of-checks).
      expect((await world.send("PUT", "/api/v1/servers/99999", { raw: "{" })).body).toMatchObject({
        code: 404,
        message: "Server not found",
      });
      expect((await world.send("GET", `/api/v1/servers/${id}`)).body).toMatchObject({ name: "Shop", url: web.url });
    });

    it("shares expiry settings among the website checks of one host", async () => {
      const url = "https://expiry.test-site.org/";
      const first = await made({ ...web, url, ssl_expiration: 30, domain_expiration: 7 });
      const second = await made({ ...web, url: `${url}other` });
      expect(second).toMatchObject({ ssl_expiration: 30, domain_expiration: 7 });
      const plain = await made({ ...web, url: "http://expiry.test-site.org/" });
      expect(plain).toMatchObject({ ssl_expiration: null, domain_expiration: 7 });
      expect((await change(second.id, { ssl_expiration: 0, domain_expiration: 60 })).body).toMatchObject({
        ssl_expiration: null,
        domain_expiration: 60,
      });
      expect((await world.send("GET", `/api/v1/servers/${first.id}`)).body).toMatchObject({
        ssl_expiration: null,
        domain_expiration: 60,
      });
      const elsewhere = await made({ ...web, url: "https://elsewhere.test-site.org/" });
      expect((await change(elsewhere.id, { url: `${url}moved` })).body).toMatchObject({
        ssl_expiration: null,
        domain_expiration: 60,
      });
    });

    it("pauses and resumes, with history, and nothing when nothing changes", async () => {
      const { id } = await made({ ...web, active: false });
      const says = async (active: boolean) => (await change(id, { active })).body;
      expect((await world.send("GET", `/api/v1/servers/${id}`)).body).toMatchObject({
        status: "paused",
        aggregate_status: "paused",
        active: false,
      });
      expect(await says(false)).toMatchObject({ active: false });
      expect(await says(true)).toMatchObject({ active: true, status: "unknown" });
      expect(await says(true)).toMatchObject({ active: true });
      expect(await says(false)).toMatchObject({ status: "paused" });
      await change(id, { name: "Renamed" });
      const history = (await world.send("GET", `/api/v1/servers/${id}/history`)).body;
      expect(history).toMatchObject({ server_id: id, total: 4 });
      expect(history.entries.map((entry: { type: string }) => entry.type)).toEqual([
        "updated",
        "paused",
        "resumed",
        "created",
      ]);
      expect(history.entries[1]).toMatchObject({
        message: "Monitoring paused",
        actor: { type: "user", id: world.userId, name: "Ada Byron", via: "api", key_id: world.keyId },
      });
      const page = (await world.send("GET", `/api/v1/servers/${id}/history?limit=1&offset=3`)).body;
      expect([page.entries.length, page.entries[0].type, page.total]).toEqual([1, "created", 4]);
    });

    it("refuses to resume what a subscription or the provider paused", async () => {
      const { id } = await made(web);
      for (const [reason, message] of [
        ["subscription", "The monitor's subscription is switched off. Switch it on to resume the monitor."],
        ["provider", "The provider no longer lists this server."],
      ] as const) {
        await world.controlPlane.monitors.update(
          world.projectId,
          Number(id.slice(4)),
          1,
          { type: "system", id: null, name: null, via: "system", keyId: null },
          () => ({ addPauseReason: reason }),
        );
        expect((await change(id, { active: true })).body).toEqual({ error: true, code: 409, message });
        await world.controlPlane.monitors.update(
          world.projectId,
          Number(id.slice(4)),
          1,
          { type: "system", id: null, name: null, via: "system", keyId: null },
          () => ({ removePauseReasons: [reason] }),
        );
      }
      expect((await change(id, { active: true })).status).toBe(200);
    });

    it("deletes once", async () => {
      const { id } = await made(web);
      expect((await world.send("DELETE", `/api/v1/servers/${id}`)).body).toEqual({ success: true, id });
      expect((await world.send("DELETE", `/api/v1/servers/${id}`)).body).toMatchObject({
        code: 404,
        message: "Server not found",
      });
      expect((await world.send("GET", `/api/v1/servers/${id}`)).status).toBe(404);
      expect((await world.send("DELETE", "/api/v1/servers/x")).body).toMatchObject({
        code: 400,
        message: "Invalid server ID",
      });
    });
  });
}
