/** IKEv2 through the whole product, against strongSwan: one-off checks, a monitor on schedule, a test. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { clientOf, type TestClient } from "../client.ts";
import { describeWith } from "../prerequisites.ts";
import { cleanUp, type RunningService, startService } from "../service.ts";
import { connections, LOGIN, PRE_SHARED_KEY } from "./ikev2-gateway.ts";
import { leaksOf } from "./secrets.ts";
import { type Gateway, INTERNET, openGateway } from "./strongswan.ts";

const WRONG = "a wrong password";

/** Enough of it to be found in any form that keeps its base64. */
function secretOf(gateway: Gateway): string {
  return gateway.client("laptop-rsa").key.split("\n")[3] ?? expect.fail("no key");
}

describeWith(["network namespaces", "strongSwan", "nft"], "IKEv2 in the product", () => {
  let gateway: Gateway;
  let service: RunningService;
  let client: TestClient;
  beforeAll(async () => {
    gateway = await openGateway();
    gateway.load(connections());
    service = await startService({
      env: {
        SONDE_ALLOW_NETS: "10.201.0.0/16",
        SONDE_TUNNEL_TARGETS: `icmp:${INTERNET}`,
        SONDE_CANARIES: "",
        SONDE_RESOLVERS: "127.0.0.1:1",
        SONDE_LOG: "trace",
      },
    });
    client = clientOf(service.url, service.firstKey ?? "");
  });
  afterAll(async () => {
    await service?.stop();
    await cleanUp();
    await gateway?.close();
  });

  const byLogin = () => ({
    protocol: "ikev2",
    host: gateway.namespace.serverIp,
    username: LOGIN.username,
    password: LOGIN.password,
    ca: gateway.authority.pem,
  });

  const byCertificate = () => ({
    protocol: "ikev2",
    host: gateway.namespace.serverIp,
    remote_id: "certid.test",
    local_id: "laptop@branch.test",
    ca: gateway.authority.pem,
    ...gateway.client("laptop-rsa"),
  });

  const byTls = () => ({
    protocol: "ikev2",
    host: gateway.namespace.serverIp,
    remote_id: "tls.test",
    username: "laptop@branch.test",
    ca: gateway.authority.pem,
    ...gateway.client("laptop-rsa"),
  });

  it("a one-off check says what the contract says", { timeout: 60_000 }, async () => {
    const good = await client.post("/check", byLogin());
    expect(good).toMatchObject({
      status: 200,
      body: {
        status: "healthy",
        protocol: "ikev2",
        config_detected: false,
        latency_ms: expect.any(Number),
        connect_ms: expect.any(Number),
        connection_time_ms: good.body.connect_ms,
        handshake_time_ms: expect.any(Number),
        assigned_ip: expect.stringMatching(/^10\.69\.0\./),
        error_message: null,
        error_category: null,
        engine_used: null,
      },
    });
    const wrong = await client.post("/check", { ...byLogin(), password: WRONG });
    expect(wrong.body).toMatchObject({
      status: "down",
      error_category: "auth_failed",
      error_message: expect.stringContaining("wrong username or password"),
    });
    const untrusted = await client.post("/check", { ...byLogin(), ca: gateway.untrusted.pem });
    expect(untrusted.body).toMatchObject({ status: "down", error_category: "cert_error" });
    const shared = { protocol: "ikev2", host: gateway.namespace.serverIp, password: PRE_SHARED_KEY };
    expect((await client.post("/check", { ...shared, remote_id: "psk.test" })).body).toMatchObject({
      status: "healthy",
    });
    expect((await client.post("/check", { ...byLogin(), password: undefined })).status).toBe(422);
    expect((await client.post("/check", byCertificate())).body).toMatchObject({ status: "healthy" });
    expect((await client.post("/check", byTls())).body).toMatchObject({ status: "healthy" });
    expect((await client.post("/check", { ...byTls(), password: WRONG })).status).toBe(422);
  });

  it("a monitor is checked on schedule and by test", { timeout: 120_000 }, async () => {
    const made = await client.post("/servers", { ...byLogin(), name: "gateway" });
    expect(made.status).toBe(200);
    const find = async () => (await client.get(`/servers/${made.body.id}`)).body;
    await expect.poll(async () => (await find()).status, { timeout: 60_000, interval: 500 }).toBe("healthy");
    expect(await find()).toMatchObject({ latency_ms: expect.any(Number), connect_ms: expect.any(Number) });
    const certified = await client.post("/servers", { ...byCertificate(), name: "certified" });
    const loggedIn = await client.post("/servers", { ...byTls(), name: "login by certificate" });
    for (const id of [made.body.id, certified.body.id, loggedIn.body.id]) {
      const test = await client.post("/test", { server_id: id });
      expect(test).toMatchObject({ status: 200, body: { status: "healthy", latency_ms: expect.any(Number) } });
    }
  });

  it("leaves no secret in output, stores and results", async () => {
    expect(await service.stop()).toBe(0);
    const secrets = {
      password: LOGIN.password,
      "pre-shared key": PRE_SHARED_KEY,
      "wrong password": WRONG,
      key: secretOf(gateway),
    };
    expect(leaksOf(service, secrets, [])).toEqual([]);
  });
});
