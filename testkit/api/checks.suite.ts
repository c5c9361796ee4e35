/** One-off checks through the API, with a key and without. Checkers are played by hand. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ApiConfig } from "../../api/api.ts";
import { TARGET_REFUSED } from "../../api/checks/anonymous.ts";
import { countedOf } from "../../api/checks/anonymous-quota.ts";
import type { CheckAnswer, Checks, OneOffCheck, OneOffResult } from "../../store/state/checks.ts";
import { type Answer, openWorld, START_MS, type World } from "./world.suite.ts";

const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const WIREGUARD = `[Interface]
PrivateKey = ${KEY}
Address = 10.0.0.2/32
[Peer]
PublicKey = ${KEY}
AllowedIPs = 0.0.0.0/0
Endpoint = vpn.test-site.org:51820
`;
const UUID = "2f9c8a5e-6a3f-4b1e-9d4c-0a1b2c3d4e5f";
const VLESS = `vless://${UUID}@vpn.test-site.org:443?security=tls&sni=vpn.test-site.org#Berlin`;
const XHTTP = `vless://${UUID}@vpn.test-site.org:443?security=tls&type=xhttp`;
const TUIC = `tuic://${UUID}:secret-word@vpn.test-site.org:443#T`;
const LOGIN = { username: "ada", password: "secret-word" };

const PASSED: OneOffResult = {
  verdict: "ok",
  startedAtMs: START_MS + 20,
  latencyMs: 41,
  connectMs: 320,
  peerAnswered: true,
  message: null,
};

interface Asked {
  readonly checkClass: string;
  readonly location: string;
  readonly check: OneOffCheck;
}

/** A checker that answers what it is told to. */
function createBench() {
  const asked: Asked[] = [];
  let answer: CheckAnswer = { type: "measured", result: PASSED };
  const checks: Checks = {
    async ask(checkClass, location, check) {
      asked.push({ checkClass, location, check });
      return answer;
    },
    async close() {},
  };
  return {
    checks,
    asked,
    say(next: CheckAnswer) {
      answer = next;
    },
    measured(over: Partial<OneOffResult>) {
      answer = { type: "measured", result: { ...PASSED, ...over } };
    },
  };
}

export function checksSuite(server: "net" | "node"): void {
  describe("POST /check", () => {
    let world: World;
    let bench: ReturnType<typeof createBench>;
    const post = (body: unknown, more = {}): Promise<Answer> =>
      world.send("POST", "/api/v1/check", { body, project: null, ...more });
    beforeAll(async () => {
      bench = createBench();
      world = await openWorld(server, {}, {}, { checks: bench.checks });
    });
    beforeEach(() => {
      bench.asked.splice(0);
      bench.measured({});
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
      expect(bench.asked[0]).toMatchObject({
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
      bench.measured({ tunnel });
      const { body } = await post({ config: ` ${VLESS}\n`, engine: "xray" });
      expect(body).toMatchObject({
        protocol: "vless",
        config_detected: true,
        connection_time_ms: 3,
        assigned_ip: "203.0.113.9",
        engine_used: "xray",
      });
      expect(bench.asked[0]?.check.settings).toMatchObject({ url: VLESS, engine: "xray" });
      bench.measured({});
      expect((await post({ config: VLESS })).body).toMatchObject({ connection_time_ms: null, engine_used: null });
      expect(bench.asked[1]?.check.settings).not.toHaveProperty("engine");
    });

    it("says how a check failed, and what is a fault of ours", async () => {
      bench.measured({ verdict: "auth-failed", latencyMs: null, connectMs: null, message: "the login was refused" });
      const login = { protocol: "openconnect", config: "vpn.test-site.org:8443", ...LOGIN };
      expect((await post(login)).body).toMatchObject({
        status: "down",
        error_category: "auth_failed",
        error_message: "the login was refused",
        connection_time_ms: null,
      });
      bench.measured({ verdict: "unsupported", latencyMs: null, connectMs: null, message: "xray is not installed" });
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
      expect(bench.asked.map(({ check }) => check.timeoutMs / 1_000)).toEqual(cases.map(([, seconds]) => seconds));
    });

    it("takes host, port and identity beside the config", async () => {
      await post({ protocol: "wireguard", config: WIREGUARD, host: "other.test-site.org", port: 4_000 });
      await post({ protocol: "ikev2", host: "vpn.test-site.org", ...LOGIN, remote_id: "id.test-site.org" });
      await post({ protocol: "openconnect", config: "vpn.test-site.org", host: "wins.test-site.org", ...LOGIN });
      await post({ protocol: "openvpn", host: "vpn.test-site.org" });
      expect(bench.asked.map(({ check }) => check.host)).toEqual([
        "other.test-site.org",
        "vpn.test-site.org",
        "wins.test-site.org",
        "vpn.test-site.org",
      ]);
      expect(bench.asked[1]?.check.settings).toMatchObject({ remote_id: "id.test-site.org" });
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
      expect(bench.asked).toEqual([]);
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
      expect(bench.asked).toEqual([]);
    });

    it("runs where it was asked to, as the plan allows", async () => {
      await post({ config: VLESS, region: "de" });
      await post({ config: VLESS, region: "nl" });
      expect(bench.asked.map(({ location }) => location)).toEqual(["de", "any"]);
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
        bench.say({ type });
        expect((await post({ config: VLESS })).body).toMatchObject({
          code: 503,
          message: "No checker nodes available",
        });
      }
      bench.say({ type: "lost" });
      expect((await post({ config: VLESS })).body).toEqual({ error: true, code: 502, message: "Checker unreachable" });
    });

    it("keeps nothing of a config, not even in the log", async () => {
      bench.measured({});
      await post({ protocol: "openconnect", host: "vpn.test-site.org", ...LOGIN });
      await post({ config: TUIC });
      expect(world.log.join("\n")).not.toContain("secret-word");
      expect(world.log.join("\n")).not.toContain(UUID);
    });
  });

  publicTests(server);
}

function publicTests(server: "net" | "node"): void {
  describe("POST /check/public", () => {
    let world: World;
    let bench: ReturnType<typeof createBench>;
    const post = (body: unknown, from = "198.51.100.7"): Promise<Answer> =>
      world.send("POST", "/api/v1/check/public", {
        body,
        key: null,
        project: null,
        headers: { "x-forwarded-for": from },
      });
    async function open(config: Partial<ApiConfig> = {}): Promise<void> {
      bench = createBench();
      world = await openWorld(server, { trustedProxies: ["127.0.0.1"], ...config }, {}, { checks: bench.checks });
    }
    afterEach(() => world.close());

    it("answers like /check, and counts", async () => {
      await open();
      const { status, body, headers } = await post({ config: VLESS, engine: "clash", region: "any", timeout: 99 });
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: "healthy", protocol: "vless", config_detected: true });
      expect(bench.asked[0]).toMatchObject({
        checkClass: "public",
        location: "any",
        check: { timeoutMs: 20_000, organizationId: 0 },
      });
      expect(headers).toMatchObject({
        "access-control-allow-origin": "*",
        "x-ratelimit-limit": "5",
        "x-ratelimit-remaining": "4",
        "x-ratelimit-reset": String(Math.ceil((START_MS + 86_400_000) / 1_000)),
      });
      await post({ config: VLESS });
      expect(bench.asked[1]?.check.timeoutMs).toBe(15_000);
    });

    it("refuses the sixth in any 24 hours", async () => {
      await open();
      for (let count = 0; count < 5; count++) {
        world.clock.nowMs = START_MS + count * 3_600_000;
        expect((await post({ config: VLESS })).status).toBe(200);
      }
      const refused = await post({ nonsense: true });
      expect(refused.status).toBe(429);
      expect(refused.body).toEqual({
        error: "Public check limit exceeded",
        message: "Limit of 5 checks per 24 hours exceeded",
        retry_after: 20 * 3_600,
      });
      expect(refused.headers).toMatchObject({
        "retry-after": String(20 * 3_600),
        "x-ratelimit-limit": "5",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(Math.ceil((START_MS + 86_400_000) / 1_000)),
      });
      expect((await post({ config: VLESS }, "198.51.100.8")).status).toBe(200);
      world.clock.nowMs = START_MS + 86_400_000;
      expect((await post({ config: VLESS })).status).toBe(200);
      expect((await post({ config: VLESS })).status).toBe(429);
    });

    it("counts a /64 as one caller, and a whole /48 as four", async () => {
      await open();
      const from = (subnet: number, host: number): string => `2001:db8:7:${subnet}::${host}`;
      for (let host = 1; host <= 5; host++) expect((await post({ config: VLESS }, from(1, host))).status).toBe(200);
      expect((await post({ config: VLESS }, from(1, 6))).status).toBe(429);
      for (const subnet of [2, 3, 4]) {
        for (let host = 1; host <= 5; host++)
          expect((await post({ config: VLESS }, from(subnet, host))).status).toBe(200);
      }
      expect((await post({ config: VLESS }, from(5, 1))).status).toBe(429);
      expect((await post({ config: VLESS }, "2001:db8:8:1::1")).status).toBe(200);
      expect(countedOf("2001:db8::1")[0]?.[0]).toBe(countedOf("2001:db8::ffff:1")[0]?.[0]);
    });

    it("counts only what was checked", async () => {
      await open();
      for (const [body, status] of [
        [{}, 400],
        [{ config: VLESS, region: "Q" }, 402],
        [{ config: VLESS, region: "de" }, 402],
        [{ config: "x".repeat(102_401), protocol: "openvpn" }, 413],
        [{ config: VLESS.replace("@vpn.test-site.org", "@10.0.0.1") }, 422],
      ] as const) {
        const answer = await post(body);
        expect([answer.status, answer.headers["x-ratelimit-remaining"]]).toEqual([status, "5"]);
      }
      bench.say({ type: "untaken" });
      expect(await post({ config: VLESS })).toMatchObject({ status: 503, headers: { "x-ratelimit-remaining": "5" } });
      bench.say({ type: "lost" });
      expect(await post({ config: VLESS })).toMatchObject({ status: 502, headers: { "x-ratelimit-remaining": "5" } });
      bench.measured({ verdict: "timeout", latencyMs: null, connectMs: null, message: "silence" });
      expect(await post({ config: VLESS })).toMatchObject({ status: 200, headers: { "x-ratelimit-remaining": "4" } });
    });

    it("counts every request against a second allowance, whatever came of it, and tells when the next is free", async () => {
      await open();
      const headers = { "x-forwarded-for": "198.51.100.7" };
      const raw = (text: string): Promise<Answer> =>
        world.send("POST", "/api/v1/check/public", { raw: text, key: null, project: null, headers });
      const refused = [
        () => raw("{"),
        () => raw(`${"[".repeat(40)}`),
        () => post({}),
        () => post({ config: VLESS, region: "de" }),
        () => post({ config: "x".repeat(102_401), protocol: "openvpn" }),
        () => post({ config: VLESS.replace("@vpn.test-site.org", "@192.0.2.7") }),
      ];
      for (let count = 0; count < 60; count++) {
        world.clock.nowMs = START_MS + count * 1_000;
        const answer = await refused[count % refused.length]?.();
        expect([400, 402, 413, 422]).toContain(answer?.status);
        expect(answer?.headers["x-ratelimit-remaining"]).toBe("5");
      }
      for (const last of [() => raw("{"), () => post({ config: VLESS })]) {
        const answer = await last();
        expect(answer.status).toBe(429);
        expect(answer.body).toEqual({
          error: "Public check limit exceeded",
          message: "Limit of 60 requests per hour exceeded",
          retry_after: 3_600 - 59,
        });
        expect(answer.headers["retry-after"]).toBe(String(3_600 - 59));
      }
      expect(bench.asked).toEqual([]);
      expect((await post({ config: VLESS }, "198.51.100.8")).status).toBe(200);
      world.clock.nowMs = START_MS + 3_600_000;
      expect((await post({ config: VLESS })).status).toBe(200);
      expect((await post({ config: VLESS })).status).toBe(429);
    });

    it("counts requests of a /64 together, and those of a /48", async () => {
      await open();
      const from = (subnet: number, host: number): string => `2001:db8:7:${subnet.toString(16)}::${host.toString(16)}`;
      for (let host = 1; host <= 60; host++) expect((await post({}, from(1, host))).status).toBe(400);
      expect((await post({}, from(1, 61))).status).toBe(429);
      for (let subnet = 2; subnet <= 4; subnet++) {
        for (let host = 1; host <= 60; host++) expect((await post({}, from(subnet, host))).status).toBe(400);
      }
      expect((await post({}, from(5, 1))).body.message).toBe("Limit of 240 requests per hour exceeded");
      expect((await post({}, "2001:db8:8:1::1")).status).toBe(400);
    });

    it("refuses every target of this network in one way: own ports, private and loopback addresses, names that lead there or could", async () => {
      await open({ ownEndpoints: ["127.0.0.1:5432", "9.9.9.9:8080"] });
      const texts = new Set<string>();
      for (const host of [
        "127.0.0.1:5432",
        "127.0.0.1:5433",
        "9.9.9.9:8080",
        "10.1.2.3:443",
        "192.0.2.7:443",
        "[::1]:443",
        "[fe80::1]:443",
        "localhost:443",
        "vpn.example.com:443",
        "inside.test-site.org:443",
        "postgres.internal:5432",
        "nowhere.internal:5432",
        "printer.local:443",
        "db.lan:5432",
      ]) {
        const startedAt = performance.now();
        const { status, text } = await post({ config: VLESS.replace("vpn.test-site.org:443", host) });
        expect([host, status]).toEqual([host, 422]);
        expect(performance.now() - startedAt).toBeGreaterThan(290);
        texts.add(text);
      }
      expect([...texts]).toEqual([JSON.stringify({ error: true, code: 422, message: TARGET_REFUSED })]);
      expect(bench.asked).toEqual([]);
    });

    it("says nothing of this network in an answer: what a fault of ours was, and what a core says of itself", async () => {
      await open();
      for (const [verdict, message, shown] of [
        ["unfit", "This checker's DNS servers (10.0.0.53) do not answer", "The checker could not run this check"],
        ["internal-error", "Error: connect to 10.0.0.8:5432", "The checker could not run this check"],
        ["unsupported", "xray is not installed in the data folder", "The checker could not run this check"],
        ["misconfigured", "xray refuses the config: listen tcp 127.0.0.1:4010", "xray refuses the config"],
        ["refused", "the port is closed", "the port is closed"],
      ] as const) {
        bench.measured({ verdict, latencyMs: null, connectMs: null, message });
        const { body } = await post({ config: VLESS });
        expect(body).toMatchObject({ status: "down", error_message: shown });
        const withKey = await world.send("POST", "/api/v1/check", { body: { config: VLESS }, project: null });
        expect(withKey.body.error_message).toBe(message);
      }
    });

    it("lets no more than five through at once", async () => {
      await open();
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async () => (await post({ config: VLESS })).status),
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(5);
      expect(statuses.filter((status) => status === 429)).toHaveLength(15);
      expect(bench.asked).toHaveLength(5);
    });

    it("has allowed networks of its own", async () => {
      const inside = { config: VLESS.replace("@vpn.test-site.org", "@10.1.2.3") };
      await open({ allowNets: ["10.0.0.0/8"] });
      expect((await world.send("POST", "/api/v1/check", { body: inside, project: null })).status).toBe(200);
      expect((await post(inside)).status).toBe(422);
      await world.close();
      await open({ publicAllowNets: ["10.0.0.0/8"] });
      expect((await post(inside)).status).toBe(200);
      expect((await world.send("POST", "/api/v1/check", { body: inside, project: null })).status).toBe(422);
    });

    it("sends no junk for anonymous callers", async () => {
      await open();
      const amnezia = (lines: string): string => WIREGUARD.replace("[Peer]", `${lines}\n[Peer]`);
      for (const junk of ["Jc = 4\nJmin = 40\nJmax = 70", "I1 = <b 0xf6>", " jc=1"]) {
        const { status, body } = await post({ protocol: "amneziawg", config: amnezia(junk) });
        expect([junk, status]).toEqual([junk, 422]);
        expect(body.message).toContain("not sent for public checks");
      }
      expect((await post({ protocol: "amneziawg", config: amnezia("Jc = 0\nS1 = 20\nH1 = 5") })).status).toBe(200);
    });

    it("has CORS, and no other region", async () => {
      await open();
      const preflight = await world.send("OPTIONS", "/api/v1/check/public", { key: null, project: null });
      expect(preflight.status).toBe(204);
      expect(preflight.headers["access-control-allow-methods"]).toContain("POST");
      for (const region of ["de", "DE", "germany", "", 5, ["any"]]) {
        expect((await post({ config: VLESS, region })).body).toEqual({
          error: true,
          code: 402,
          message: "Region targeting requires the Pro plan or above.",
        });
      }
      expect((await post({ config: VLESS, region: "any" })).status).toBe(200);
    });
  });
}
