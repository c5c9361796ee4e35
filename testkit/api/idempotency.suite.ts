/** Requests that are sent again with the same Idempotency-Key. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { StoreError } from "../../store/errors.ts";
import type { Checks } from "../../store/state/checks.ts";
import { type Answer, openWorld, START_MS, type World } from "./world.suite.ts";

const REPLAYED = "idempotency-replayed";
const DAY_MS = 86_400_000;

export function idempotencySuite(server: "net" | "node"): void {
  describe("Idempotency-Key", () => {
    let world: World;
    let checked = 0;
    let release: () => void = () => {};
    beforeEach(async () => {
      checked = 0;
      const held = new Promise<void>((settle) => {
        release = settle;
      });
      const checks: Checks = {
        async ask() {
          checked += 1;
          await held;
          return { type: "lost" };
        },
        async close() {},
      };
      world = await openWorld(server, {}, {}, { checks });
    });
    afterEach(async () => {
      release();
      await world.close();
    });

    const web = { type: "http", name: "Shop", url: "https://shop.test-site.org/" };
    const post = (key: string, body: unknown, path = "/servers", more = {}): Promise<Answer> =>
      world.send("POST", `/api/v1${path}`, { body, headers: { "idempotency-key": key }, ...more });
    const total = async (): Promise<number> => (await world.send("GET", "/api/v1/servers?family=all")).body.total;

    it("makes a monitor once, and answers the same", async () => {
      const first = await post("a", { ...web, intervall: 5 });
      const again = await post("a", { ...web, intervall: 5 });
      expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
      expect([first.headers[REPLAYED], again.headers[REPLAYED]]).toEqual([undefined, "true"]);
      expect(first.body.warnings).toHaveLength(1);
      expect(await total()).toBe(1);
      expect((await post("b", web)).body.id).not.toBe(first.body.id);
      expect(await total()).toBe(2);
    });

    it("refuses another request with the same key, and another form of a key", async () => {
      await post("a", web);
      const words = { error: true, code: 422, message: "This Idempotency-Key was used for another request." };
      expect((await post("a", { ...web, name: "Other" })).body).toEqual(words);
      expect((await post("a", web, "/servers?x=1")).body).toEqual(words);
      expect((await post("a", web, "/subscriptions")).body).toEqual(words);
      for (const key of ["a b", "x".repeat(256), "a, b", "é"]) expect((await post(key, web)).status).toBe(400);
      expect(await total()).toBe(1);
    });

    it("answers what was done also when the answer cannot be kept, and does not do it again at once", async () => {
      const { answers } = world.state;
      const keep = vi.spyOn(answers, "keep").mockRejectedValueOnce(new StoreError("Redis is away", { store: "redis" }));
      expect((await post("a", web)).status).toBe(200);
      expect([keep.mock.calls.length, (await post("a", web)).status, await total()]).toEqual([1, 409, 1]);
    });

    it("answers a refusal as it is also when Redis has gone meanwhile", async () => {
      vi.spyOn(world.state.answers, "forget").mockRejectedValue(new StoreError("Redis is away", { store: "redis" }));
      expect((await post("a", { ...web, name: "" })).status).toBe(400);
    });

    it("is each key's own, and ends after 24 hours", async () => {
      const first = (await post("a", web)).body.id;
      const key = await world.newKey(world);
      expect((await post("a", web, "/servers", { key })).body.id).not.toBe(first);
      world.clock.nowMs = START_MS + DAY_MS - 1;
      expect((await post("a", web)).body.id).toBe(first);
      world.clock.nowMs = START_MS + DAY_MS;
      expect((await post("a", web)).body.id).not.toBe(first);
    });

    it("keeps no refusal: what is mended may be sent with the same key", async () => {
      expect((await post("a", { ...web, url: "nowhere" })).status).toBe(400);
      expect((await post("a", web)).status).toBe(200);
      release();
      const config = { config: "trojan://word@vpn.test-site.org:443" };
      expect((await post("c", config, "/check")).status).toBe(502);
      expect((await post("c", config, "/check")).status).toBe(502);
      expect(checked).toBe(2);
    });

    it("refuses a second request while the first is being answered, and runs it once", async () => {
      const config = { config: "trojan://word@vpn.test-site.org:443" };
      const first = post("c", config, "/check");
      for (;;) {
        const second = await post("c", config, "/check");
        if (second.status !== 409) break;
        expect([checked <= 1, second.headers["retry-after"]]).toEqual([true, "5"]);
        if (checked === 1) release();
      }
      expect((await first).status).toBe(502);
    });

    it("shows a new API key to the same caller again, and keeps it sealed", async () => {
      const kept: string[] = [];
      const { answers } = world.state;
      const { keep } = answers;
      answers.keep = async (...args) => {
        kept.push(args[2]);
        return keep.apply(answers, args);
      };
      const first = await post("k", { name: "ci" }, "/keys", { project: null });
      const again = await post("k", { name: "ci" }, "/keys", { project: null });
      expect(first.body.key).toMatch(/^uk/);
      expect(again.body).toEqual(first.body);
      expect(kept).toHaveLength(1);
      expect(kept[0]).not.toContain(first.body.key);
      expect(world.log.join("\n")).not.toContain(first.body.key);
    });

    it("keeps the answer to a document with thousands of changes packed, a number of them in a day", async () => {
      const kept: number[] = [];
      const { answers, counters } = world.state;
      const [keep, takeFrom] = [answers.keep, counters.takeFrom];
      answers.keep = async (...args) => {
        kept.push(args[2].length);
        return keep.apply(answers, args);
      };
      const applied = async (name: string, key: string) => {
        const monitors = Array.from({ length: 3_000 }, (_, at) => [
          `${name}${at}`,
          { type: "ping", host: `h${at}.test-site.org` },
        ]);
        const document = JSON.stringify({ sonde: 1, name, monitors: Object.fromEntries(monitors) });
        const { hash } = (await world.send("POST", "/api/v1/apply", { body: { document, dry_run: true } })).body;
        const send = () => post(key, { document, expect: hash }, "/apply");
        return [await send(), await send()] as const;
      };
      const [first, again] = await applied("a", "one");
      expect([first.status, again.headers[REPLAYED], again.text === first.text]).toEqual([200, "true", true]);
      expect([first.text.length > 262_144, kept.length, (kept[0] ?? 0) < first.text.length / 4]).toEqual([
        true,
        1,
        true,
      ]);
      counters.takeFrom = async (...args) => !args[0].startsWith("large answers ") && takeFrom.apply(counters, args);
      const [another, refused] = await applied("b", "two");
      expect([another.status, refused.status, kept.length]).toEqual([200, 409, 1]);
    });

    it("is bounded by workspace and day", async () => {
      const { counters } = world.state;
      counters.takeFrom = async () => false;
      const refused = await post("a", web);
      expect([refused.status, Number(refused.headers["retry-after"]) > 3_600]).toEqual([429, true]);
      expect(await total()).toBe(0);
    });

    it("means nothing to other methods, nor where it is absent", async () => {
      const { id } = (await post("a", web)).body;
      const headers = { "idempotency-key": "a" };
      expect((await world.send("PUT", `/api/v1/servers/${id}`, { body: { name: "B" }, headers })).body.name).toBe("B");
      expect((await world.send("GET", `/api/v1/servers/${id}`, { headers })).body.name).toBe("B");
      expect((await world.send("POST", "/api/v1/servers", { body: web })).status).toBe(200);
    });
  });
}
