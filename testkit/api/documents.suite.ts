/** Documents: planned, applied, applied again, pruned, taken over, refused (docs/api-contract.md#documents). */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWorld, type World } from "./world.suite.ts";

const LINK =
  "vless://6e0c2d56-2a4c-4a2c-9b53-2b3b0b9a1c11@vpn.test-site.org:443?security=tls&sni=vpn.test-site.org#Berlin";
const KEY = "yAnz5TF+lXXJte14tji3zlMNftSBoMXfvLgNQtYkgWM=";
const WIREGUARD = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2/32\n[Peer]\nPublicKey = ${KEY}\nEndpoint = wg.test-site.org:51820\nAllowedIPs = 0.0.0.0/0\n`;

export const EVERY_KIND: Readonly<Record<string, unknown>> = {
  sonde: 1,
  name: "production",
  defaults: { interval: "5m", tags: ["prod"] },
  monitors: {
    web: {
      type: "http",
      url: "https://ada:secret@web.test-site.org/?token=hidden",
      ssl_expiration: 14,
      headers: { "X-Key": "s3cret" },
    },
    shop: { type: "keyword", name: "Shop", url: "https://shop.test-site.org/", keyword: "In stock", maxretries: 3 },
    echo: { type: "ping", host: "echo.test-site.org", active: false },
    db: { type: "port", host: "db.test-site.org", port: 5432, tags_add: ["database"], tags_remove: ["prod"] },
    names: { type: "dns", host: "9.9.9.9", domain: "test-site.org" },
    nightly: { type: "push", period: "1d", grace: 3600, token: "0123456789abcdef" },
    berlin: { url: LINK, locations: ["any"] },
    office: { protocol: "wireguard", config: WIREGUARD, tags: [] },
  },
  subscriptions: { provider: { url: "https://provider.test-site.org/sub/token", syncIntervalSec: 600 } },
};

interface PlanBody {
  readonly hash: string;
  readonly changes: readonly { act: string; kind: string; key: string; fields: { field: string; drift?: true }[] }[];
  readonly unchanged: number;
  readonly refused: readonly { key: string; message: string; line: number | null }[];
}

export function documentsSuite(server: "uws" | "node"): void {
  describe("documents", () => {
    let world: World;
    beforeAll(async () => {
      world = await openWorld(server);
    });
    afterAll(() => world.close());

    const send = (document: unknown, more: Readonly<Record<string, unknown>> = {}) => {
      const text = typeof document === "string" ? document : JSON.stringify(document);
      return world.send("POST", "/api/v1/apply", { body: { document: text, ...more } });
    };
    const planned = async (document: unknown, more = {}): Promise<PlanBody> => {
      const answer = await send(document, { dry_run: true, ...more });
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body as PlanBody;
    };
    const applied = async (document: unknown, more = {}): Promise<PlanBody> => {
      const { hash } = await planned(document, more);
      const answer = await send(document, { expect: hash, ...more });
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body as PlanBody;
    };
    const acts = ({ changes }: PlanBody) => changes.map(({ act, key }) => `${act} ${key}`);
    const monitorNamed = async (name: string) => {
      const { body } = await world.send("GET", `/api/v1/servers?family=all&name=${encodeURIComponent(name)}`);
      return body.servers[0];
    };

    it("makes things of every kind once, and tells what is no longer the same", async () => {
      const plan = await planned(EVERY_KIND);
      expect(plan.refused).toEqual([]);
      expect(acts(plan).sort()).toEqual(
        ["berlin", "db", "echo", "names", "nightly", "office", "provider", "shop", "web"]
          .map((key) => `create ${key}`)
          .sort(),
      );
      expect(JSON.stringify(plan)).not.toMatch(/s3cret|hidden|6e0c2d56|yAnz5TF|0123456789abcdef|sub\/token/);
      expect((await world.send("GET", "/api/v1/servers?family=all")).body.total).toBe(0);
      await applied(EVERY_KIND);
      expect((await world.send("GET", "/api/v1/servers?family=all")).body.total).toBe(8);
      expect(await planned(EVERY_KIND)).toMatchObject({ changes: [], refused: [], unchanged: 9 });
      expect(await monitorNamed("shop")).toMatchObject({ interval: 300, tags: ["prod"], keyword: "In stock" });
      expect(await monitorNamed("db")).toMatchObject({ tags: ["database"], port: 5432 });
      expect((await world.send("GET", "/api/push/0123456789abcdef", { key: null })).status).toBe(200);
      expect(await monitorNamed("berlin")).toMatchObject({ protocol: "vless" });

      const changed = structuredClone(EVERY_KIND) as { monitors: Record<string, Record<string, unknown>> };
      Object.assign(changed.monitors.web ?? {}, { headers: { "X-Key": "other" } });
      Object.assign(changed.monitors.shop ?? {}, { interval: 60, keyword: "Out" });
      const second = await planned(changed);
      expect(second.changes).toMatchObject([
        { act: "change", key: "web", fields: [{ field: "headers", secret: true }] },
        {
          act: "change",
          key: "shop",
          fields: [
            { field: "interval", from: 300, to: 60 },
            { field: "keyword", from: "In stock", to: "Out" },
          ],
        },
      ]);
      expect(second.unchanged).toBe(7);
      await applied(changed);
      expect((await planned(changed)).changes).toEqual([]);
    });

    it("shows what was changed elsewhere, and puts it right", async () => {
      const shop = await monitorNamed("shop");
      await world.send("PUT", `/api/v1/servers/${shop.id}`, { body: { keyword: "By hand" } });
      const document = { sonde: 1, name: "production", monitors: { ...(EVERY_KIND.monitors as object) } };
      const plan = await planned(document);
      const [one] = plan.changes.filter(({ key }) => key === "shop");
      expect(one?.fields).toMatchObject([{ field: "keyword", from: "By hand", to: "In stock" }]);
      await applied(document);
      await world.send("PUT", `/api/v1/servers/${shop.id}`, { body: { keyword: "By hand" } });
      const [again] = (await planned(document)).changes.filter(({ key }) => key === "shop");
      expect(again?.fields).toMatchObject([{ field: "keyword", drift: true }]);
      await applied(EVERY_KIND);
    });

    it("wants the hash of the plan that was looked at", async () => {
      const document = { sonde: 1, name: "small", monitors: { one: { type: "ping", host: "one.test-site.org" } } };
      const without = await send(document);
      expect([without.status, without.body.message]).toEqual([
        400,
        "expect must be the hash of a plan: ask with dry_run first.",
      ]);
      const other = await send(document, { expect: "other" });
      expect([other.status, other.body.details.plan.changes.length]).toEqual([409, 1]);
      const { hash } = await planned(document);
      const both = await Promise.all([send(document, { expect: hash }), send(document, { expect: hash })]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect((await planned(document)).changes).toEqual([]);
    });

    it("keeps what is left out, removes it with prune, and takes it back by its key", async () => {
      const two = {
        sonde: 1,
        name: "pair",
        monitors: { a: { type: "ping", host: "a.test-site.org" }, b: { type: "ping", host: "b.test-site.org" } },
      };
      await applied(two);
      const one = { sonde: 1, name: "pair", monitors: { a: { type: "ping", host: "a.test-site.org" } } };
      expect(acts(await planned(one))).toEqual(["release b"]);
      await applied(one);
      expect((await planned(one)).changes).toEqual([]);
      expect(acts(await planned(two))).toEqual(["adopt b"]);
      await applied(two);
      expect(acts(await applied(one, { prune: true }))).toEqual(["remove b"]);
      expect(acts(await planned(two))).toEqual(["create b"]);
    });

    it("takes over what is the same when it is asked to, and never what another document has", async () => {
      await world.send("POST", "/api/v1/servers", {
        body: { type: "ping", name: "loose", host: "loose.test-site.org" },
      });
      const document = {
        sonde: 1,
        name: "taker",
        monitors: { loose: { type: "ping", host: "loose.test-site.org", interval: 120 } },
      };
      expect(acts(await planned(document))).toEqual(["create loose"]);
      expect(acts(await applied(document, { adopt: true }))).toEqual(["adopt loose"]);
      expect((await planned(document)).changes).toEqual([]);
      const other = await planned({ ...document, name: "other" });
      expect(other.refused).toMatchObject([{ key: "loose", message: 'It belongs to the document "taker".' }]);
      const doubled = {
        sonde: 1,
        name: "taker",
        subscriptions: { same: { url: "https://provider.test-site.org/sub/token" } },
      };
      expect((await planned(doubled)).refused).toMatchObject([
        { key: "same", message: expect.stringContaining("already uses this URL") },
      ]);
    });

    it("refuses another kind under the same key, unless it is told to replace it", async () => {
      const of = (entry: object) => ({
        sonde: 1,
        name: "kinds",
        monitors: { x: { host: "x.test-site.org", ...entry } },
      });
      await applied(of({ type: "ping" }));
      const refused = await planned(of({ type: "port", port: 25 }));
      expect(refused.refused[0]?.message).toContain("type ping → port cannot be changed");
      expect(acts(await applied(of({ type: "port", port: 25, replace: true })))).toEqual(["replace x"]);
      expect((await planned(of({ type: "port", port: 25, replace: true }))).changes).toEqual([]);
    });

    it("lists what it refuses with its line, and applies the others only when it is told to", async () => {
      const text =
        "sonde: 1\nname: guarded\nmonitors:\n  good: {type: ping, host: good.test-site.org}\n  bad: {type: ping, host: 10.0.0.1}\n";
      const plan = await planned(text);
      expect(plan.refused).toMatchObject([
        { key: "bad", line: 5, message: expect.stringContaining("SONDE_ALLOW_NETS=10.0.0.1/32") },
      ]);
      const refused = await send(text, { expect: plan.hash });
      expect([refused.status, refused.body.details.plan.refused.length]).toEqual([422, 1]);
      expect(acts(await applied(text, { skip_refused: true }))).toEqual(["create good"]);
    });

    it("refuses what it does not make yet, and applies the others when it is told to", async () => {
      const text = [
        "sonde: 1",
        "name: moved",
        "monitors: {carried: {type: ping, host: carried.test-site.org}}",
        "channels:",
        "  ops: {kind: ntfy, topic: sonde}",
        "alert_rules:",
        "  - {name: All, channels: [ops]}",
        "",
      ].join("\n");
      expect((await planned(text)).refused).toMatchObject([
        { kind: "channel", key: "ops", path: "channels.ops", line: 5 },
        { kind: "alert_rule", key: "0", line: 7 },
      ]);
      expect(acts(await applied(text, { skip_refused: true }))).toEqual(["create carried"]);
    });

    it("tells every fault by its path and line, and changes nothing", async () => {
      const text = [
        "sonde: 1",
        "monitors:",
        "  aa: {type: http, url: 'ftp://a.test-site.org/'}",
        "  b: {type: ping, host: b.test-site.org, port: 1}",
        "  c: {type: nothing}",
        "  d: {type: ping, host: d.test-site.org, interval: 100d}",
        "  e: {type: http, url: 'https://e.test-site.org/', ssl_expiration: 7}",
        "  f: {type: http, url: 'https://e.test-site.org/f', ssl_expiration: 30}",
        "  g: {type: push, period: 3600, locations: [de]}",
        "  h: {type: ping, host: h.test-site.org, token: abcdefghijk}",
        "  i: {type: vpn, url: 'vless://nothing'}",
      ].join("\n");
      const { status, body } = await send(text, { dry_run: true });
      expect(status).toBe(400);
      const told = (body.details.errors as { path: string; line: number; message: string }[]).map(
        ({ path, line }) => `${path} ${line}`,
      );
      expect(told.sort()).toEqual([
        "monitors.aa.url 3",
        "monitors.b.port 4",
        "monitors.c.type 5",
        "monitors.d.interval 6",
        "monitors.f.ssl_expiration 8",
        "monitors.g 9",
        "monitors.h.token 10",
        "monitors.i 11",
      ]);
    });

    it("counts tunnels against the plan before anything is written", async () => {
      const { total } = (await world.send("GET", "/api/v1/servers?family=tunnel")).body;
      const monitors = Object.fromEntries(
        Array.from({ length: 300 }, (_, index) => [`t${index}`, { url: LINK.replace("vpn.", `vpn${index}.`) }]),
      );
      const plan = await planned({ sonde: 1, name: "many", monitors });
      expect(plan.refused.length).toBe(plan.changes.length > 299 ? 0 : 300 - plan.changes.length);
      expect((await world.send("GET", "/api/v1/servers?family=tunnel")).body.total).toBe(total);
    });
  });
}
