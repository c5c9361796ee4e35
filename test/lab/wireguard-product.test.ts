/** WireGuard through the whole product, against a real server: one-off checks, monitors on schedule, tests. */
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { describeWith } from "../prerequisites.ts";
import { cleanUp, type RunningService, startService } from "../service.ts";
import { buildGo, makeKeys, startGoServer } from "./go-server.ts";
import { LAB, type Lab, openLab } from "./network.ts";
import { leaksOf } from "./secrets.ts";

const CLIENT = new URL("../fixtures/lab-client.mjs", import.meta.url);
const PORT = 51_900;
const PRESHARED = Buffer.alloc(32, 0x5a).toString("base64");

describeWith(["network namespaces", "setpriv", "go"], "WireGuard in the product", () => {
  const folder = temporaryFolder();
  const [server, phone, tablet] = [makeKeys(), makeKeys(), makeKeys()];
  let lab: Lab;
  let service: RunningService;
  let ask: (method: string, path: string, body?: unknown) => Promise<{ status: number; body: Record<string, unknown> }>;

  beforeAll(async () => {
    lab = await openLab();
    await startGoServer(lab, {
      server: "wireguard-go",
      program: await buildGo("wireguard-go", folder),
      device: `sonp${process.pid % 100_000}`,
      port: PORT,
      keys: server,
      clients: [
        { publicKey: phone.publicKey, allowed: ["10.66.9.2/32"] },
        { publicKey: tablet.publicKey, allowed: ["10.66.9.3/32"] },
      ],
      addresses: ["10.66.9.1/24"],
    });
    const [, ...command] = lab.within("cli");
    service = await startService({
      command: ["setpriv", ...command, process.execPath],
      port: 18_080,
      env: {
        SONDE_ALLOW_NETS: "10.64.0.0/10",
        SONDE_TUNNEL_TARGETS: `icmp:${LAB.internet}`,
        SONDE_CANARIES: "",
        SONDE_RESOLVERS: "10.77.0.1:53",
        SONDE_LOG: "trace",
      },
    });
    ask = clientIn(lab, service);
  }, 240_000);
  afterAll(async () => {
    await service?.stop();
    await cleanUp();
    await lab?.close();
  });

  const config = (client = phone, address = "10.66.9.2", serverKey = server.publicKey.base64) =>
    `[Interface]\nPrivateKey = ${client.privateKey.base64}\nAddress = ${address}/32\n[Peer]\nPublicKey = ${serverKey}\nEndpoint = ${LAB.server}:${PORT}\nAllowedIPs = 0.0.0.0/0\n`;

  const amnezia = () =>
    config()
      .replace("[Peer]", "Jc = 1\nJmin = 8\nJmax = 9\nS1 = 20\nS2 = 33\nH1 = 5\nH2 = 6\nH3 = 7\nH4 = 8\n[Peer]")
      .concat(`PresharedKey = ${PRESHARED}\n`);

  it("a one-off check says what the contract says", { timeout: 60_000 }, async () => {
    const good = await ask("POST", "/check", { config: config(), protocol: "wireguard" });
    expect(good).toMatchObject({
      status: 200,
      body: {
        status: "healthy",
        protocol: "wireguard",
        config_detected: false,
        latency_ms: expect.any(Number),
        connect_ms: expect.any(Number),
        connection_time_ms: good.body.connect_ms,
        handshake_time_ms: expect.any(Number),
        assigned_ip: "10.66.9.2",
        error_message: null,
        error_category: null,
        engine_used: null,
      },
    });
    const unknownKey = await ask("POST", "/check", { config: config(makeKeys()), protocol: "wireguard" });
    expect(unknownKey.body).toMatchObject({
      status: "down",
      latency_ms: null,
      connect_ms: null,
      error_category: "server_not_connected",
      error_message: expect.stringContaining("No handshake response"),
    });
    const stuck = await ask("POST", "/check", {
      config: config(phone, "10.66.9.77"),
      protocol: "wireguard",
      timeout: 5,
    });
    expect(stuck.body).toMatchObject({ status: "down", error_category: "internet_stuck", assigned_ip: "10.66.9.77" });
  });

  it("monitors are checked on schedule and by test, two of one key too", { timeout: 120_000 }, async () => {
    const made = await ask("POST", "/servers", {
      protocol: "wireguard",
      name: "tablet",
      config: config(tablet, "10.66.9.3"),
    });
    expect(made.status).toBe(200);
    const twin = await ask("POST", "/servers", {
      protocol: "wireguard",
      name: "twin",
      config: config(tablet, "10.66.9.3"),
    });
    for (const { body } of [made, twin]) {
      const { id } = body as { id: string };
      const find = async () => (await ask("GET", `/servers/${id}`)).body;
      await expect.poll(async () => (await find()).status, { timeout: 60_000, interval: 500 }).toBe("healthy");
      expect(await find()).toMatchObject({ latency_ms: expect.any(Number), connect_ms: expect.any(Number) });
      const test = await ask("POST", "/test", { server_id: id });
      expect(test).toMatchObject({ status: 200, body: { status: "healthy", latency_ms: expect.any(Number) } });
    }
  });

  it("a silent peer beside the one that decides is told, and counts where a monitor asks for it", {
    timeout: 120_000,
  }, async () => {
    const silent = `[Peer]\nPublicKey = ${makeKeys().publicKey.base64}\nEndpoint = ${LAB.blackHole}:${PORT}\nAllowedIPs = 10.9.0.0/24\n`;
    const body = {
      protocol: "wireguard",
      name: "two peers",
      config: config().replace("[Peer]", `${silent}[Peer]`),
      maxretries: 1,
    };
    const { id } = (await ask("POST", "/servers", body)).body as { id: string };
    const find = async () => (await ask("GET", `/servers/${id}`)).body;
    await expect.poll(async () => (await find()).status, { timeout: 60_000, interval: 500 }).toBe("healthy");
    const words = `no answer came from Peer 1 (${LAB.blackHole}:${PORT})`;
    const told = async () => JSON.stringify((await ask("GET", `/results/server/${id}?explain=true`)).body);
    await expect.poll(told, { timeout: 20_000, interval: 500 }).toContain(words);
    expect((await ask("PUT", `/servers/${id}`, { all_peers: true })).status).toBe(200);
    await ask("POST", "/test", { server_id: id });
    await expect.poll(async () => (await find()).status, { timeout: 60_000, interval: 500 }).toBe("degraded");
    const incidents = await ask("GET", `/incidents?server_id=${id}`);
    expect(incidents.body).toMatchObject({ incidents: [{ error_type: "degraded", severity: "warning" }] });
    expect(JSON.stringify(incidents.body)).toContain(words);
  });

  it("leaves no key in output, stores and results", async () => {
    const { body } = await ask("POST", "/check", { config: amnezia(), protocol: "amneziawg", timeout: 5 });
    expect(body).toMatchObject({ status: "down" });
    expect(await service.stop()).toBe(0);
    const secrets = {
      "key of the phone": phone.privateKey.base64,
      "key of the tablet": tablet.privateKey.base64,
      "preshared key": PRESHARED,
    };
    expect(leaksOf(service, secrets, [body])).toEqual([]);
  });
});

/** The service listens on loopback of its namespace, so who asks is there too. */
function clientIn(lab: Lab, { port, firstKey }: RunningService) {
  const child = lab.start("cli", process.execPath, [fileURLToPath(CLIENT)]);
  if (child.stdin === null || child.stdout === null) throw new Error("the client has no pipes");
  const { stdin } = child;
  const lines: Interface = createInterface(child.stdout);
  return async (method: string, path: string, body?: unknown) => {
    const headers = { "x-api-key": firstKey ?? "", "x-project-id": "prj_1", "content-type": "application/json" };
    const answered = once(lines, "line");
    stdin.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/api/v1${path}`, method, headers, body })}\n`);
    const [line] = await answered;
    return JSON.parse(String(line));
  };
}
