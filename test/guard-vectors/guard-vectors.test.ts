/**
 * What an attacker gets sent, by every kind, door and disguise: a whole service in a namespace, an attacker's DNS and website in another, and
 * the kernel's own record of where every packet went. What the service says is not asked.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../demo/certificates.ts";
import { KINDS } from "../../engine/contract/registry.ts";
import { parseProxyLink } from "../../engine/protocols/share-link/proxy-link.ts";
import { isPassive } from "../../model/kind.ts";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { CORE_PLACES } from "../lab/cores.ts";
import { describeWith } from "../prerequisites.ts";
import { type Product, productEnv, startProduct } from "../product.ts";
import { cleanUp, ended, eventually, runSonde } from "../service.ts";
import { NET, openVectorNetwork, type Sent, type VectorNetwork } from "./network.ts";
import { ADDRESSED, bodiesOf, type Vector, worldOf } from "./vectors.ts";

const WORLD = new URL("../fixtures/hostile-world.mjs", import.meta.url);
const API_PORT = 18_080;
const REDIS_PORT = 18_063;
const TOKEN = "token-of-the-vectors";
/** Another build of the service, to compare with; ours when not set. */
const SCRIPT = process.env.SONDE_VECTORS_SCRIPT;
/** Requests at once. */
const AT_ONCE = 12;
/** Everything that was accepted has been checked by then, also where tunnels run into their time-outs, ms. */
const CHECKED_WITHIN_MS = 150_000;
/** A name is resolved again every minute, ms. */
const FAILED_OVER_WITHIN_MS = 90_000;
const CONTROL_ROUNDS = 5;
const HARMLESS_PORT = 19_999;

const settings = (resolver: string, address: string, redisUrl: string): Record<string, string> => ({
  ...productEnv(),
  SONDE_HOST: address,
  SONDE_REDIS_URL: redisUrl,
  SONDE_RESOLVERS: resolver,
  // Wide networks, loopback by ports, and one address of this machine by name.
  SONDE_ALLOW_NETS: [
    "10.0.0.0/8",
    "fd00::/8",
    "127.0.0.0/8:18000-18100",
    "127.0.0.0/8:32768-60999",
    NET.lanNamed,
    `${NET.second}/32:${REDIS_PORT}`,
  ].join(),
  SONDE_PUBLIC_ALLOW_NETS: "10.91.0.0/16",
  SONDE_TRUSTED_PROXIES: "10.204.0.0/16",
  SONDE_METRICS_TOKEN: TOKEN,
  ...(CORE_PLACES.xray !== null && { SONDE_XRAY: CORE_PLACES.xray }),
  ...(CORE_PLACES.singbox !== null && { SONDE_SING_BOX: CORE_PLACES.singbox }),
});

interface Listed {
  readonly id: string;
  readonly last_checked: string | null;
}

describeWith(
  ["root", "network namespaces", "nft", "redis-server", "proxy cores"],
  "what is sent for an attacker",
  () => {
    const authority = makeAuthority();
    const world = worldOf(authority.certPem);
    const children: ChildProcess[] = [];
    let network: VectorNetwork;
    let product: Product;
    let env: Record<string, string>;
    let callers = 0;
    let webhooks = 0;
    let asked = "";
    let flippedAtMs = 0;

    beforeAll(async () => {
      network = await openVectorNetwork();
      await startWorld();
      await startRedis("svc", ["127.0.0.1", NET.lanNamed, NET.lan, NET.second]);
      await startRedis("out", [NET.neighbour]);
      network.setHost("store.lan", "127.0.0.1");
      env = settings(NET.resolver, network.address, `redis://store.lan:${REDIS_PORT}`);
      const command = [...network.within("svc"), process.execPath];
      product = await startProduct({ env, command, port: API_PORT, ...(SCRIPT !== undefined && { script: SCRIPT }) });
      // Fails over to another machine while everything else goes on.
      network.setHost("store.lan", NET.neighbour);
      flippedAtMs = performance.now();
    });
    afterAll(async () => {
      await cleanUp();
      for (const child of children) child.kill("SIGKILL");
      network?.close();
    });

    async function startWorld(): Promise<void> {
      const file = join(temporaryFolder(), "world.json");
      const { names, lists } = world;
      const dns = [NET.resolver, NET.systemResolver];
      const { certPem, keyPem } = makeCertificate({ commonName: NET.site, names: [NET.site], issuer: authority });
      const tls = { cert: certPem, key: keyPem };
      asked = join(temporaryFolder(), "asked");
      writeFileSync(asked, "");
      writeFileSync(file, JSON.stringify({ asked, dns, web: [NET.site, NET.siteV6], tls, names, lists }));
      const child = start("out", process.execPath, fileURLToPath(WORLD), file);
      await once(child.stdout ?? child, "data");
    }

    async function startRedis(side: "svc" | "out", addresses: readonly string[]): Promise<void> {
      const words = ["--port", String(REDIS_PORT), "--save", "", "--protected-mode", "no", "--bind", ...addresses];
      const child = start(side, "redis-server", ...words, "--dir", temporaryFolder());
      let output = "";
      child.stdout?.on("data", (bytes: Buffer) => {
        output += bytes;
      });
      await eventually(async () => (output.includes("Ready to accept") ? true : undefined));
    }

    function start(side: "svc" | "out", ...command: readonly string[]): ChildProcess {
      const [first = "", ...rest] = ["setpriv", "--pdeathsig", "KILL", "--", ...network.within(side), ...command];
      const child = spawn(first, rest, { stdio: ["pipe", "pipe", "inherit"] });
      children.push(child);
      return child;
    }

    async function request(method: string, path: string, body: unknown, from = "198.18.0.1"): Promise<Response> {
      return fetch(`${product.url}/api/v1${path}`, {
        method,
        headers: {
          "content-type": "application/json",
          "x-forwarded-for": from,
          ...(path !== "/check/public" && { "x-api-key": product.key, "x-project-id": "prj_1" }),
        },
        body: JSON.stringify(body),
      });
    }

    const COMMON = { name: "Vector", interval: 86_400, timeout: 10, maxretries: 1 };

    /** Sends it in; what is answered does not matter. */
    async function sendIn(vector: Vector): Promise<void> {
      const { door, body } = vector;
      if (door === "server") await (await request("POST", "/servers", { ...COMMON, ...body })).text();
      else if (door === "put") await change(vector);
      else if (door === "subscription") await subscribe(body);
      else if (door === "webhook") await addWebhook(String(body.url));
      else {
        const { url, ...rest } = body;
        const order = { ...rest, ...(url !== undefined && { config: url }), timeout: 5 };
        const caller = `198.18.${1 + (callers >> 8)}.${callers++ & 255}`;
        await (await request("POST", door === "check" ? "/check" : "/check/public", order, caller)).text();
      }
    }

    /** A harmless monitor of the kind, then the same with what is meant. */
    async function change({ before, body }: Vector): Promise<void> {
      const created = await request("POST", "/servers", { ...COMMON, ...before });
      const { id } = (await created.json()) as { id?: string };
      if (id === undefined) throw new Error(`a harmless monitor was refused: ${JSON.stringify(before)}`);
      const { type: _type, protocol: _protocol, ...fields } = body;
      await (await request("PUT", `/servers/${id}`, fields)).text();
    }

    /** Its list is asked for at once. */
    async function subscribe(body: Vector["body"]): Promise<void> {
      const created = await request("POST", "/subscriptions", { ...body, name: "Vector" });
      const { id } = (await created.json()) as { id?: number };
      if (id !== undefined) await (await request("POST", `/subscriptions/${id}/sync`, {})).text();
    }

    async function addWebhook(url: string): Promise<void> {
      const { child } = await runSonde({
        dataDir: product.dataDir,
        env,
        command: [...network.within("svc"), process.execPath],
        args: ["admin", "webhook", "create", "--project", "prj_1", "--url", url, "--json"],
        ...(SCRIPT !== undefined && { script: SCRIPT }),
      });
      if ((await ended(child, () => {})) === 0) webhooks++;
    }

    /** Every monitor has been checked, every list was asked for, every webhook has been tried. */
    async function untilQuiet(): Promise<void> {
      await eventually(async () => ((await unchecked()) === 0 ? true : undefined), CHECKED_WITHIN_MS);
      await eventually(async () => {
        const response = await fetch(`${product.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
        const attempts = [...(await response.text()).matchAll(/sonde_webhook_attempts_total\{[^}]*\} (\d+)/g)];
        return attempts.reduce((sum, [, count]) => sum + Number(count), 0) >= webhooks ? true : undefined;
      }, CHECKED_WITHIN_MS);
    }

    async function unchecked(): Promise<number> {
      const { body } = await product.api.get<{ subscriptions: readonly { lastSyncStatus: string | null }[] }>(
        "/subscriptions",
      );
      let waiting = body.subscriptions.filter(({ lastSyncStatus }) => !isSynced(lastSyncStatus)).length;
      for (let offset = 0; ; offset += 500) {
        const page = await product.api.get<{ servers: readonly Listed[] }>(
          `/servers?family=all&active_only=1&limit=500&offset=${offset}`,
        );
        const { servers } = page.body;
        waiting += servers.filter(({ last_checked }) => last_checked === null).length;
        if (servers.length < 500) return waiting;
      }
    }

    /** On a busy machine a core may not be ready within a check's time: that says nothing of the guard. */
    async function repeatControls(): Promise<void> {
      for (let round = 0; round < CONTROL_ROUNDS; round++) {
        const sent = network.sent();
        const missing = world.vectors.filter((each) => each.mustArrive === true && arrivals(each, sent).length === 0);
        if (missing.length === 0) return;
        await inTurns(missing, 2, sendIn);
        await untilQuiet();
      }
    }

    function arrivals({ watched, allowed }: Vector, sent: readonly Sent[]): readonly Sent[] {
      return sent.filter(({ to, port }) =>
        "port" in watched ? port === watched.port && !allowed.includes(to) : to === watched.to,
      );
    }

    /** @returns those that did not hold */
    function judge(title: string, vectors: readonly Vector[], sent: readonly Sent[]): readonly string[] {
      const groups = new Map<string, { held: number; all: number }>();
      const failed: string[] = [];
      for (const vector of vectors) {
        const found = arrivals(vector, sent);
        const held = vector.mustArrive === true ? found.length > 0 : found.length === 0;
        const group = groups.get(vector.group) ?? { held: 0, all: 0 };
        groups.set(vector.group, { held: group.held + (held ? 1 : 0), all: group.all + 1 });
        const where = found.map(({ to, protocol, port }) => `${protocol} ${to} ${port}`).join(", ");
        if (!held) failed.push(`${vector.group}: ${vector.name}${where === "" ? " did not arrive" : ` (${where})`}`);
      }
      const lines = [...groups].map(([group, { held, all }]) => `  ${group}: ${held} of ${all}`);
      console.info(`${title}\n${lines.join("\n")}\n  all: ${vectors.length - failed.length} of ${vectors.length}`);
      return failed;
    }

    it("are of every kind that dials", () => {
      const host = "a.test-site.org";
      const bodies = [
        ...Object.values(bodiesOf("")).map((make) => make(host, 443)),
        ...Object.values(ADDRESSED).map((make) => make(host)),
      ];
      const kindOf = ({ type, protocol, url }: Vector["body"]) =>
        type ?? protocol ?? parseProxyLink(String(url)).config.account.protocol;
      expect(new Set(bodies.map(kindOf))).toEqual(new Set(KINDS.filter((kind) => !isPassive(kind))));
    });

    it("holds against every kind, door and disguise", { timeout: 400_000 }, async () => {
      // Goes down at once, and so gives webhooks something to tell.
      await request("POST", "/servers", { ...COMMON, interval: 1, type: "port", host: network.address, port: 9 });
      const down = { ...COMMON, interval: 1, type: "port", host: NET.neighbour, port: 9 };
      expect((await request("POST", "/servers", down)).status).toBe(200);
      const [hooks, others] = [
        world.vectors.filter(({ door }) => door === "webhook"),
        world.vectors.filter(({ door }) => door !== "webhook"),
      ];
      const begunMs = performance.now();
      await Promise.all([inTurns(hooks, 2, sendIn), inTurns(others, AT_ONCE, sendIn)]);
      await untilQuiet();
      await repeatControls();
      const failed = judge("vectors", world.vectors, network.sent());
      console.info(`${Math.round(performance.now() - begunMs)} ms`);
      expect(failed).toEqual([]);
      // Names that callers send are asked of SONDE_RESOLVERS alone, for every caller.
      const questions = readFileSync(asked, "utf8").trim().split("\n");
      const ofCallers = questions.filter((line) => line.endsWith("evil-site.org"));
      expect(ofCallers.length).toBeGreaterThan(0);
      expect(ofCallers.filter((line) => line.startsWith(NET.systemResolver))).toEqual([]);
    });

    it("keeps everything that listens on our behalf from being reached at any address", {
      timeout: 120_000,
    }, async () => {
      const listening = network.listeners().filter(({ program, protocol }) => protocol === "tcp" && program !== "");
      expect(listening.map(({ port }) => port)).toEqual(expect.arrayContaining([API_PORT, REDIS_PORT]));
      expect(listening.length).toBeGreaterThanOrEqual(3);
      const ports = [...new Set(listening.map(({ port }) => port))];
      const hosts = ["127.0.0.2", "127.8.8.8", NET.lanNamed, NET.lan, NET.second, `${NET.anyIp}.9`, NET.publicV6];
      const vectors = ports.flatMap((port) => hosts.map((host) => ({ host, port })));
      const before = new Set(network.sent().map(keyOf));
      await inTurns(vectors, AT_ONCE, async ({ host, port }) => {
        await (await request("POST", "/servers", { ...COMMON, type: "port", host, port })).text();
      });
      await untilQuiet();
      const sent = network.sent().filter((each) => !before.has(keyOf(each)));
      const reached = vectors.filter(({ host, port }) => sent.some((each) => each.to === host && each.port === port));
      console.info(`own listeners at other addresses: ${vectors.length - reached.length} of ${vectors.length}`);
      expect(reached).toEqual([]);
    });

    it("keeps the local port of a proxy core from being reached", { timeout: 120_000 }, async () => {
      const isCore = (program: string): boolean => /^(xray|sing-box|3)$/.test(program);
      const seen = new Set<number>();
      const reached: number[] = [];
      // Carried by datagrams, so the core runs until the time-out of a server that is silent.
      for (const kind of ["hy2://pw", "tuic://5ec2e700-1111-4222-8333-444455556666:pw"]) {
        const host = `${NET.neighbours}.251`;
        const order = request("POST", "/check", { config: `${kind}@${host}:${HARMLESS_PORT}?insecure=1`, timeout: 12 });
        const core = await eventually(async () =>
          network
            .listeners()
            .find(({ program, protocol, port }) => isCore(program) && protocol === "tcp" && !seen.has(port)),
        );
        seen.add(core.port);
        const made = await request("POST", "/servers", { ...COMMON, type: "port", host: "127.0.0.2", port: core.port });
        await made.text();
        await untilQuiet();
        if (network.sent().some(({ to, port }) => to === "127.0.0.2" && port === core.port)) reached.push(core.port);
        await (await order).text();
      }
      console.info(`local ports of cores: ${seen.size - reached.length} of ${seen.size}`);
      expect(reached).toEqual([]);
    });

    it("knows an address that this machine gets while it runs", { timeout: 60_000 }, async () => {
      const added = "10.91.1.77";
      network.addAddress(`${added}/16`);
      const words = await eventually(async () => {
        const made = await request("POST", "/servers", { ...COMMON, type: "port", host: added, port: HARMLESS_PORT });
        const text = await made.text();
        return made.status === 422 ? text : undefined;
      });
      expect(words).toContain("is an address of this machine");
    });

    it("knows a store's new address within a minute of its fail-over", { timeout: 150_000 }, async () => {
      const body = { ...COMMON, type: "port", host: NET.neighbour, port: REDIS_PORT };
      const leftMs = Math.max(1_000, FAILED_OVER_WITHIN_MS - (performance.now() - flippedAtMs));
      const words = await eventually(async () => {
        const made = await request("POST", "/servers", body);
        const text = await made.text();
        return made.status === 422 ? text : undefined;
      }, leftMs);
      expect(words).toContain("Sonde's own");
    });
  },
);

const isSynced = (status: string | null): boolean => status !== null && status !== "syncing" && status !== "pending";
const keyOf = ({ to, protocol, port }: Sent): string => `${to} ${protocol} ${port}`;

async function inTurns<Item>(
  items: readonly Item[],
  atOnce: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
