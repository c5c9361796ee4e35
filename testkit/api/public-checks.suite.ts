/** One-off checks through the API without a key. */
import { afterEach, describe, expect, it } from "vitest";
import type { ApiConfig } from "../../api/api.ts";
import { TARGET_REFUSED } from "../../api/checks/anonymous.ts";
import { countedOf } from "../../api/checks/anonymous-quota.ts";
import { playChecker, VLESS, WIREGUARD } from "./played-checker.suite.ts";
import { type Answer, openWorld, START_MS, type World } from "./world.suite.ts";

export function publicChecksSuite(server: "net" | "node"): void {
  describe("POST /check/public", () => {
    let world: World;
    let checker: ReturnType<typeof playChecker>;
    const post = (body: unknown, from = "198.51.100.7"): Promise<Answer> =>
      world.send("POST", "/api/v1/check/public", {
        body,
        key: null,
        project: null,
        headers: { "x-forwarded-for": from },
      });
    async function open(config: Partial<ApiConfig> = {}): Promise<void> {
      checker = playChecker();
      world = await openWorld(server, { trustedProxies: ["127.0.0.1"], ...config }, {}, { checks: checker.checks });
    }
    afterEach(() => world.close());

    it("answers like /check, and counts", async () => {
      await open();
      const { status, body, headers } = await post({ config: VLESS, engine: "clash", region: "any", timeout: 99 });
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: "healthy", protocol: "vless", config_detected: true });
      expect(checker.asked[0]).toMatchObject({
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
      expect(checker.asked[1]?.check.timeoutMs).toBe(15_000);
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
      checker.say({ type: "untaken" });
      expect(await post({ config: VLESS })).toMatchObject({ status: 503, headers: { "x-ratelimit-remaining": "5" } });
      checker.say({ type: "lost" });
      expect(await post({ config: VLESS })).toMatchObject({ status: 502, headers: { "x-ratelimit-remaining": "5" } });
      checker.measured({ verdict: "timeout", latencyMs: null, connectMs: null, message: "silence" });
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
      expect(checker.asked).toEqual([]);
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
      expect(checker.asked).toEqual([]);
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
        checker.measured({ verdict, latencyMs: null, connectMs: null, message });
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
      expect(checker.asked).toHaveLength(5);
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
