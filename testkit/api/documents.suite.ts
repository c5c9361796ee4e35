/** Documents: planned, applied, applied again, pruned, taken over, refused (docs/api-contract.md#documents). */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillPlaceholders, unescapeText } from "../../model/document/placeholders.ts";
import { plainOf } from "../../model/document/tree.ts";
import { parseYaml } from "../../model/document/yaml.ts";
import { BROKEN } from "./broken-documents.suite.ts";
import { openWorld, type World } from "./world.suite.ts";

const LINK =
  "vless://6e0c2d56-2a4c-4a2c-9b53-2b3b0b9a1c11@vpn.test-site.org:443?security=tls&sni=vpn.test-site.org#Berlin";
const KEY = "yAnz5TF+lXXJte14tji3zlMNftSBoMXfvLgNQtYkgWM=";
const WIREGUARD = `[Interface]\nPrivateKey = ${KEY}\nAddress = 10.0.0.2/32\n[Peer]\nPublicKey = ${KEY}\nEndpoint = wg.test-site.org:51820\nAllowedIPs = 0.0.0.0/0\n`;

const EVERY_KIND: Readonly<Record<string, unknown>> = {
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

/** Things that name each other, of every section but subscriptions. */
const OF_ALL_SECTIONS = {
  sonde: 1,
  name: "sections",
  monitors: { seen: { type: "ping", host: "seen.test-site.org" } },
  channels: {
    ops: { kind: "ntfy", server: "https://ntfy.test-site.org", topic: "sonde", token: "tk_secret" },
    mail: {
      kind: "email",
      name: "Mail",
      to: ["ops@test-site.org"],
      from: "sonde@test-site.org",
      smtp_url: "smtps://ada:mail-pass@mx.test-site.org",
      active: false,
    },
  },
  alert_rules: [
    {
      name: "Pages",
      match: { select: { keys: ["seen"] }, events: ["down"] },
      channels: ["ops"],
      quiet_hours: "nights",
    },
    { name: "Rest", delay_s: "5m", escalation: [{ after_s: "10m", channels: ["mail"] }] },
  ],
  quiet_hours: { nights: { spans: [{ days: ["mon-sun"], from: "22:00", to: "07:00" }] } },
  maintenance: {
    patches: { select: { keys: ["seen"] }, schedule: { type: "weekly", days: ["tue"], from: "02:00", minutes: 90 } },
  },
  status_pages: {
    acme: {
      published: true,
      access: { type: "password", password: "a long password" },
      groups: [{ title: "All", components: [{ select: { keys: ["seen"] } }] }],
    },
  },
};

const ONCE = { type: "once", starts_at: "2999-01-01T00:00:00.000Z", ends_at: "2999-01-01T01:00:00.000Z" };
const SECRETS =
  /s3cret|hidden|6e0c2d56|yAnz5TF|0123456789abcdef|sub\/token|tk_|a long password|another password|mail-pass/;

type Whole = Readonly<Record<string, unknown>> & { readonly name: string };

/** Texts that YAML, placeholders and other readers could take for something else. */
const anyText = fc
  .oneof(
    fc.constantFrom("yes", "1.0", "- a", "a: b", `$${"{env:HOME}"}`, `$$${"{x}"}`, "#x", "'", '"', "* a", "null", "{"),
    fc.string({ unit: "grapheme", maxLength: 20 }),
  )
  .map((text) => text.trim())
  .filter((text) => text !== "" && !/[\p{Cc}\p{Surrogate}]/u.test(text));
const escapedText = anyText.map((text) => text.replaceAll("${", () => "$${"));

const ANY_DOCUMENT = fc
  .record({
    name: escapedText,
    interval: fc.integer({ min: 60, max: 3_600 }),
    tags: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { maxLength: 3 }),
    secret: escapedText.filter((text) => !text.includes("***")),
    active: fc.boolean(),
    delay: fc.integer({ min: 0, max: 900 }),
    order: fc.shuffledSubarray(["One", "Two", "Three"], { minLength: 1 }),
    days: fc.subarray(["mon", "wed", "sun"], { minLength: 1 }),
  })
  .map(({ name, interval, tags, secret, active, delay, order, days }) => ({
    sonde: 1,
    name: "any",
    monitors: {
      "any-web": {
        type: "keyword",
        name,
        url: "https://any.test-site.org/",
        keyword: name,
        interval,
        tags,
        active,
        body: secret,
        method: "POST",
      },
      "any-ping": { type: "ping", host: "any.test-site.org", interval },
    },
    channels: {
      "any-channel": {
        kind: "ntfy",
        name,
        topic: "sonde",
        server: "https://ntfy.test-site.org",
        token: "tk_any",
        active,
      },
    },
    quiet_hours: { "any-hours": { name, spans: [{ days, from: "22:00", to: "07:00" }], mode: "drop" } },
    alert_rules: order.map((rule) => ({
      name: `Any ${rule}`,
      match: { select: { keys: ["any-ping", "any-web"], not: { name } } },
      channels: ["any-channel"],
      quiet_hours: "any-hours",
      delay_s: delay,
    })),
    maintenance: {
      "any-patches": {
        title: name,
        text: name,
        select: { any_tag: ["x"] },
        schedule: { type: "weekly", days, from: "02:00", minutes: 30 },
      },
    },
    status_pages: {
      "any-page": {
        title: name,
        text: name,
        groups: [{ title: name, components: [{ select: { keys: ["any-web"] }, title: name }] }],
      },
    },
  }));

interface ExportBody {
  readonly document: string;
  readonly secrets: readonly { readonly name: string; readonly path: readonly string[] }[];
}

/** As the command line fills it in, from what the document said before. */
function filled({ document, secrets }: ExportBody, before: unknown): unknown {
  const values = new Map(
    secrets.map(({ name, path }) => [
      name,
      path.reduce<unknown>((value, part) => (value as Readonly<Record<string, unknown>>)[part], before),
    ]),
  );
  const { root } = parseYaml(document);
  if (root === null) throw new Error("an export is no YAML");
  const text = JSON.stringify(plainOf(root), (_, value: unknown) =>
    typeof value === "string" ? fillPlaceholders(value, ({ name }) => unescapeText(String(values.get(name)))) : value,
  );
  return JSON.parse(text);
}

interface PlanBody {
  readonly hash: string;
  readonly changes: readonly { act: string; kind: string; key: string; fields: { field: string; drift?: true }[] }[];
  readonly unchanged: number;
  readonly refused: readonly { key: string; path: string; message: string; line: number | null }[];
}

export function documentsSuite(server: "net" | "node"): void {
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
    const exportOf = async (name: string | null): Promise<ExportBody> => {
      const query = name === null ? "" : `?name=${encodeURIComponent(name)}`;
      const answer = await world.send("GET", `/api/v1/export${query}`);
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body as ExportBody;
    };
    const acts = ({ changes }: PlanBody) => changes.map(({ act, key }) => `${act} ${key}`);
    const monitorNamed = async (name: string) => {
      const { body } = await world.send("GET", `/api/v1/servers?family=all&name=${encodeURIComponent(name)}`);
      return body.servers[0];
    };

    it("tell what was likely meant of the first names that are not there, however many there are", async () => {
      const channels = Array.from({ length: 9 }, (_, at) => `phon${at}`);
      const ours = { kind: "ntfy", server: "https://ntfy.test-site.org", topic: "sonde" };
      const document = { sonde: 1, name: "hints", channels: { phone: ours }, alert_rules: [{ name: "All", channels }] };
      const { refused } = await planned(document);
      const hints = refused.map(({ message }) => /Did you mean (.+)\?$/.exec(message)?.[1] ?? "");
      expect(hints.sort().reverse()).toEqual([...Array(5).fill("phone"), ...Array(4).fill("")]);
    });

    it("list twenty faults of one entry, and count the others", async () => {
      const keys = Array.from({ length: 1_000 }, (_, at) => `gone${at}`);
      const schedule = { type: "weekly", days: ["mon"], from: "02:00", minutes: 30 };
      const { refused } = await planned({
        sonde: 1,
        name: "faults",
        maintenance: { night: { select: { keys }, schedule } },
      });
      expect(refused).toHaveLength(20);
      expect(refused.at(-1)?.message).toContain("980 more faults of this entry are not listed.");
    });

    it("are not read where a project may have no more, whatever they say", async () => {
      const schedule = { type: "cron", cron: "0 0 31 2 *", minutes: 30 };
      const entries = Array.from({ length: 203 }, (_, at) => [`m${at}`, { select: { all: true }, schedule }]);
      const { refused } = await planned({ sonde: 1, name: "nights", maintenance: Object.fromEntries(entries) });
      expect(refused).toHaveLength(203);
      expect(refused.at(-4)?.message).toContain("no turn that is still to come");
      expect(refused.slice(-3).map(({ message }) => message)).toEqual(
        Array(3).fill("The project has 200 schedules of maintenance, and may have no more."),
      );
    });

    it("ask for the names of subscriptions together, and refuse those that lead to private addresses", async () => {
      const urls = ["inside", "one", "other"].map((name) => [name, { url: `https://${name}.test-site.org/list` }]);
      const plan = await planned({ sonde: 1, name: "lists", subscriptions: Object.fromEntries(urls) });
      expect(acts(plan)).toEqual(["create one", "create other"]);
      expect(plan.refused).toMatchObject([
        { key: "inside", message: "url must reach a public address: 10.0.0.7 is a private address." },
      ]);
    });

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

    it("sees what changed elsewhere also where the document says what it said, and what a host shares", async () => {
      const site = (path: string, more: object = {}) => ({
        type: "http",
        url: `https://shared.test-site.org/${path}`,
        ...more,
      });
      const of = (one: object, two: object) => ({ sonde: 1, name: "hosts", monitors: { one, two } });
      await applied(of(site("1", { ssl_expiration: 14 }), site("2")));
      expect(await planned(of(site("1", { ssl_expiration: 14 }), site("2")))).toMatchObject({
        changes: [],
        unchanged: 2,
      });
      const moved = await planned(of(site("1", { ssl_expiration: 30 }), site("2")));
      expect(moved.changes.map(({ key, fields }) => [key, fields.map(({ field }) => field)])).toEqual([
        ["one", ["ssl_expiration"]],
        ["two", ["ssl_expiration"]],
      ]);
      const { refused } = await planned(of(site("1", { ssl_expiration: 14 }), site("2", { ssl_expiration: 7 })));
      expect(refused).toMatchObject([{ key: "two", path: "monitors.two.ssl_expiration" }]);
      await world.send("PUT", `/api/v1/servers/${(await monitorNamed("two")).id}`, { body: { tags: ["by-hand"] } });
      expect((await planned(of(site("1", { ssl_expiration: 14 }), site("2", { tags: [] })))).changes).toMatchObject([
        { key: "two", fields: [{ field: "tags" }] },
      ]);
      await applied(of(site("1", { ssl_expiration: 14 }), site("2", { tags: ["x"] })));
      await world.send("PUT", `/api/v1/servers/${(await monitorNamed("two")).id}`, { body: { tags: ["by-hand"] } });
      const again = await planned(of(site("1", { ssl_expiration: 14 }), site("2", { tags: ["x"] })));
      expect(again.changes).toMatchObject([{ key: "two", fields: [{ field: "tags", drift: true }] }]);
      await applied({ sonde: 1, name: "hosts" }, { prune: true });
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

    it("tells whether a sealed address is another one", async () => {
      const website = (url: string, keyword: string) => ({
        sonde: 1,
        name: "sealed",
        monitors: { sealed: { type: "keyword", url, keyword } },
      });
      const [first, second] = ["https://sealed.test-site.org/?of=one", "https://sealed.test-site.org/?of=two"];
      const fieldsOf = ({ changes }: PlanBody) => changes.map(({ fields }) => fields.map(({ field }) => field));
      await applied(website(first, "a"));
      expect(fieldsOf(await planned(website(first, "b")))).toEqual([["keyword"]]);
      expect(fieldsOf(await applied(website(second, "b")))).toEqual([["keyword", "url"]]);
      const { id } = await monitorNamed("sealed");
      expect((await world.send("GET", `/api/v1/servers/${id}`)).body.url).toBe(second);
      // Now only the address itself can tell.
      await world.send("PUT", `/api/v1/servers/${id}`, { body: { url: first } });
      expect(fieldsOf(await planned(website(second, "c")))).toEqual([["keyword", "url"]]);
      expect(fieldsOf(await planned(website(first, "c")))).toEqual([["keyword"]]);
      expect(fieldsOf(await applied(website("https://sealed.test-site.org/?***", "d")))).toEqual([["keyword"]]);
      expect((await world.send("GET", `/api/v1/servers/${id}`)).body.url).toBe(first);
      await applied({ sonde: 1, name: "sealed" }, { prune: true });
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

    it("makes channels, rules, quiet hours, maintenance and pages of a document, whose things name each other", async () => {
      const plan = await planned(OF_ALL_SECTIONS);
      expect(plan.refused).toEqual([]);
      expect(acts(plan)).toEqual(
        ["seen", "ops", "mail", "nights", "Pages", "Rest", "patches", "acme"].map((key) => `create ${key}`),
      );
      expect(JSON.stringify(plan)).not.toMatch(SECRETS);
      await applied(OF_ALL_SECTIONS);
      expect(await planned(OF_ALL_SECTIONS)).toMatchObject({ changes: [], refused: [], unchanged: 8 });
      const { channels } = (await world.send("GET", "/api/v1/channels")).body;
      expect(channels).toMatchObject([
        { name: "ops", kind: "ntfy", settings: { topic: "sonde" }, has_secret: ["token"] },
        { name: "Mail", kind: "email", active: false },
      ]);
      const { rules } = (await world.send("GET", "/api/v1/alert-rules")).body;
      const monitor = await monitorNamed("seen");
      const [hours] = (await world.send("GET", "/api/v1/quiet-hours")).body.quiet_hours;
      expect(hours).toMatchObject({ name: "nights", spans: [{ days: [1, 2, 3, 4, 5, 6, 7] }] });
      expect(rules).toMatchObject([
        { name: "Pages", channels: [channels[0].id], match: { select: { ids: [monitor.id] } }, quiet_hours: hours.id },
        { name: "Rest", channels: null, delay_s: 300, escalation: [{ after_s: 600, channels: [channels[1].id] }] },
      ]);
      const { schedules } = (await world.send("GET", "/api/v1/maintenances")).body;
      expect(schedules).toMatchObject([{ title: "patches", select: { ids: [monitor.id] }, schedule: { days: [2] } }]);
      expect((await world.send("GET", "/status/acme", { key: null })).status).toBe(403);

      const changed = structuredClone(OF_ALL_SECTIONS);
      Object.assign(changed.channels.ops, { token: "tk_other", priority: 4 });
      Object.assign(changed.status_pages.acme.access, { password: "another password" });
      changed.alert_rules.reverse();
      const second = await planned(changed);
      expect(second.changes).toMatchObject([
        {
          act: "change",
          key: "ops",
          fields: [
            { field: "priority", to: 4 },
            { field: "token", secret: true },
          ],
        },
        { act: "change", key: "Rest", fields: [{ field: "position", from: 2, to: 1 }] },
        { act: "change", key: "Pages", fields: [{ field: "position", from: 1, to: 2 }] },
        { act: "change", key: "acme", fields: [{ field: "password", secret: true }] },
      ]);
      await applied(changed);
      expect((await planned(changed)).changes).toEqual([]);
      await world.send("PUT", `/api/v1/channels/${channels[0].id}`, { body: { active: false } });
      expect((await planned(changed)).changes).toEqual([]);
      await world.send("PUT", `/api/v1/channels/${channels[1].id}`, { body: { active: true } });
      const [drifted] = (await planned(changed)).changes;
      await applied(OF_ALL_SECTIONS);
      expect(drifted).toMatchObject({ key: "mail", fields: [{ field: "active", from: true, to: false, drift: true }] });
    });

    it("is exported as a document that changes nothing, without a secret in it", async () => {
      for (const whole of [EVERY_KIND, OF_ALL_SECTIONS] as Whole[]) {
        const exported = await exportOf(whole.name);
        expect(exported.document).not.toMatch(SECRETS);
        const plan = await planned(filled(exported, whole));
        expect(plan).toMatchObject({ changes: [], refused: [] });
        expect(plan.unchanged).toBeGreaterThan(7);
        expect(await exportOf(whole.name)).toEqual(exported);
      }
      expect((await world.send("GET", "/api/v1/export?name=nothing")).status).toBe(404);
    });

    it("is exported as it was written, whatever its texts are", async () => {
      const property = fc.asyncProperty(ANY_DOCUMENT, async (whole) => {
        await applied(whole, { prune: true });
        const exported = await exportOf(whole.name);
        expect(await planned(filled(exported, whole), { prune: true })).toMatchObject({ changes: [], refused: [] });
      });
      await fc.assert(property, { numRuns: 8 });
      await applied({ sonde: 1, name: "any" }, { prune: true });
    });

    it("refuses what names something that is refused, and tells what names nothing", async () => {
      const text = [
        "sonde: 1",
        "name: naming",
        "monitors: {lan: {type: ping, host: 10.0.0.1}}",
        "channels: {phone: {kind: ntfy, topic: sonde}}",
        "alert_rules:",
        "  - {name: Of the LAN, match: {select: {keys: [lan]}}}",
        "  - {name: To all, channels: [phone]}",
      ];
      const plan = await planned(text.join("\n"));
      expect(plan.refused).toMatchObject([
        { key: "lan" },
        { key: "Of the LAN", line: 6, message: "It names monitor lan, which is refused." },
      ]);
      const wrong = [
        ...text,
        "  - {name: Wrong, channels: [phon], match: {select: {}}}",
        "quiet_hours: {q: {spans: [{days: [no], from: a, to: b}]}}",
      ];
      wrong.push(
        "maintenance: {m: {select: {keys: []}, schedule: {type: weekly, days: [mon], from: '02:00', minutes: 1}}}",
      );
      wrong.push("status_pages: {P: {groups: [], colour: red}}", "channels2: {}");
      const { refused } = await planned(wrong.slice(0, -1).join("\n"));
      expect(refused.map(({ path, line }) => `${path} ${line}`)).toEqual([
        "monitors.lan 3",
        "quiet_hours.q.spans 9",
        "alert_rules[0] 6",
        "alert_rules[2].match.select 8",
        "alert_rules[2].channels[0] 8",
        "maintenance.m.schedule 10",
        "status_pages.P.colour 11",
      ]);
      const { status, body } = await send(wrong.join("\n"), { dry_run: true });
      expect([status, body.details.errors]).toEqual([400, [expect.objectContaining({ path: "channels2", line: 12 })]]);
    });

    it("removes with prune what the document has no more, what names others first", async () => {
      const { hash } = await planned({ sonde: 1, name: "sections" }, { prune: true });
      const answer = await send({ sonde: 1, name: "sections" }, { prune: true, expect: hash });
      expect([answer.status, acts(answer.body as PlanBody).length]).toEqual([200, 8]);
      expect((await world.send("GET", "/api/v1/channels")).body.total).toBe(0);
      expect((await world.send("GET", "/api/v1/quiet-hours")).body.quiet_hours).toEqual([]);
      expect((await world.send("GET", "/api/v1/alert-rules")).body.rules).toMatchObject([{ id: 0 }]);
    });

    it("takes over with adopt what was exported and is in no document", async () => {
      const channel = {
        kind: "ntfy",
        name: "By hand",
        settings: { topic: "sonde", server: "https://ntfy.test-site.org" },
      };
      const made = (await world.send("POST", "/api/v1/channels", { body: channel })).body;
      const rule = { name: "By hand", channels: [made.id] };
      const { version } = (await world.send("GET", "/api/v1/quiet-hours")).body;
      const hours = { name: "By hand", timezone: "UTC", spans: [{ days: [1], from: "22:00", to: "07:00" }] };
      await world.send("PUT", "/api/v1/quiet-hours", { body: { version, quiet_hours: [hours] } });
      const rules = (await world.send("GET", "/api/v1/alert-rules")).body;
      await world.send("PUT", "/api/v1/alert-rules", { body: { version: rules.version, rules: [rule] } });
      const text = [
        "sonde: 1",
        "name: taking",
        "channels: {by-hand: {kind: ntfy, name: By hand, topic: sonde}}",
        "quiet_hours: {by-hand: {name: By hand, spans: [{days: [mon], from: '22:00', to: '07:00'}]}}",
        "alert_rules: [{name: By hand, channels: [by-hand]}]",
      ].join("\n");
      const everything = (await exportOf(null)).document;
      expect(everything).toMatch(/channels:\n {2}by-hand:\n {4}name: By hand\n {4}kind: ntfy/);
      expect((await planned(text)).refused).toMatchObject([
        { key: "by-hand", message: expect.stringContaining("has the name") },
        { key: "By hand" },
      ]);
      const taken = await applied(text, { adopt: true });
      expect(taken.changes.map(({ act, fields }) => [act, fields])).toEqual([
        ["adopt", []],
        ["adopt", []],
        ["adopt", []],
      ]);
      expect((await planned(text)).changes).toEqual([]);
      // A document may name what another one has by its key, and what none has by its id.
      const monitor = await monitorNamed("shop");
      const other = {
        sonde: 1,
        name: "naming-others",
        maintenance: { x: { select: { keys: ["echo", monitor.id] }, schedule: ONCE } },
      };
      expect(acts(await applied(other))).toEqual(["create x"]);
      expect((await planned(other)).changes).toEqual([]);
      await applied({ sonde: 1, name: "naming-others" }, { prune: true });
      expect(acts(await applied({ sonde: 1, name: "taking" }, { prune: true })).length).toBe(3);
    });

    it("refuses each thing whose values its own request would refuse, by path and line, and does the others", async () => {
      const text = [
        "sonde: 1\nname: values",
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
        "channels: {phone: {kind: ntfy, topic: ''}}",
        "subscriptions: {s: {url: 'ftp://s.test-site.org/'}}",
      ].join("\n");
      const plan = await planned(text);
      expect(plan.refused.map(({ path, line }) => `${path} ${line}`).sort()).toEqual([
        "channels.phone.topic 13",
        "monitors.aa.url 4",
        "monitors.b.port 5",
        "monitors.c.type 6",
        "monitors.d.interval 7",
        "monitors.f.ssl_expiration 9",
        "monitors.g 10",
        "monitors.h.token 11",
        "monitors.i 12",
        "subscriptions.s.url 14",
      ]);
      const all = await send(text, { expect: plan.hash });
      expect([all.status, all.body.details.plan.refused.length]).toEqual([422, 10]);
      expect(acts(await applied(text, { skip_refused: true }))).toEqual(["create e"]);
      // What is there stays as it was when its entry is wrong, also where the rest is pruned.
      const worse = "sonde: 1\nname: values\nmonitors: {e: {type: http, url: 'ftp://e.test-site.org/'}}";
      const kept = await applied(worse, { skip_refused: true, prune: true });
      expect(kept).toMatchObject({ changes: [], refused: [{ key: "e" }] });
      await applied("sonde: 1\nname: values", { prune: true });
    });

    it("refuses broken documents by path and line, and changes nothing", async () => {
      const before = (await exportOf(null)).document;
      expect(BROKEN.length).toBeGreaterThan(59);
      for (const [name, text] of BROKEN) {
        const { status, body } = await send(text, { dry_run: true });
        // What only its kind can judge is refused by itself.
        const told = status === 400 ? body.details.errors : body.refused;
        expect([name, told.length > 0]).toEqual([name, true]);
        for (const { path, line, message } of told) {
          const hasLine = typeof line === "number" || message === "It is empty.";
          expect([name, typeof path, hasLine]).toEqual([name, "string", true]);
        }
      }
      expect((await exportOf(null)).document).toBe(before);
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
