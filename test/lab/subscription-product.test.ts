/** A subscription of servers that work, through the whole product and real cores: each config tested by itself, one that passes is enough. */
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { type ProviderServer, startProvider } from "../../engine/subscription/provider-server.suite.ts";
import { openReceiver } from "../../scheduler/webhooks/receivers.suite.ts";
import { freePort } from "../../testkit/free-port.ts";
import { admin } from "../admin.ts";
import { describeWith } from "../prerequisites.ts";
import { type Product, startProduct } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import { CORE_PLACES } from "./cores.ts";
import { type LinkRig, OTHER_UUID, openLinkRig, PASSWORD, UUID } from "./link-rig.ts";

const WITHIN_MS = 120_000;

interface Config {
  readonly tag: string;
  readonly type: string;
  readonly success: boolean;
  readonly total_ms: number;
  readonly error: string;
  readonly error_category: string;
  readonly public_ip: string;
  readonly engine_used: string;
  readonly region_results: Readonly<Record<string, { readonly success: boolean; readonly public_ip: string }>>;
}
interface Imported {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly protocol: string;
  readonly latency_ms: number | null;
  readonly connect_ms: number | null;
  readonly last_checked: string | null;
  readonly subscription?: {
    readonly healthy_count: number;
    readonly config_count: number;
    readonly configs: readonly Config[];
  };
}

describeWith(["proxy cores"], "a subscription in the product", () => {
  let rig: LinkRig;
  let provider: ProviderServer;
  let endpoint: Server;
  let product: Product;
  let closed = 0;
  let ports: readonly number[] = [];

  beforeAll(async () => {
    rig = await openLinkRig();
    // On every address of loopback, so that there are several servers.
    const everywhere = { listen: "0.0.0.0" };
    ports = await rig.serve("singbox", [
      { type: "vless", users: [{ uuid: UUID }], ...everywhere },
      { type: "shadowsocks", method: "aes-256-gcm", password: PASSWORD, ...everywhere },
    ]);
    closed = await freePort();
    provider = await startProvider();
    endpoint = createServer((request, response) => {
      response.end(JSON.stringify({ ip: request.socket.remoteAddress?.replace("::ffff:", "") }));
    });
    const port = await listen(endpoint);
    product = await startProduct({
      env: {
        SONDE_VERIFY_URLS: `http://127.0.0.1:${port}/#ip`,
        ...(CORE_PLACES.xray !== null && { SONDE_XRAY: CORE_PLACES.xray }),
        ...(CORE_PLACES.singbox !== null && { SONDE_SING_BOX: CORE_PLACES.singbox }),
      },
    });
  }, WITHIN_MS);
  afterAll(async () => {
    await cleanUp();
    endpoint?.close();
    await provider?.close();
    await rig?.close();
  });

  const vless = (host: string, name: string, uuid = UUID, port = ports[0]): string =>
    `vless://${uuid}@${host}:${port}#${name}`;
  const shadowsocks = (host: string, name: string, password = PASSWORD): string =>
    `ss://${Buffer.from(`aes-256-gcm:${password}`).toString("base64")}@${host}:${ports[1]}#${name}`;

  async function judged(): Promise<readonly Imported[]> {
    return eventually(async () => {
      const { body } = await product.api.get<{ servers: readonly Imported[] }>("/servers");
      const isDone = (one: Imported): boolean => one.last_checked !== null && one.status !== "degraded";
      return body.servers.length > 0 && body.servers.every(isDone) ? body.servers : undefined;
    }, WITHIN_MS);
  }

  it("says how each config does: one that passes is enough, none is down", { timeout: WITHIN_MS }, async () => {
    provider.answer(
      "/list",
      [
        vless("127.0.0.11", "right"),
        vless("127.0.0.11", "wrong", OTHER_UUID),
        vless("127.0.0.11", "closed", UUID, closed),
        shadowsocks("127.0.0.11", "other%20kind"),
        vless("127.0.0.12", "dead", UUID, closed),
      ].join("\n"),
    );
    const { status, body } = await product.api.post("/subscriptions", {
      url: provider.url("/list"),
      syncIntervalSec: 60,
      timeoutSeconds: 10,
    });
    expect([status, body]).toMatchObject([200, { lastSyncStatus: "pending" }]);
    const servers = await judged();
    const [alive, dead] = ["healthy", "down"].map((status) => servers.find((one) => one.status === status));
    expect(alive).toMatchObject({
      // The labels of its configs have nothing in common.
      name: "127.0.0.11",
      status: "healthy",
      protocol: "vless",
      latency_ms: expect.any(Number),
      connect_ms: expect.any(Number),
      subscription: { config_count: 4, healthy_count: 2 },
    });
    const passed = { success: true, error: "", error_category: "", public_ip: expect.stringMatching(/^127\./) };
    expect(alive?.subscription?.configs).toMatchObject([
      { tag: "right", type: "vless", ...passed, engine_used: expect.stringMatching(/^(xray|singbox)$/) },
      { tag: "wrong", success: false, public_ip: "", error: expect.stringMatching(/./) },
      { tag: "closed", success: false, error_category: "server_not_connected" },
      { tag: "other kind", type: "shadowsocks", ...passed },
    ]);
    expect(alive?.subscription?.configs[0]?.region_results).toMatchObject({ any: passed });
    expect(dead).toMatchObject({
      name: "dead",
      status: "down",
      latency_ms: null,
      subscription: { config_count: 1, healthy_count: 0 },
    });
    expect(JSON.stringify([dead, alive])).not.toMatch(new RegExp(`${UUID}|${PASSWORD}`));
  });

  it("answers a test of such a monitor with the same judgement", { timeout: WITHIN_MS }, async () => {
    const servers = await judged();
    for (const { id, status } of servers) {
      const { body } = await product.api.post("/test", { server_id: id });
      expect(body).toMatchObject({
        server_id: id,
        status,
        error_message: status === "healthy" ? null : expect.any(String),
      });
    }
  });

  it("tells when too small a share of a server's configs works, and when it is back", {
    timeout: WITHIN_MS,
  }, async () => {
    const receiver = await openReceiver();
    const events = "monitor.configs_failing,monitor.configs_recovered";
    const words = ["webhook", "create", "--project", "prj_1", "--url", receiver.url, "--events", events];
    await admin(product, { SONDE_ALLOW_NETS: "127.0.0.0/8" }, ...words);
    const alive = (await judged()).find(({ status }) => status === "healthy");
    const { body: list } = await product.api.get<{ subscriptions: readonly { readonly id: number }[] }>(
      "/subscriptions",
    );
    const path = `/subscriptions/${list.subscriptions[0]?.id}`;
    const heard = (type: string, percent: number): Promise<{ readonly data: Readonly<Record<string, unknown>> }> =>
      eventually(async () => {
        const changed = await product.api.put(path, { configAlertPercent: percent });
        expect([changed.status, changed.body]).toMatchObject([200, { configAlertPercent: percent }]);
        await product.api.post("/test", { server_id: alive?.id });
        const found = receiver.received.find(({ body }) => JSON.parse(body).type === type);
        return found === undefined ? undefined : JSON.parse(found.body);
      }, WITHIN_MS);
    // Half of its four configs work, which is enough by default.
    expect((await heard("monitor.configs_failing", 60)).data).toMatchObject({
      monitor: { id: alive?.id, status: "healthy" },
      ...{ configs_working: 2, configs_total: 4, location: "any" },
    });
    await heard("monitor.configs_recovered", 50);
    expect(receiver.received).toHaveLength(2);
    await receiver.close();
  });
});
