/** One-off checks through the API with a key. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { playChecker, UUID, VLESS, WIREGUARD } from "./played-checker.suite.ts";
import { publicChecksSuite } from "./public-checks.suite.ts";
import { type Answer, openWorld, type World } from "./world.suite.ts";

const XHTTP = `vless://${UUID}@vpn.test-site.org:443?security=tls&type=xhttp`;
const TUIC = `tuic://${UUID}:secret-word@vpn.test-site.org:443#T`;
const LOGIN = { username: "ada", password: "secret-word" };

export function checksSuite(server: "net" | "node"): void {
  describe("POST /check", () => {
    let world: World;
    let checker: ReturnType<typeof playChecker>;
    const post = (body: unknown, more = {}): Promise<Answer> =>
      world.send("POST", "/api/v1/check", { body, project: null, ...more });
    beforeAll(async () => {
      checker = playChecker();
      world = await openWorld(server, {}, {}, { checks: checker.checks });
    });
    beforeEach(() => {
      checker.asked.splice(0);
      checker.measured({});
    });
    afterAll(() => world.close());

    it("answers what a checker measured", async () => {
      const { status, body } = await post({ protocol: "wireguard", config: WIREGUARD });
      expect(status).toBe(200);
      expect(body).toEqual({
        test_id: expect.stringMatching(/^tst_[A-Za-z0-9]{16}$/),
        status: "healthy",
        protocol: "wireguard",
        config_detected: false,
        tested_at: "2026-11-21T06:10:05.270Z",
        latency_ms: 41,
        connect_ms: 320,
        connection_time_ms: 320,
        handshake_time_ms: null,
        assigned_ip: null,
        error_message: null,
        error_category: null,
        engine_used: null,
      });
      expect(checker.asked[0]).toMatchObject({
        checkClass: "api",
        location: "any",
        check: {
          kind: "wireguard",
          host: "vpn.test-site.org",
          timeoutMs: 30_000,
          organizationId: world.organizationId,
        },
      });
      expect(await world.controlPlane.jobs.onDemandUsed(world.organizationId, "2026-11")).toBe(0);
    });

    it("reads the protocol from a share link, and shows what only such checks know", async () => {
      const tunnel = {
        connectionTimeMs: 3,
        handshakeTimeMs: null,
        assignedIp: "203.0.113.9",
        engineUsed: "xray",
      } as const;
      checker.measured({ tunnel });
      const { body } = await post({ config: ` ${VLESS}\n`, engine: "xray" });
      expect(body).toMatchObject({
        protocol: "vless",
        config_detected: true,
        connection_time_ms: 3,
        assigned_ip: "203.0.113.9",
        engine_used: "xray",
      });
      expect(checker.asked[0]?.check.settings).toMatchObject({ url: VLESS, engine: "xray" });
      checker.measured({});
      expect((await post({ config: VLESS })).body).toMatchObject({ connection_time_ms: null, engine_used: null });
      expect(checker.asked[1]?.check.settings).not.toHaveProperty("engine");
    });

    it("says how a check failed, and what is a fault of ours", async () => {
      checker.measured({ verdict: "auth-failed", latencyMs: null, connectMs: null, message: "the login was refused" });
      const login = { protocol: "openconnect", config: "vpn.test-site.org:8443", ...LOGIN };
      expect((await post(login)).body).toMatchObject({
        status: "down",
        error_category: "auth_failed",
        error_message: "the login was refused",
        connection_time_ms: null,
      });
      checker.measured({ verdict: "unsupported", latencyMs: null, connectMs: null, message: "xray is not installed" });
      expect((await post({ protocol: "wireguard", config: WIREGUARD })).body).toMatchObject({
        status: "down",
        error_category: "checker_error",
        error_message: "xray is not installed",
      });
    });

    it("leaves to xray what it can do with the certificate that the server shows", async () => {
      expect((await post({ config: `${XHTTP}&allowInsecure=1`, engine: "xray" })).status).toBe(200);
    });

    it("clamps the time-out and never refuses it", async () => {
      const cases: readonly (readonly [unknown, number])[] = [
        [undefined, 30],
        [1, 5],
        [-3, 5],
        [12, 12],
        [1e9, 60],
        ["20", 30],
        [null, 30],
      ];
      for (const [timeout] of cases) expect((await post({ config: VLESS, timeout })).status).toBe(200);
      expect(checker.asked.map(({ check }) => check.timeoutMs / 1_000)).toEqual(cases.map(([, seconds]) => seconds));
    });

    it("takes host, port and identity beside the config", async () => {
      await post({ protocol: "wireguard", config: WIREGUARD, host: "other.test-site.org", port: 4_000 });
      await post({ protocol: "ikev2", host: "vpn.test-site.org", ...LOGIN, remote_id: "id.test-site.org" });
      await post({ protocol: "openconnect", config: "vpn.test-site.org", host: "wins.test-site.org", ...LOGIN });
      await post({ protocol: "openvpn", host: "vpn.test-site.org" });
      expect(checker.asked.map(({ check }) => check.host)).toEqual([
        "other.test-site.org",
        "vpn.test-site.org",
        "wins.test-site.org",
        "vpn.test-site.org",
      ]);
      expect(checker.asked[1]?.check.settings).toMatchObject({ remote_id: "id.test-site.org" });
    });

    it("refuses in the contract's words", async () => {
      const withoutEndpoint = WIREGUARD.replace(/^Endpoint.*$/m, "");
      const cases: readonly (readonly [unknown, number, string])[] = [
        [{}, 400, "Missing or invalid config"],
        [{ config: 7 }, 400, "Missing or invalid config"],
        [{ config: "  " }, 400, "Missing or invalid config"],
        [{ url: VLESS }, 400, "Missing or invalid config"],
        [{ protocol: "vless", host: "vpn.test-site.org" }, 400, "Missing or invalid config"],
        [{ protocol: "wireguard", host: "vpn.test-site.org" }, 400, "Missing or invalid config"],
        [{ config: "hello" }, 400, "Could not detect protocol"],
        [{ host: "vpn.test-site.org" }, 400, "Could not detect protocol"],
        [{ config: "gopher://x" }, 400, "Could not detect protocol"],
        [{ protocol: "wireguard", config: withoutEndpoint }, 400, "Could not extract Endpoint from wireguard config"],
        [{ protocol: "wireguard", config: "hello" }, 400, "Could not extract Endpoint from wireguard config"],
        [{ protocol: "openconnect" }, 400, "Missing host for openconnect"],
        [{ protocol: "openconnect", ...LOGIN }, 400, "Missing host for openconnect"],
        [{ protocol: "ikev2", ...LOGIN }, 400, "Missing host for ikev2"],
        [{ config: VLESS, port: 70_000 }, 400, "Missing or invalid port: port must be a whole number from 1 to 65535."],
        [{ config: VLESS, engine: "clash" }, 400, "engine must be xray or singbox."],
        [{ config: VLESS, region: "Germany" }, 400, "Invalid region"],
        [
          { config: "x".repeat(102_401), protocol: "openvpn" },
          413,
          "config must be at most 102400 bytes (received 102401).",
        ],
        [{ config: VLESS, password: "p".repeat(4_097) }, 413, "password must be at most 4096 bytes (received 4097)."],
        [
          { config: VLESS, protocol: "trojan" },
          422,
          "Invalid VPN configuration: the link is vless, the protocol is trojan",
        ],
        [
          { config: `${XHTTP}#X`, engine: "singbox" },
          422,
          "Invalid VPN configuration: sing-box has no xhttp. Leave engine out, or name the other one",
        ],
        [{ config: TUIC, engine: "xray" }, 422, "Invalid VPN configuration: xray cannot run tuic"],
        [{ protocol: "openconnect", host: "vpn.test-site.org" }, 422, "Invalid VPN configuration: missing username"],
      ];
      for (const [body, status, message] of cases) {
        expect((await post(body)).body).toEqual({ error: true, code: status, message });
      }
      expect((await post({ config: "x", protocol: "pptp" })).body.message).toMatch(
        /^Unsupported protocol.*wireguard.*hysteria2, tuic/,
      );
      const seen = {
        "ssr://YWJj": "ssr",
        " ANYTLS://p@vpn.test-site.org:443": "anytls",
        "socks://vpn.test-site.org:1080": "socks",
        "https://provider.test-site.org/sub/token": "a subscription's address",
        "ssconf://provider.test-site.org/key": "a subscription's address",
        "port: 7890\nproxies:\n  - {name: a, type: ss}\n": "Clash YAML",
        '{"outbounds": []}': "a client's JSON",
      };
      for (const [config, words] of Object.entries(seen)) {
        const { status, body } = await post({ config });
        expect([status, body.message.split(". ")[0]]).toEqual([422, `Unsupported protocol: ${words}`]);
        expect(body.message).toMatch(/Supported: wireguard.*hysteria2, tuic/);
      }
      expect(checker.asked).toEqual([]);
    });

    it("refuses documentation and private targets, names that lead there included", async () => {
      for (const host of [
        "vpn.example.com",
        "192.0.2.7",
        "127.0.0.1",
        "10.1.2.3",
        "inside.test-site.org",
        "localhost",
      ]) {
        const { status, body } = await post({ config: VLESS.replace("@vpn.test-site.org", `@${host}`) });
        expect([host, status]).toEqual([host, 422]);
        expect(body.message).toContain(host);
      }
      expect(checker.asked).toEqual([]);
    });

    it("runs where it was asked to, as the plan allows", async () => {
      await post({ config: VLESS, region: "de" });
      await post({ config: VLESS, region: "nl" });
      expect(checker.asked.map(({ location }) => location)).toEqual(["de", "any"]);
      expect((await post({ config: VLESS, region: "nl", region_fallback: "fail" })).body).toEqual({
        error: true,
        code: 503,
        message: "No checker is available in this region.",
      });
      world.clock.nowMs += 60_000;
      world.sql("update workspaces set plan = 'starter'");
      expect((await post({ config: VLESS, region: "de" })).body).toEqual({
        error: true,
        code: 402,
        message: "Region targeting requires the Pro plan or above.",
      });
      expect((await post({ config: "hello", region: "de" })).status).toBe(400);
      world.sql("update workspaces set plan = 'business'");
    });

    it("says that no checker is there, or that it went silent", async () => {
      for (const type of ["untaken", "busy"] as const) {
        checker.say({ type });
        expect((await post({ config: VLESS })).body).toMatchObject({
          code: 503,
          message: "No checker nodes available",
        });
      }
      checker.say({ type: "lost" });
      expect((await post({ config: VLESS })).body).toEqual({ error: true, code: 502, message: "Checker unreachable" });
    });

    it("keeps nothing of a config, not even in the log", async () => {
      checker.measured({});
      await post({ protocol: "openconnect", host: "vpn.test-site.org", ...LOGIN });
      await post({ config: TUIC });
      expect(world.log.join("\n")).not.toContain("secret-word");
      expect(world.log.join("\n")).not.toContain(UUID);
    });
  });

  publicChecksSuite(server);
}
