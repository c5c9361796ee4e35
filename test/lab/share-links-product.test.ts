/** Share links through the whole product, at real servers: one-off checks, monitors on schedule, tests on demand. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { findCore } from "../../engine/cores/program.ts";
import type { MonitorBody } from "../client.ts";
import { describeWith } from "../prerequisites.ts";
import { createMonitor, type Product, startProduct, untilStatus } from "../product.ts";
import { cleanUp } from "../service.ts";
import { CORE_PLACES } from "./cores.ts";
import { type LinkRig, OTHER_UUID, openLinkRig, PASSWORD, UUID } from "./link-rig.ts";

type Body = Readonly<Record<string, unknown>>;

describeWith(["proxy cores"], "share links in the product", () => {
  let rig: LinkRig;
  let product: Product;
  let vless = "";
  let tuic = "";
  beforeAll(async () => {
    rig = await openLinkRig();
    const files = { certificate_path: `${rig.folder}/server.crt`, key_path: `${rig.folder}/server.key` };
    const [vlessPort = 0, tuicPort = 0] = await rig.serve("singbox", [
      { type: "vless", users: [{ uuid: UUID }] },
      { type: "tuic", users: [{ uuid: UUID, password: PASSWORD }], tls: { enabled: true, alpn: ["h3"], ...files } },
    ]);
    vless = `vless://${UUID}@127.0.0.1:${vlessPort}`;
    tuic = `tuic://${UUID}:${PASSWORD}@127.0.0.1:${tuicPort}?sni=localhost&alpn=h3`;
    product = await startProduct({
      env: {
        SONDE_XRAY: findCore("xray", CORE_PLACES)?.path ?? "",
        SONDE_SING_BOX: findCore("singbox", CORE_PLACES)?.path ?? "",
        SONDE_VERIFY_URLS: rig.verifyUrls.join(","),
        SONDE_EXTRA_CA: `${rig.folder}/links.crt`,
        SONDE_PUBLIC_ALLOW_NETS: "127.0.0.0/8",
      },
    });
  });
  afterAll(async () => {
    await cleanUp();
    await rig.close();
  });
  const check = async (body: Body): Promise<Body> => (await product.api.post<Body>("/check", body)).body;

  it("POST /check tells the times, the engine and the address that traffic leaves from", async () => {
    expect(await check({ config: vless })).toEqual({
      test_id: expect.any(String),
      status: "healthy",
      protocol: "vless",
      config_detected: true,
      tested_at: expect.any(String),
      latency_ms: expect.any(Number),
      connect_ms: expect.any(Number),
      connection_time_ms: expect.any(Number),
      handshake_time_ms: null,
      assigned_ip: "127.0.0.1",
      error_message: null,
      error_category: null,
      engine_used: "singbox",
    });
    expect(await check({ config: vless, engine: "xray" })).toMatchObject({ status: "healthy", engine_used: "xray" });
    expect(await check({ config: tuic })).toMatchObject({ status: "healthy", engine_used: "singbox" });
    expect((await product.api.post("/check", { config: tuic, engine: "xray" })).status).toBe(422);
  }, 60_000);

  it("POST /check says what is wrong", async () => {
    expect(await check({ config: vless.replace(UUID, OTHER_UUID) })).toMatchObject({
      status: "down",
      error_category: "auth_failed",
      latency_ms: null,
      connect_ms: null,
      assigned_ip: null,
    });
    expect(await check({ config: tuic.replace("sni=localhost", "sni=other.sonde-lab.net") })).toMatchObject({
      status: "down",
      error_category: "cert_error",
    });
    expect(await check({ config: `vless://${UUID}@127.0.0.1:9` })).toMatchObject({
      status: "down",
      error_category: "server_not_connected",
      engine_used: null,
    });
  }, 60_000);

  it("POST /check says that a tunnel leads nowhere before its time is over", async () => {
    const [port = 0] = await rig.serve("xray", [{ protocol: "vmess", settings: { clients: [{ id: UUID }] } }]);
    const link = { v: "2", add: "127.0.0.1", port, id: OTHER_UUID, aid: "0", scy: "auto", net: "tcp" };
    const config = `vmess://${Buffer.from(JSON.stringify(link)).toString("base64")}`;
    expect(await check({ config, timeout: 5 })).toMatchObject({ status: "down", error_category: "internet_stuck" });
  }, 60_000);

  it("POST /check/public runs them for anonymous callers", async () => {
    expect((await product.api.post<Body>("/check/public", { config: vless })).body).toMatchObject({
      status: "healthy",
    });
  }, 60_000);

  it("monitors are healthy, degraded when the credentials are refused, and tested on demand", async () => {
    const good = await createMonitor(product.api, { name: "good", url: vless, interval: 1 });
    const wrong = await createMonitor(product.api, {
      name: "wrong",
      url: vless.replace(UUID, OTHER_UUID),
      interval: 1,
      maxretries: 1,
    });
    const monitor = (await untilStatus(product.api, good, "healthy")) as MonitorBody & Body;
    expect(monitor.latency_ms).toEqual(expect.any(Number));
    expect(monitor.connect_ms).toEqual(expect.any(Number));
    await untilStatus(product.api, wrong, "degraded");
    const { body } = await product.api.post<Body>("/test", { server_id: good });
    expect(body).toMatchObject({ status: "healthy" });
    for (const id of [good, wrong]) await product.api.put(`/servers/${id}`, { active: false });
    expect(await (await fetch(`${product.url}/metrics`)).text()).toMatch(/^sonde_cores_started_total [1-9]/m);
    expect(product.output()).not.toContain(UUID);
  }, 90_000);
});
