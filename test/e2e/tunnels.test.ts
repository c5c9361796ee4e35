/** Tunnels and locations through a whole service: closed ports of share links, secrets stay sealed, locations are merged. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen } from "../../demo/loopback.ts";
import { admin } from "../admin.ts";
import type { MonitorBody } from "../client.ts";
import { createMonitor, type Product, productEnv, startProduct, untilMonitor, untilStatus } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";

const MANY_LOCATIONS = fileURLToPath(new URL("../fixtures/many-locations.mjs", import.meta.url));
const UUID = "5ec2e700-1111-4222-8333-444455556666";
const SECRET = "sEcReT-for-tests";
const KEY = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const wg = (port: number) =>
  `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.9.0.2/32\n[Peer]\nPublicKey = ${KEY}\nEndpoint = 127.0.0.1:${port}\n`;

/** Loopback ports that no server listens on; what they answer is not asked here. */
const BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  wireguard: { protocol: "wireguard", config: wg(9) },
  amneziawg: { protocol: "amneziawg", config: wg(9) },
  openvpn: { protocol: "openvpn", config: `client\nremote 127.0.0.1 9\n<ca>\n${SECRET}\n</ca>\n` },
  openconnect: { protocol: "openconnect", host: "127.0.0.1", port: 9, username: "u", password: SECRET },
  ikev2: { protocol: "ikev2", host: "127.0.0.1", username: "u", password: SECRET },
  vless: { url: `vless://${UUID}@127.0.0.1:9` },
  vmess: { url: `vmess://${base64(JSON.stringify({ add: "127.0.0.1", port: 9, id: UUID }))}` },
  trojan: { url: `trojan://${SECRET}@127.0.0.1:9` },
  shadowsocks: { url: `ss://${base64(`aes-256-gcm:${SECRET}`)}@127.0.0.1:9` },
  hysteria2: { url: `hy2://${SECRET}@127.0.0.1:9` },
  tuic: { url: `tuic://${UUID}:${SECRET}@127.0.0.1:9` },
};

interface Regional {
  readonly regional_status: Readonly<Record<string, { readonly status: string; readonly error_category?: string }>>;
  readonly locations: readonly string[];
  readonly disabled_locations: readonly string[];
}

describe("tunnels in a whole service", () => {
  let product: Product;
  beforeAll(async () => {
    product = await startProduct();
  });
  afterAll(cleanUp);

  it.each(["vless", "vmess", "trojan", "shadowsocks"])(
    "a %s monitor whose server's port is closed is down, whether or not there is a proxy core",
    async (kind) => {
      const id = await createMonitor(product.api, { name: kind, ...BODIES[kind], interval: 1, maxretries: 1 });
      const monitor = (await untilStatus(product.api, id, "down")) as MonitorBody & Regional;
      expect(monitor.regional_status.any).toMatchObject({ status: "down", error_category: "server_not_connected" });
      const [row] = await eventually(async () => {
        const { body } = await product.api.get<{ results: readonly Record<string, unknown>[] }>(
          `/results/server/${id}`,
        );
        return body.results.length > 0 ? body.results : undefined;
      });
      expect(row).toMatchObject({
        protocol: kind,
        latency_ms: null,
        connect_ms: null,
        error_message: "Connection refused",
      });
      await product.api.put(`/servers/${id}`, { active: false });
    },
  );

  it("keeps their secrets out of everything that is on disk or in the log", async () => {
    for (const [name, body] of Object.entries(BODIES)) {
      const id = await createMonitor(product.api, { name, ...body, active: false });
      await product.api.put(`/servers/${id}`, { name: `${name} 2`, active: true });
      await product.api.put(`/servers/${id}`, { active: false });
    }
    await product.api.post("/subscriptions", { url: `http://127.0.0.1:9/${SECRET}` });
    expect(await product.stop()).toBe(0);
    const files = everyFile(product.dataDir);
    expect(files.some((file) => file.endsWith("control.sqlite"))).toBe(true);
    for (const secret of [SECRET, UUID, KEY, base64(`aes-256-gcm:${SECRET}`)]) {
      for (const file of files) expect([file, readFileSync(file).includes(secret)]).toEqual([file, false]);
      expect(product.output()).not.toContain(secret);
    }
  });
});

function everyFile(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const state = statSync(path);
    return state.isDirectory() ? everyFile(path) : state.isFile() ? [path] : [];
  });
}

interface TurnCoat {
  readonly url: string;
  /** Every other answer is a 500. */
  alternate(isOn: boolean): void;
  close(): void;
}

async function startTurnCoat(): Promise<TurnCoat> {
  let count = 0;
  let isAlternating = false;
  const server = createServer((_, response) => {
    count += 1;
    response.writeHead(isAlternating && count % 2 === 1 ? 500 : 200).end("all is well");
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/`,
    alternate(isOn) {
      isAlternating = isOn;
    },
    close: () => void server.close(),
  };
}

describe("locations in a whole service", () => {
  let product: Product;
  let site: TurnCoat;
  let env: Record<string, string> = {};
  beforeAll(async () => {
    site = await startTurnCoat();
    env = productEnv();
    product = await startProduct({ script: MANY_LOCATIONS, args: ["any,de,nl"], env });
  });
  afterAll(async () => {
    site.close();
    await cleanUp();
  });

  const regional = (id: string, wanted: (monitor: MonitorBody & Regional) => boolean) =>
    untilMonitor(product.api, id, (monitor) => wanted(monitor as MonitorBody & Regional)) as Promise<
      MonitorBody & Regional
    >;

  it("are merged: up in one and down in the other is partial", async () => {
    const body = { type: "http", name: "Two", url: site.url, interval: 1, maxretries: 1 };
    const id = await createMonitor(product.api, body);
    await untilStatus(product.api, id, "healthy");
    const facts = await admin(product, env, "monitor", "locations", id, "de,nl");
    expect(facts).toMatchObject({ id, locations: ["de", "nl"], disabled_locations: [], notify_on_partial: false });
    const both = await regional(id, ({ regional_status: at }) => at.de?.status === "up" && at.nl?.status === "up");
    expect([both.status, Object.keys(both.regional_status)]).toEqual(["healthy", ["de", "nl"]]);

    // The two take turns, so that every other answer is the same one's.
    site.alternate(true);
    const partial = await regional(id, ({ status }) => status === "partial");
    const statuses = Object.values(partial.regional_status).map(({ status }) => status);
    expect(statuses.sort()).toEqual(["down", "up"]);
    site.alternate(false);
    await untilStatus(product.api, id, "healthy");
  });

  it("are paused and taken up again, and left out where there is no checker", async () => {
    const id = await createMonitor(product.api, { type: "http", name: "Away", url: site.url, interval: 1 });
    await untilStatus(product.api, id, "healthy");
    await admin(product, env, "monitor", "locations", id, "de,fr,nl");
    const away = await regional(
      id,
      ({ regional_status: at }) => at.fr?.status === "unavailable" && at.nl?.status === "up",
    );
    expect([away.status, away.regional_status.de?.status]).toEqual(["healthy", "up"]);
    expect(await admin(product, env, "monitor", "disable-location", id, "nl")).toMatchObject({
      disabled_locations: ["nl"],
    });
    expect((await product.api.get<Regional>(`/servers/${id}`)).body.disabled_locations).toEqual(["nl"]);
    await admin(product, env, "monitor", "locations", id, "fr");
    const nowhere = await regional(id, ({ status }) => status !== "healthy");
    expect([nowhere.status, nowhere.regional_status.fr?.status, nowhere.disabled_locations]).toEqual([
      "unknown",
      "unavailable",
      [],
    ]);
    expect(await admin(product, env, "monitor", "notify-partial", id, "true")).toMatchObject({
      notify_on_partial: true,
    });
    expect((await product.api.get(`/servers/${id}`)).body.notify_on_partial).toBe(true);
    await admin(product, env, "monitor", "locations", id, "any");
    await untilStatus(product.api, id, "healthy");

    const refused = async (...words: string[]) => admin(product, env, "monitor", ...words).then(() => "done", String);
    expect(await refused("locations", id, "DE")).toContain("lowercase countries");
    expect(await refused("disable-location", id, "any")).toContain("pause the monitor instead");
    expect(await refused("enable-location", id, "de")).toContain("not checked from there");
    expect(await refused("notify-partial", id, "yes")).toContain("must be true or false");
    expect(await refused("locations", "srv_99999", "de")).toContain("there is no monitor srv_99999");
  });

  it("a subscription's engine is the operator's choice", async () => {
    const { body } = await product.api.post<{ id: number }>("/subscriptions", { url: site.url });
    expect(await admin(product, env, "subscription", "engine", String(body.id), "singbox")).toEqual({
      id: body.id,
      engine: "singbox",
    });
    expect((await product.api.get(`/subscriptions/${body.id}`)).body.engine).toBe("singbox");
  });
});
