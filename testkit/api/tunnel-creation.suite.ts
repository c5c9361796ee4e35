/** What each protocol needs, what is refused, and what is made of it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import { base64, ELEVEN, GOOD, login, ovpn, PEER, tunnelCalls, UUID, wg } from "./tunnel-bodies.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

export function tunnelCreationSuite(server: "net" | "node"): void {
  describe("tunnels", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server, { allowNets: ["192.168.7.0/24"] });
    });
    afterAll(() => world.close());
    const { create, change, made, settings } = tunnelCalls(() => world);

    it.each(TUNNEL_PROTOCOLS)("creates a %s monitor with every default, and finds it by host", async (protocol) => {
      const tunnel = await made({ name: `Of ${protocol}`, ...GOOD[protocol], tags: ["VPN"] });
      expect(tunnel).toEqual({
        id: expect.stringMatching(/^srv_\d+$/),
        name: `Of ${protocol}`,
        type: "vpn",
        protocol,
        status: "unknown",
        aggregate_status: "unknown",
        active: true,
        interval: 180,
        timeout_follows_interval: false,
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
      [{ url: "vless://lonely" }, "the link has no server after an @"],
      [{ protocol: "trojan", url: GOOD.vless?.url }, "the link is vless, the protocol is trojan"],
      [{ ...GOOD.wireguard, servers: [] }, "servers is for openvpn"],
      [
        { ...GOOD.openvpn, servers: Array(17).fill({ host: "a.test-site.org", port: 1 }) },
        "servers must have at most 16 entries",
      ],
      [{ ...GOOD.openconnect, ip: "a.test-site.org" }, "ip must be an IPv4 or IPv6 address"],
      [{ ...GOOD.wireguard, wireguard_ip: "1.2.3" }, "ip must be an IPv4 or IPv6 address"],
    ])("refuses %j", async (body, reason) => {
      expect((await create({ name: "T", ...body })).body).toEqual({
        error: true,
        code: 422,
        message: `Invalid VPN configuration: ${reason}`,
      });
    });

    it.each(["1.2.3", "0x7f.1", "010.1.1.1", "2130706433", "1.2.3.4:5", "fe80::1%eth0"])(
      "refuses the address %s, which its writer did not mean",
      async (ip) => {
        for (const protocol of ["openconnect", "openvpn", "ikev2", "wireguard", "amneziawg"] as const) {
          const { body } = await create({ name: "T", ...GOOD[protocol], ip });
          expect(body).toMatchObject({
            code: 422,
            message: expect.stringContaining("ip must be an IPv4 or IPv6 address"),
          });
        }
      },
    );

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

    const PORT = "a whole number from 1 to 65535";
    const PROTO = "udp or tcp";
    const SERVERS = "a list of objects, each with host, and port and proto where they are not 1194 and udp";
    it.each<[field: string, value: unknown, rule?: string]>([
      ["protocol", 7],
      ["url", 5],
      ["config", ["x"]],
      ["host", { a: 1 }],
      ["username", true],
      ["password", 5],
      ["port", "443", PORT],
      ["port", 0, PORT],
      ["port", 65_536, PORT],
      ["port", 1.5, PORT],
      ["proto", "sctp", PROTO],
      ["remote_id", 5],
      ["ip", 5],
      ["servers", {}, SERVERS],
      ["servers", [{ host: 5 }], SERVERS],
      ["servers", [{ port: 1 }], SERVERS],
      ["servers", ["a"], SERVERS],
      ["wg", 5],
      ["wireguard_config", 5],
      ["wireguard_ip", 5],
      ["group", 5],
      ["ca", 5],
      ["cert", 5],
      ["key", 5],
      ["pin", 5],
      ["psk", 5],
      ["local_id", 5],
      ["all_peers", "true", "true or false"],
      ["config", "a\u0000b"],
    ])("refuses %s = %j as a wrong type, on create and on change", async (field, value, rule?: string) => {
      const message = `Missing or invalid ${field}${rule === undefined ? "" : `: ${field} must be ${rule}.`}`;
      const wrong = { error: true, code: 400, message };
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
      ["cert", 102_400],
      ["key", 32_768],
      ["psk", 4_096],
      ["local_id", 256],
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
  });
}
