/** Subscriptions through a whole service, whatever it is made of, at a provider on loopback that tells the truth, nothing, and everything that is hostile. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endless, type ProviderServer, startProvider } from "../../engine/subscription/provider-server.suite.ts";
import { openReceiver } from "../../scheduler/webhooks/receivers.suite.ts";
import { admin } from "../admin.ts";
import type { MonitorBody } from "../client.ts";
import { createMonitor, type Product, startProduct, untilStatus } from "../product.ts";
import { cleanUp, eventually, type RunningService, type ServiceSettings } from "../service.ts";
import { startWebsite, type Website } from "../targets.ts";

const WITHIN_MS = 120_000;
const UUID = "5ec2e700-1111-4222-8333-444455556666";
const PASSWORD = "sEcReT-of-the-list";
const PATH_SECRET = "t0ken-in-the-path";

interface Subscription {
  readonly id: number;
  readonly enabled: boolean;
  readonly lastSyncStatus: string;
  readonly lastServerCount: number | null;
  readonly lastSyncedAt: string | null;
  readonly syncErrorMessage: string | null;
}
interface Imported extends MonitorBody {
  readonly protocol: string;
  readonly interval: number;
  readonly subscription?: {
    readonly subscription_url_id: string | null;
    readonly server_address: string;
    readonly server_name: string | null;
    readonly config_count: number;
    readonly healthy_count: number;
    readonly configs: readonly {
      readonly tag: string;
      readonly type: string;
      readonly port: number;
      readonly success: boolean;
      readonly error: string;
      readonly error_category: string;
      readonly region_results: Readonly<Record<string, { readonly success: boolean }>>;
    }[];
  };
}

/** Loopback, where no server listens: what its checks find is not asked here. */
const vless = (host: string, name: string, port = 9): string => `vless://${UUID}@${host}:${port}?type=tcp#${name}`;
const trojan = (host: string, name: string): string => `trojan://${PASSWORD}@${host}:9?security=tls#${name}`;

/**
 * @param start what starts the service; one process that is everything when absent
 * @param isWhole also what does not depend on what the service is made of
 */
export function subscriptionsSuite(
  name: string,
  start: (() => Promise<(settings: ServiceSettings) => Promise<RunningService>>) | undefined,
  isWhole: boolean,
): void {
  describe(`subscriptions on ${name}`, () => {
    let product: Product;
    let subscribed = 0;
    let byItself: Subscription | undefined;
    let provider: ProviderServer;
    beforeAll(async () => {
      provider = await startProvider();
      product = await startProduct(start === undefined ? {} : { start: await start() });
    });
    afterAll(async () => {
      await cleanUp();
      await provider.close();
    });

    const read = async (id: number): Promise<Subscription> =>
      (await product.api.get<Subscription>(`/subscriptions/${id}`)).body;
    const settled = (id: number): Promise<Subscription> =>
      eventually(async () => {
        const now = await read(id);
        return now.lastSyncStatus === "pending" ? undefined : now;
      }, WITHIN_MS);
    async function subscribe(path: string, more: Readonly<Record<string, unknown>> = {}): Promise<Subscription> {
      const { status, body } = await product.api.post<Subscription>("/subscriptions", {
        // Another address each time: a test that is looked at once more finds its first one taken.
        url: `${provider.url(path)}?${++subscribed}`,
        syncIntervalSec: 86_400,
        ...more,
      });
      expect([status, body]).toMatchObject([200, {}]);
      return settled(body.id);
    }
    async function sync(id: number): Promise<Subscription> {
      const { body } = await product.api.post(`/subscriptions/${id}/sync`);
      expect(body).toMatchObject({ subscription_id: id, status: "syncing", message: "Sync started" });
      return settled(id);
    }
    async function resultsOf(id: string) {
      const { body } = await product.api.get<{
        results: readonly { readonly status: string; readonly explain?: { readonly lateness_ms: number } }[];
      }>(`/results/server/${id}?explain=1`);
      return body.results;
    }
    async function importedBy(id: number): Promise<readonly Imported[]> {
      const { body } = await product.api.get<{ servers: readonly Imported[] }>("/servers?limit=1000");
      return body.servers.filter(({ subscription }) => subscription?.subscription_url_id === String(id));
    }

    it("is synchronised when it is made", async () => {
      provider.answer("/by-itself", vless("127.0.4.1", "A"));
      byItself = await subscribe("/by-itself", { syncIntervalSec: 60 });
      expect(byItself).toMatchObject({ lastSyncStatus: "success", lastServerCount: 1 });
    });

    it("makes a monitor of each server, with its configs inside, and tests each of them", {
      timeout: WITHIN_MS,
    }, async () => {
      provider.answer(
        `/${PATH_SECRET}`,
        Buffer.from(
          [
            vless("127.0.0.2", "Berlin%201"),
            vless("127.0.0.2", "Berlin%202", 10),
            vless("127.0.0.2", "Berlin%201%20again"),
            trojan("127.0.0.3", "Paris"),
            "ssr://whatever",
            "no link at all",
          ].join("\n"),
        ).toString("base64"),
      );
      const subscription = await subscribe(`/${PATH_SECRET}`);
      expect(subscription).toMatchObject({
        lastSyncStatus: "success",
        lastServerCount: 2,
        lastSyncedAt: expect.any(String),
        syncErrorMessage:
          "1 entry could not be read (entry 6: this is no link). 1 entry of kinds that are not supported: ssr.",
      });
      const monitors = await importedBy(subscription.id);
      expect(monitors.map(({ name, protocol, type, interval }) => [name, protocol, type, interval])).toEqual([
        ["Berlin", "vless", "vpn", 86_400],
        ["Paris", "trojan", "vpn", 86_400],
      ]);
      const [berlin] = monitors;
      const tested = await eventually(async () => {
        const { body } = await product.api.get<Imported>(`/servers/${berlin?.id}`);
        return body.last_checked !== null && body.subscription?.configs.every(({ error }) => error !== "")
          ? body
          : undefined;
      }, WITHIN_MS);
      expect(tested.subscription).toMatchObject({
        subscription_url_id: String(subscription.id),
        server_address: "127.0.0.2",
        server_name: "Berlin",
        config_count: 2,
        healthy_count: 0,
        configs: [
          { tag: "Berlin 1", type: "vless", port: 9, success: false, region_results: { any: { success: false } } },
          { tag: "Berlin 2", type: "vless", port: 10, success: false, region_results: { any: { success: false } } },
        ],
      });
      const { body: test } = await product.api.post<{ status: string }>("/test", { server_id: berlin?.id });
      expect(["down", "degraded"]).toContain(test.status);
      const refused = await product.api.put(`/servers/${berlin?.id}`, { interval: 60 });
      expect([refused.status, refused.body]).toMatchObject([
        409,
        { message: "This monitor follows its subscription." },
      ]);
    });

    it("follows the list: leavers are paused and come back, renaming changes nothing, deleted ones stay away", async () => {
      const all = [vless("127.0.1.1", "A"), vless("127.0.1.2", "B"), vless("127.0.1.3", "C")];
      provider.answer("/follows", all.join("\n"));
      const { id } = await subscribe("/follows");
      const before = await importedBy(id);
      const at = (host: string, among: readonly Imported[]) =>
        among.find(({ subscription }) => subscription?.server_address === host);

      provider.answer("/follows", [vless("127.0.1.3", "see"), vless("127.0.1.1", "ay")].join("\n"));
      await sync(id);
      const left = await importedBy(id);
      expect(left.map((monitor) => monitor.id).sort()).toEqual(before.map((monitor) => monitor.id).sort());
      expect(at("127.0.1.2", left)).toMatchObject({ status: "paused", active: false });
      expect(at("127.0.1.1", left)).toMatchObject({ name: "A", subscription: { server_name: "ay" } });
      const resumed = await product.api.put(`/servers/${at("127.0.1.2", left)?.id}`, { active: true });
      expect(resumed.status).toBe(409);

      await product.api.remove(`/servers/${at("127.0.1.1", left)?.id}`);
      provider.answer("/follows", all.join("\n"));
      expect(await sync(id)).toMatchObject({ lastSyncStatus: "success", lastServerCount: 3 });
      const after = await importedBy(id);
      expect(after.map(({ name, active }) => [name, active])).toEqual([
        ["B", true],
        ["C", true],
      ]);

      provider.answer("/follows", "");
      expect(await sync(id)).toMatchObject({ lastSyncStatus: "failed", syncErrorMessage: "The list is empty." });
      expect((await importedBy(id)).every(({ active }) => active)).toBe(true);

      const { body } = await product.api.remove(`/subscriptions/${id}`);
      expect(body).toEqual({ success: true, paused_monitors: 2 });
      const kept = await product.api.get<Imported>(`/servers/${after[0]?.id}`);
      expect(kept.body).toMatchObject({
        status: "paused",
        subscription: { subscription_url_id: null, config_count: 1 },
      });
      const own = await product.api.put<Imported>(`/servers/${after[0]?.id}`, { active: true });
      expect([own.status, own.body.active]).toEqual([200, true]);
    });

    it("asks on a condition, and leaves everything alone when nothing has changed", async () => {
      provider.answer("/etag", (request, response) => {
        const isKnown = request.headers["if-none-match"] === '"v1"';
        response
          .setHeader("etag", '"v1"')
          .writeHead(isKnown ? 304 : 200)
          .end(isKnown ? "" : vless("127.0.2.1", "A"));
      });
      const { id } = await subscribe("/etag");
      expect(await sync(id)).toMatchObject({ lastSyncStatus: "success", lastServerCount: 1, syncErrorMessage: null });
      expect(provider.asked("/etag").map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"v1"']);
    });

    it("is switched off after ten failures in a row, with its monitors, and switched on by a sync", {
      timeout: WITHIN_MS,
    }, async () => {
      provider.answer("/fails", vless("127.0.3.1", "A"));
      const { id } = await subscribe("/fails");
      provider.answer("/fails", (_request, response) => void response.writeHead(500).end());
      for (let failure = 1; failure < 10; failure++) {
        expect(await sync(id)).toMatchObject({
          lastSyncStatus: "failed",
          enabled: true,
          syncErrorMessage: "The provider answered with HTTP 500.",
        });
      }
      expect(await sync(id)).toMatchObject({ lastSyncStatus: "auto_disabled", enabled: false });
      expect(await importedBy(id)).toMatchObject([{ status: "paused" }]);
      provider.answer("/fails", vless("127.0.3.1", "A"));
      expect(await sync(id)).toMatchObject({ lastSyncStatus: "success", enabled: true, syncErrorMessage: null });
      expect(await importedBy(id)).toMatchObject([{ active: true }]);
    });

    if (isWhole) wholeOnly();

    function wholeOnly(): void {
      const deep = `proxies: ${"[".repeat(100_000)}`;
      const aliases = Array.from(
        { length: 60 },
        (_, at) => `a${at}: &a${at} [${at === 0 ? "x" : `*a${at - 1},*a${at - 1}`}]`,
      );
      const hostile: Readonly<Record<string, readonly [string | ((response: ServerResponse) => void), RegExp]>> = {
        page: ["<!DOCTYPE html><html>log in</html>", /^The answer is a web page, not a list\.$/],
        binary: [
          (response) => response.end(Buffer.concat([randomBytes(4_096), Buffer.alloc(64)])),
          /not text|no format/,
        ],
        bomb: [
          (response) =>
            response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(100 * 2 ** 20))),
          /^The list is larger than 5 MiB\.$/,
        ],
        aliases: [`${aliases.join("\n")}\nproxies: [*a59]\n`, /^The list is YAML that cannot be read\.$/],
        deepYaml: [deep, /^The list is YAML that cannot be read\.$/],
        deepJson: [`[${"[".repeat(1_000_000)}`, /^The list is JSON that cannot be read\.$/],
        junk: [
          "vless://broken\n".repeat(100_000),
          /^No entry of the list can be read \(entry 1: the link has no server after an @\)\.$/,
        ],
        loop: [
          (response) => response.writeHead(302, { location: "/loop" }).end(),
          /^It redirects more than 3 times\.$/,
        ],
        inside: [
          (response) => response.writeHead(302, { location: "http://10.0.0.1/admin" }).end(),
          /10\.0\.0\.1 is a private address/,
        ],
        metadata: [
          (response) => response.writeHead(302, { location: "http://169.254.169.254/latest" }).end(),
          /169\.254\.169\.254 is a link-local address/,
        ],
        words: [JSON.stringify({ error: "expired \u001b[31m\u202e" }), /^The provider says: expired {2}\[31m$/],
      };

      it.each(Object.keys(hostile))("of a provider that is hostile (%s) fails with the reason", async (name) => {
        const [answer, reason] = hostile[name] ?? ["", /$/];
        const path = `/${name}`;
        if (typeof answer === "string") provider.answer(path, answer);
        else provider.answer(path, (_request, response) => void answer(response));
        const subscription = await subscribe(path);
        expect(subscription).toMatchObject({ lastSyncStatus: "failed", lastServerCount: null, lastSyncedAt: null });
        expect(subscription.syncErrorMessage).toMatch(reason);
      });

      it("of a provider without an end is given up at five MiB", async () => {
        provider.answer("/endless", endless(Buffer.alloc(65_536, "x\n")));
        expect((await subscribe("/endless")).syncErrorMessage).toBe("The list is larger than 5 MiB.");
      });

      it("of a provider that says something else each time loses nothing", async () => {
        let fetches = 0;
        provider.answer("/changing", (_request, response) => {
          fetches++;
          const hosts = Array.from({ length: 20 }, (_, at) => `127.0.5.${((at * 7 + fetches * 3) % 40) + 1}`);
          response.end(hosts.map((host) => vless(host, `N${Math.random()}`)).join("\n"));
        });
        const { id } = await subscribe("/changing");
        for (let round = 0; round < 5; round++) {
          expect(await sync(id)).toMatchObject({ lastSyncStatus: "success", lastServerCount: 20 });
          const now = await importedBy(id);
          expect(now.filter(({ active }) => active)).toHaveLength(20);
          expect(new Set(now.map(({ subscription }) => subscription?.server_address)).size).toBe(now.length);
        }
      });

      it.each([500, 5_000])(
        "of 5,000 configs at %i servers takes seconds, and no other check is late",
        { timeout: WITHIN_MS },
        async (servers) => {
          const site: Website = await startWebsite();
          const beside = { name: "beside", type: "http", url: site.url, interval: 1, timeout: 10 };
          const watched = await createMonitor(product.api, beside);
          await untilStatus(product.api, watched, "healthy");
          const lines = Array.from({ length: 5_000 }, (_, at) => {
            const host = at % servers;
            return vless(
              `127.${servers === 500 ? 1 : 2}.${Math.floor(host / 250)}.${(host % 250) + 1}`,
              `C${at}`,
              1_000 + at,
            );
          });
          provider.answer("/large", lines.join("\n"));
          const startedAtMs = performance.now();
          // One test at a time: what is looked at is the sync, not 5,000 checks.
          const { id, lastServerCount } = await subscribe("/large", { maxWorkers: 1 });
          const tookMs = performance.now() - startedAtMs;
          expect(lastServerCount).toBe(servers);
          const before = await resultsOf(watched);
          const rows = await eventually(async () => {
            const now = await resultsOf(watched);
            return now.length > before.length + 2 ? now : undefined;
          }, WITHIN_MS);
          const latenessMs = rows.map((row) => row.explain?.lateness_ms ?? Number.NaN);
          console.log(
            `5,000 configs at ${servers} servers: ${Math.round(tookMs)} ms; lateness beside it, ms: ${latenessMs.join(" ")}`,
          );
          expect(rows.every(({ status }) => status === "healthy")).toBe(true);
          const [one] = await importedBy(id);
          expect(one?.subscription?.config_count).toBe(5_000 / servers);
          await product.api.remove(`/subscriptions/${id}`);
          await product.api.remove(`/servers/${watched}`);
          await site.close();
        },
      );

      it("is tried with the engine that the operator says", async () => {
        provider.answer("/engine", vless("127.0.6.1", "A"));
        const { id } = await subscribe("/engine");
        const done = await admin(product, {}, "subscription", "engine", String(id), "singbox");
        expect(done).toMatchObject({ id, engine: "singbox" });
        expect(await read(id)).toMatchObject({ engine: "singbox" });
      });

      it("is synchronised by itself at its interval", { timeout: WITHIN_MS }, async () => {
        await eventually(async () => (provider.asked("/by-itself").length > 1 ? true : undefined), WITHIN_MS);
        expect(await settled(byItself?.id ?? 0)).toMatchObject({ lastSyncStatus: "success", lastServerCount: 1 });
      });

      it("tells receivers why a sync failed, and nothing of its address or its configs", async () => {
        const receiver = await openReceiver();
        await admin(
          product,
          { SONDE_ALLOW_NETS: "127.0.0.0/8" },
          "webhook",
          "create",
          "--project",
          "prj_1",
          "--url",
          receiver.url,
        );
        const path = `/${PATH_SECRET}-fails`;
        provider.answer(path, `trojan://${PASSWORD}%0A@127.0.0.1:1\n${vless("127.0.0.1", "A").replace(":9", ":0")}`);
        const { id } = await subscribe(path);
        provider.answer(path, (_request, response) => {
          response.writeHead(302, { location: `http://${PASSWORD}:x@10.0.0.1/${PATH_SECRET}` }).end();
        });
        await sync(id);
        // Monitors of other tests may have something to say meanwhile.
        const events = await eventually(async () => {
          const bodies = receiver.received.map(({ body }) => body);
          return bodies.filter((body) => body.includes("subscription.sync_failed")).length > 1 ? bodies : undefined;
        }, WITHIN_MS);
        const said = events.join() + JSON.stringify(await read(id));
        for (const secret of [PATH_SECRET, PASSWORD, UUID]) expect(said).not.toContain(secret);
        await receiver.close();
      });

      it("keeps its address and its configs to itself", async () => {
        const code = await product.stop();
        expect(code).toBe(0);
        for (const secret of [PATH_SECRET, PASSWORD, UUID]) {
          expect(product.output().includes(secret)).toBe(false);
          for (const file of readdirSync(product.dataDir, { recursive: true, encoding: "utf8" })) {
            const path = join(product.dataDir, file);
            if (statSync(path).isFile()) expect([file, readFileSync(path).includes(secret)]).toEqual([file, false]);
          }
        }
      });
    }
  });
}
