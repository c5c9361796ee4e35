/** Tunnels through the API: what each protocol needs, how it is changed, that its secrets never come back, and slots. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import { overridePlans } from "../../model/plan.ts";
import { SYSTEM_ACTOR } from "../../store/sql/control-plane.ts";
import { batch, importServers, listedServer } from "../../store/sql/ground.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

const UUID = "0f3c1d2e-1111-4222-8333-444455556666";
const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const PEER = "xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=";
const wg = (endpoint: string) =>
  `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.9.0.2/32\n[Peer]\nPublicKey = ${PEER}\nEndpoint = ${endpoint}\nAllowedIPs = 0.0.0.0/0\n`;
const ovpn = (server: string) => `client\ndev tun\nremote ${server} 1194 udp\n<ca>\nsecret-ca\n</ca>\n`;
const base64 = (text: string) => Buffer.from(text).toString("base64");
const login = { username: "secret-user", password: "secret-password" };

/** One good body of each protocol, its host `<protocol>.test-site.org`. */
const GOOD: Readonly<Record<string, Record<string, unknown>>> = {
  wireguard: { protocol: "wireguard", config: wg("wireguard.test-site.org:51820") },
  amneziawg: {
    protocol: "amneziawg",
    config: `${wg("amneziawg.test-site.org:51820")}`.replace("[Peer]", "Jc = 4\n[Peer]"),
  },
  openvpn: { protocol: "openvpn", config: ovpn("openvpn.test-site.org") },
  openconnect: { protocol: "openconnect", host: "openconnect.test-site.org", ...login },
  ikev2: { protocol: "ikev2", host: "ikev2.test-site.org", ...login },
  vless: { url: `vless://${UUID}@vless.test-site.org:443?security=tls#secret-name` },
  vmess: {
    url: `vmess://${base64(JSON.stringify({ v: "2", ps: "n", add: "vmess.test-site.org", port: 443, id: UUID }))}`,
  },
  trojan: { url: "trojan://secret-password@trojan.test-site.org:443" },
  shadowsocks: { url: `ss://${base64("aes-256-gcm:secret-password")}@shadowsocks.test-site.org:8388` },
  hysteria2: { url: "hy2://secret-password@hysteria2.test-site.org:443" },
  tuic: { url: `tuic://${UUID}:secret-password@tuic.test-site.org:443` },
};
const ELEVEN = TUNNEL_PROTOCOLS.join(", ");

export function tunnelsSuite(server: "uws" | "node"): void {
  describe("tunnels", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server, { allowNets: ["192.168.7.0/24"] });
    });
    afterAll(() => world.close());

    const create = (body: unknown) => world.send("POST", "/api/v1/servers", { body });
    const change = (id: string, body: unknown) => world.send("PUT", `/api/v1/servers/${id}`, { body });
    const made = async (body: Record<string, unknown>) => {
      const answer = await create({ name: "T", ...body });
      expect([answer.status, answer.text]).toEqual([200, answer.text]);
      return answer.body;
    };
    const numberOf = (id: string) => Number(id.slice(4));
    const settings = async (id: string) => {
      const row = await world.controlPlane.monitors.recall(numberOf(id));
      return JSON.parse(Buffer.from(row?.monitor.sealed?.slice("tunnel:".length) ?? "", "base64").toString());
    };

    it.each(TUNNEL_PROTOCOLS)("creates a %s monitor with every default, and finds it by host", async (protocol) => {
      const tunnel = await made({ name: `Of ${protocol}`, ...GOOD[protocol], tags: ["VPN"], unknown_field: {} });
      expect(tunnel).toEqual({
        id: expect.stringMatching(/^srv_\d+$/),
        name: `Of ${protocol}`,
        type: "vpn",
        protocol,
        status: "unknown",
        aggregate_status: "unknown",
        active: true,
        interval: 180,
        latency_ms: null,
        connect_ms: null,
        region: null,
        locations: ["any"],
        disabled_locations: [],
        regional_status: {},
        notify_on_partial: false,
        tags: ["vpn"],
        last_checked: null,
      });
      expect((await world.send("GET", `/api/v1/servers/${tunnel.id}`)).body).toEqual(tunnel);
      const found = await world.send("GET", `/api/v1/servers/search?q=${protocol}.test-site.org`);
      expect(found.body.servers.map((row: { id: string }) => row.id)).toContain(tunnel.id);
      const list = (await world.send("GET", `/api/v1/servers?protocol=${protocol}`)).body;
      expect(list.servers.map((row: { id: string }) => row.id)).toContain(tunnel.id);
    });

    it.each([
      [{ protocol: "wireguard" }, "missing config"],
      [{ protocol: "wireguard", config: "" }, "missing config"],
      [{ protocol: "amneziawg", url: "x" }, "missing config"],
      [{ protocol: "wireguard", config: "[Interface]\nAddress = 10.0.0.1\n" }, "missing PrivateKey"],
      [{ protocol: "openvpn" }, "missing config"],
      [{ protocol: "openvpn", config: "client\n" }, "missing remote"],
      [{ protocol: "openvpn", config: `${ovpn("a.test-site.org")}auth-user-pass\n` }, "missing username"],
      [{ protocol: "openconnect" }, "missing host"],
      [{ protocol: "openconnect", host: "a.test-site.org" }, "missing username"],
      [{ protocol: "openconnect", host: "a.test-site.org", username: "u" }, "missing password"],
      [{ protocol: "ikev2", host: "a.test-site.org", username: "u" }, "missing password"],
      [{ protocol: "vless" }, "missing url"],
      [{ protocol: "tuic", config: GOOD.tuic?.url }, "missing url"],
      [{ url: "vless://nobody" }, "the link has no server after an @"],
      [{ protocol: "trojan", url: GOOD.vless?.url }, "the link is vless, the protocol is trojan"],
      [{ ...GOOD.wireguard, servers: [] }, "servers is for openvpn"],
      [
        { ...GOOD.openvpn, servers: Array(17).fill({ host: "a.test-site.org", port: 1 }) },
        "servers must have at most 16 entries",
      ],
      [{ ...GOOD.openconnect, ip: "a.test-site.org" }, "ip must be an IPv4 or IPv6 address"],
    ])("refuses %j", async (body, reason) => {
      expect((await create({ name: "T", ...body })).body).toEqual({
        error: true,
        code: 422,
        message: `Invalid VPN configuration: ${reason}`,
      });
    });

    it.each([
      { protocol: "pptp", config: "x" },
      { protocol: "__proto__", config: "x" },
      { config: wg("a.test-site.org:1") },
      { url: "https://a.test-site.org/" },
      { url: "ssr://abc" },
      { type: "vpn" },
    ])("refuses %j as unsupported, naming the eleven", async (body) => {
      expect((await create({ name: "T", ...body })).body).toEqual({
        error: true,
        code: 422,
        message: `Unsupported protocol. Supported: ${ELEVEN}.`,
      });
    });

    it.each([
      ["protocol", 7],
      ["url", 5],
      ["config", ["x"]],
      ["host", { a: 1 }],
      ["username", true],
      ["password", 5],
      ["port", "443"],
      ["port", 0],
      ["port", 65_536],
      ["port", 1.5],
      ["proto", "sctp"],
      ["remote_id", 5],
      ["ip", 5],
      ["servers", {}],
      ["servers", [{ host: 5 }]],
      ["servers", [{ port: 1 }]],
      ["servers", ["a"]],
      ["wg", 5],
      ["wireguard_config", 5],
      ["wireguard_ip", 5],
      ["group", 5],
      ["ca", 5],
      ["pin", 5],
      ["psk", 5],
      ["config", "a\u0000b"],
    ])("refuses %s = %j as a wrong type, on create and on change", async (field, value) => {
      const wrong = { error: true, code: 400, message: `Missing or invalid ${field}` };
      expect((await create({ name: "T", ...GOOD.openconnect, [field]: value })).body).toEqual(wrong);
      const { id } = await made(GOOD.openconnect ?? {});
      expect((await change(id, { [field]: value })).body).toEqual(wrong);
    });

    it.each([
      ["url", 8_192],
      ["config", 102_400],
      ["host", 253],
      ["username", 256],
      ["password", 4_096],
      ["remote_id", 256],
      ["ip", 64],
      ["wg", 102_400],
      ["wireguard_config", 102_400],
      ["wireguard_ip", 64],
      ["group", 256],
      ["ca", 102_400],
      ["psk", 4_096],
    ])("refuses %s beyond %i bytes with both numbers", async (field, limit) => {
      const long = "é".repeat(limit / 2 + 1);
      const size = Buffer.byteLength(long);
      const answer = { error: true, code: 413, message: `${field} must be at most ${limit} bytes (received ${size}).` };
      expect((await create({ name: "T", ...GOOD.openconnect, [field]: long })).body).toEqual(answer);
      const { id } = await made(GOOD.openconnect ?? {});
      expect((await change(id, { [field]: long })).body).toEqual(answer);
      // At the limit it is not the length that is wrong.
      expect((await create({ name: "T", ...GOOD.openconnect, [field]: "a".repeat(limit) })).status).not.toBe(413);
    });

    it.each([
      { protocol: "wireguard", config: wg("192.0.2.1:51820") },
      { protocol: "wireguard", config: wg("vpn.example.com:51820") },
      {
        protocol: "wireguard",
        config: `${wg("a.test-site.org:1")}[Peer]\nPublicKey = ${PEER}\nEndpoint = 10.0.0.1:1\n`,
      },
      { protocol: "wireguard", config: wg("a.test-site.org:1"), ip: "127.0.0.1" },
      { protocol: "wireguard", config: wg("a.test-site.org:1"), host: "localhost" },
      { protocol: "openvpn", config: ovpn("198.51.100.7") },
      { protocol: "openvpn", config: `${ovpn("a.test-site.org")}remote 10.0.0.9\n` },
      {
        protocol: "openvpn",
        config: ovpn("a.test-site.org"),
        servers: [
          { host: "b.test-site.org", port: 1 },
          { host: "169.254.169.254", port: 1 },
        ],
      },
      { protocol: "openconnect", ...login, host: "[::1]:443" },
      { protocol: "ikev2", ...login, host: "203.0.113.9" },
      { protocol: "ikev2", ...login, host: "inside.test-site.org" },
      { url: `vless://${UUID}@vpn.example.org:443` },
      { url: `vless://${UUID}@0x7f.1:443` },
      {
        url: `vless://${UUID}@a.test-site.org:443?extra=${encodeURIComponent('{"downloadSettings":{"address":"10.0.0.1","port":1}}')}`,
      },
      { url: `vmess://${base64(JSON.stringify({ add: "10.0.0.1", port: 1, id: UUID }))}` },
      { url: `ss://${base64("aes-256-gcm:pw@127.0.0.1:1")}` },
      { url: "hy2://pw@[2001:db8::1]:443" },
    ])("refuses servers that may not be dialled: %j", async (body) => {
      const answer = await create({ name: "T", ...body });
      expect([answer.status, answer.text]).toEqual([422, expect.stringMatching(/cannot be monitored/)]);
    });

    it("accepts names that do not resolve and networks that were opened", async () => {
      await made({ url: `vless://${UUID}@no-such-name.test-site.org:443` });
      await made({ protocol: "ikev2", host: "192.168.7.9", ...login });
    });

    it("understands the other names of WireGuard's fields, the first winning", async () => {
      const named = (field: string, host: string) => ({ [field]: wg(`${field.replaceAll("_", "-")}.${host}:1`) });
      const one = await made({ protocol: "wireguard", ...named("wg", "test-site.org") });
      expect((await settings(one.id)).config).toContain("wg.test-site.org");
      const other = await made({
        protocol: "amneziawg",
        ...named("wireguard_config", "test-site.org"),
        wireguard_ip: "9.9.9.9",
      });
      expect(await settings(other.id)).toMatchObject({ ip: "9.9.9.9" });
      const all = await made({
        protocol: "wireguard",
        ...named("wireguard_config", "test-site.org"),
        ...named("wg", "test-site.org"),
        ...named("config", "test-site.org"),
      });
      expect((await settings(all.id)).config).toContain("config.test-site.org");
      expect((await change(all.id, { wg: wg("changed.test-site.org:1") })).status).toBe(200);
      expect((await settings(all.id)).config).toContain("changed.test-site.org");
      expect((await create({ name: "T", protocol: "openvpn", wg: ovpn("a.test-site.org") })).body.message).toContain(
        "missing config",
      );
    });

    it("lays sent fields over the stored ones, and validates the whole again", async () => {
      const { id } = await made({ protocol: "openconnect", host: "one.test-site.org", ...login, group: "staff" });
      expect((await change(id, { password: "new-secret" })).status).toBe(200);
      expect(await settings(id)).toEqual({
        host: "one.test-site.org",
        username: "secret-user",
        password: "new-secret",
        group: "staff",
      });
      await change(id, { host: "two.test-site.org", port: 8_443, group: null });
      expect(await settings(id)).toEqual({
        host: "two.test-site.org",
        username: "secret-user",
        password: "new-secret",
        port: 8_443,
      });
      expect((await world.send("GET", "/api/v1/servers/search?q=two.test-site.org")).body.total).toBe(1);
      expect((await change(id, { username: "" })).body).toMatchObject({
        code: 422,
        message: "Invalid VPN configuration: missing username",
      });
      expect((await change(id, { host: "10.0.0.1" })).status).toBe(422);
      expect(await settings(id)).toMatchObject({ host: "two.test-site.org", username: "secret-user" });
      const history = (await world.send("GET", `/api/v1/servers/${id}/history`)).body.entries;
      expect(history.map((entry: { message: string }) => entry.message)).toEqual([
        "Updated host, port, group",
        "Updated password",
        "Monitor created",
      ]);
      // The same again is no change.
      const before = (await world.controlPlane.monitors.recall(numberOf(id)))?.monitor;
      expect((await change(id, { password: "new-secret", name: "T" })).status).toBe(200);
      expect((await world.controlPlane.monitors.recall(numberOf(id)))?.monitor).toEqual(before);
    });

    it("loses no field that callers change at once", async () => {
      const { id } = await made({ protocol: "openconnect", host: "one.test-site.org", ...login });
      const changes = [
        { host: "two.test-site.org" },
        { port: 8_443 },
        { username: "other" },
        { password: "changed" },
        { group: "staff" },
        { ip: "9.9.9.9" },
        { name: "At once" },
      ];
      const answers = await Promise.all(changes.map((body) => change(id, body)));
      expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
      const { name, ...fields } = Object.assign({}, ...changes);
      expect(await settings(id)).toEqual(fields);
      expect((await world.send("GET", `/api/v1/servers/${id}`)).body.name).toBe(name);
    });

    it("replaces the configuration with another protocol's", async () => {
      const { id } = await made(GOOD.openconnect ?? {});
      expect((await change(id, { protocol: "ikev2" })).body).toMatchObject({
        code: 422,
        message: "Invalid VPN configuration: missing host",
      });
      expect((await change(id, { protocol: "nope" })).body).toMatchObject({ code: 422 });
      expect((await change(id, { protocol: "trojan", url: GOOD.vless?.url })).body).toMatchObject({ code: 422 });
      expect((await change(id, { protocol: "openconnect", type: "vpn" })).body).toMatchObject({
        protocol: "openconnect",
      });
      const changed = (await change(id, { protocol: "ikev2", host: "new.test-site.org", psk: "secret-psk" })).body;
      expect(changed).toMatchObject({ id, type: "vpn", protocol: "ikev2" });
      expect(await settings(id)).toEqual({ host: "new.test-site.org", psk: "secret-psk" });
      expect((await change(id, { url: GOOD.trojan?.url })).body).toMatchObject({ protocol: "trojan" });
      expect(await settings(id)).toEqual({ url: GOOD.trojan?.url });
      expect((await change(id, { type: "http" })).body).toMatchObject({
        code: 400,
        message: expect.stringContaining("new check"),
      });
      const history = (await world.send("GET", `/api/v1/servers/${id}/history`)).body.entries;
      expect(history[0].message).toBe("Updated protocol, url, host, psk");
    });

    it("changes what every monitor has, with its bounds", async () => {
      const { id } = await made(GOOD.vless ?? {});
      expect(
        (await change(id, { interval: 60, timeout: 20, maxretries: 3, tags: ["A"], name: "Named", keyword: "ignored" }))
          .body,
      ).toMatchObject({
        interval: 60,
        tags: ["a"],
        name: "Named",
      });
      const says = async (body: unknown) => (await change(id, body)).body;
      expect(await says({ interval: 29 })).toMatchObject({ code: 403 });
      expect(await says({ interval: 86_401 })).toMatchObject({
        code: 400,
        message: "interval must be a whole number from 1 to 86400.",
      });
      expect(await says({ timeout: 5 })).toMatchObject({ code: 400 });
      expect(await says({ maxretries: 11 })).toMatchObject({ code: 400 });
      expect(await says({ active: "no" })).toMatchObject({ code: 400 });
      expect(await says({ active: false })).toMatchObject({ status: "paused", active: false });
      expect(await says({ active: true })).toMatchObject({ status: "unknown", active: true });
    });

    it("never tells a secret again", async () => {
      for (const body of Object.values(GOOD)) await made({ name: "Quiet", ...body });
      const texts = [
        (await world.send("GET", "/api/v1/servers?limit=1000")).text,
        (await world.send("GET", "/api/v1/servers/search?q=test-site.org&limit=1000")).text,
        world.log.join("\n"),
      ];
      for (const { id } of JSON.parse(texts[0] ?? "").servers) {
        texts.push((await world.send("GET", `/api/v1/servers/${id}/history`)).text);
      }
      for (const secret of ["secret-", UUID, KEY, base64("aes-256-gcm")]) {
        for (const text of texts) expect(text.includes(secret)).toBe(false);
        expect((await world.send("GET", `/api/v1/servers/search?q=${encodeURIComponent(secret)}`)).body.total).toBe(0);
      }
      const refused = await create({ name: "T", url: "vless://secret-secret-secret-secret-secret@a.test-site.org:1" });
      expect([refused.status, refused.text.includes("secret-")]).toEqual([422, false]);
    });

    it("refuses to resume as uptime checks do", async () => {
      const { id } = await made(GOOD.tuic ?? {});
      const pause = (reason: "subscription" | "provider") =>
        world.controlPlane.monitors.update(world.projectId, numberOf(id), 1, SYSTEM_ACTOR, () => ({
          addPauseReason: reason,
        }));
      await pause("provider");
      expect((await change(id, { active: true })).body).toMatchObject({
        code: 409,
        message: "The provider no longer lists this server.",
      });
      await pause("subscription");
      expect((await change(id, { active: true })).body).toMatchObject({ code: 409 });
      expect((await change(id, { active: false })).body).toMatchObject({ status: "paused" });
    });
  });

  describe("tunnel slots", () => {
    it("are counted over the workspace, however many ask at once", async () => {
      const world = await openWorld(server, { plans: overridePlans({ starter: { requestsPerMinute: null } }) });
      world.sql("update workspaces set plan = 'starter'");
      const post = (name: string, body: object = GOOD.vless ?? {}) =>
        world.send("POST", "/api/v1/servers", { body: { name, ...body } });
      const answers = await Promise.all(Array.from({ length: 19 }, (_, index) => post(`t${index}`)));
      const refused = answers.filter(({ status }) => status !== 200);
      expect(answers.length - refused.length).toBe(15);
      for (const { body } of refused)
        expect(body).toEqual({ error: true, code: 403, message: "Tunnel limit reached (15/15)." });
      expect((await post("web", { type: "http", url: "https://a.test-site.org/" })).status).toBe(200);
      // A body that is wrong is told so first, and so is an interval.
      expect((await post("x", { protocol: "vless" })).status).toBe(422);
      expect((await post("x", { ...GOOD.vless, interval: 60 })).body.message).toContain("shortest interval");

      const [first, second] = answers.filter(({ status }) => status === 200).map(({ body }) => body.id);
      const put = (id: string, active: boolean) => world.send("PUT", `/api/v1/servers/${id}`, { body: { active } });
      // One that the caller paused keeps its slot.
      await put(first, false);
      expect((await post("x")).status).toBe(403);
      expect((await put(first, true)).status).toBe(200);
      // One that the plan paused does not, and needs a free one to come back.
      await world.controlPlane.monitors.update(world.projectId, Number(first.slice(4)), 1, SYSTEM_ACTOR, () => ({
        addPauseReason: "plan",
      }));
      expect((await post("sixteenth")).status).toBe(200);
      expect((await put(first, true)).body).toEqual({
        error: true,
        code: 403,
        message: "Tunnel limit reached (15/15).",
      });
      await world.send("DELETE", `/api/v1/servers/${second}`);
      expect((await put(first, true)).body).toMatchObject({ active: true });

      world.sql("update workspaces set suspended = 1");
      expect((await post("x")).body).toMatchObject({ code: 403, message: "Your plan does not allow monitors." });
      await put(first, false);
      expect((await put(first, true)).body).toMatchObject({ code: 403, message: "Your plan does not allow monitors." });
      await world.close();
    });
  });

  describe("imported monitors", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    async function imported() {
      const { controlPlane, projectId, organizationId, clock } = world;
      const subscription = await controlPlane.subscriptions.create({
        projectId,
        organizationId,
        name: null,
        urlSealed: "sealed",
        urlHash: String(Math.random()),
        syncIntervalS: 300,
        timeoutS: 30,
        maxWorkers: 50,
        enabled: true,
        nowMs: clock.nowMs,
      });
      await importServers(controlPlane, subscription, [listedServer("s.test-site.org", "Berlin", ["A", "B"])]);
      const { changed } = await controlPlane.monitors.changedSince(-1);
      const id = changed.find(({ monitor }) => monitor.subscriptionId === subscription.id)?.monitor.id ?? 0;
      return { subscription, id, path: `/api/v1/servers/srv_${id}` };
    }

    it("show their subscription, its configs and how each did", async () => {
      const { id, path, subscription } = await imported();
      const first = (await world.controlPlane.imports.of([id])).get(id)?.configs[0];
      const result = { atMs: 1, success: true, totalMs: 81.5, publicIp: "9.9.9.9", engineUsed: "xray" };
      const configResults = [{ ...result, configId: first?.id ?? 0, location: "any", error: "", errorCategory: "" }];
      await world.controlPlane.sink.apply(batch(1, { configResults }));
      const passed = {
        success: true,
        total_ms: 81.5,
        error: "",
        error_category: "",
        public_ip: "9.9.9.9",
        engine_used: "xray",
      };
      const untested = { success: false, total_ms: 0, error: "", error_category: "", public_ip: "", engine_used: "" };
      const block = {
        subscription_url_id: String(subscription.id),
        server_address: "s.test-site.org",
        server_name: "Berlin",
        config_count: 2,
        healthy_count: 1,
        configs: [
          { tag: "A", type: "vless", server: "s.test-site.org", port: 443, ...passed, region_results: { any: passed } },
          { tag: "B", type: "vless", server: "s.test-site.org", port: 443, ...untested, region_results: {} },
        ],
      };
      const whole = await world.send("GET", path);
      expect(whole.body.subscription).toEqual(block);
      expect(whole.text).not.toContain("sealed A");
      expect((await world.send("GET", "/api/v1/servers")).body.servers[0].subscription).toEqual(block);
      expect((await world.send("GET", "/api/v1/servers/search?q=berlin")).body.servers[0].subscription).toEqual(block);
    });

    it("follow it: interval and configuration cannot be changed, the rest can", async () => {
      const { path } = await imported();
      const says = async (body: object) => (await world.send("PUT", path, { body })).body;
      const follows = { error: true, code: 409, message: "This monitor follows its subscription." };
      expect(await says({ interval: 60 })).toEqual(follows);
      expect(await says({ url: GOOD.vless?.url })).toEqual(follows);
      expect(await says({ password: "x" })).toEqual(follows);
      expect(await says({ protocol: "trojan" })).toEqual(follows);
      expect(await says({ interval: 0 })).toMatchObject({ code: 400 });
      expect(await says({ name: "Mine", tags: ["x"], maxretries: 4, protocol: "vless" })).toMatchObject({
        name: "Mine",
        tags: ["x"],
      });
      expect(await says({ active: false })).toMatchObject({ status: "paused" });
    });

    it("are ordinary paused monitors once it is deleted", async () => {
      const { id, path, subscription } = await imported();
      expect(await world.controlPlane.subscriptions.remove(world.projectId, subscription.id, 1)).toBe(1);
      expect((await world.send("GET", path)).body).toMatchObject({
        status: "paused",
        subscription: { subscription_url_id: null },
      });
      expect((await world.send("PUT", path, { body: { active: true, interval: 60 } })).body).toMatchObject({
        active: true,
        interval: 60,
      });
      const own = (await world.send("PUT", path, { body: { url: GOOD.vless?.url } })).body;
      expect([own.protocol, own.subscription]).toEqual(["vless", undefined]);
      expect((await world.controlPlane.monitors.recall(id))?.monitor.sealed).toBeDefined();
    });
  });
}
