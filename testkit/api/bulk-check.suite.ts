/** Many configurations checked once: lines as they end, doubles once, no link in an answer, no further check once the reader is gone. */
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { WORDS } from "../../api/apply/words.ts";
import { textsHere } from "../../api/texts/steps.ts";
import { TextRefused, type Texts } from "../../api/texts/texts.ts";
import { type ProviderServer, startProvider } from "../../engine/subscription/provider-server.suite.ts";
import type { Checks } from "../../store/state/checks.ts";
import { openWorld, type World } from "./world.suite.ts";

export function bulkCheckSuite(server: "net" | "node"): void {
  describe("many checks at once", () => {
    let world: World;
    let asked = 0;
    let answer: () => ReturnType<Checks["ask"]>;
    let provider: ProviderServer;
    beforeAll(async () => {
      provider = await startProvider();
      const ask: Checks["ask"] = () => {
        asked += 1;
        return answer();
      };
      world = await openWorld(server, { allowNets: ["127.0.0.0/8"] }, {}, { checks: { ask, close: async () => {} } });
    });
    afterAll(async () => {
      await world.close();
      await provider.close();
    });

    const measured = async (verdict: "ok" | "timeout") => ({
      ...{ type: "measured" as const },
      result: {
        ...{ verdict, startedAtMs: world.clock.nowMs, latencyMs: verdict === "ok" ? 12 : null, connectMs: null },
        ...{ peerAnswered: verdict === "ok", message: verdict === "ok" ? null : "No answer" },
        tunnel: {
          connectionTimeMs: 31,
          handshakeTimeMs: null,
          assignedIp: "203.0.113.7",
          engineUsed: "xray" as const,
          exitCountry: "DE",
        },
      },
    });
    const link = (host: string, name = host) => `trojan://s3cret@${host}.test-site.org:443#${name}`;
    const send = (body: unknown) => world.send("POST", "/api/v1/check/bulk", { body });
    const linesOf = (text: string) =>
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));

    it("are answered line by line; a double is checked once, a bad line has its reason, no line has a link", async () => {
      asked = 0;
      answer = () => measured(asked === 1 ? "ok" : "timeout");
      const text = [link("a"), "", "# a comment", link("b"), link("a", "again"), "nonsense"].join("\n");
      const { status, headers, text: sent } = await send({ text, at_once: 1 });
      expect([status, headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
      const [head, one, two, last] = linesOf(sent);
      expect(head).toEqual({ total: 2, invalid_count: 1, invalid: [{ line: 6, reason: expect.any(String) }] });
      expect(one).toMatchObject({
        line: 1,
        tag: "a",
        type: "trojan",
        server: "a.test-site.org",
        port: 443,
        success: true,
        total_ms: 31,
        public_ip: "203.0.113.7",
        country: "DE",
        engine_used: "xray",
      });
      expect(two).toMatchObject({
        line: 4,
        success: false,
        public_ip: "",
        country: "",
        error: "No answer",
        error_category: expect.any(String),
      });
      expect(last).toEqual({ done: true, healthy: 1, down: 1, ms: expect.any(Number) });
      expect([asked, sent.includes("s3cret")]).toEqual([2, false]);
    });

    it("take a list in base64, and refuse servers that may not be dialled without asking a checker", async () => {
      asked = 0;
      answer = () => measured("ok");
      const inside = "trojan://s3cret@10.0.0.7:443#inside";
      const text = Buffer.from(`${link("c")}\n${inside}\n`).toString("base64");
      const lines = linesOf((await send({ text })).text);
      expect(
        lines
          .slice(1, -1)
          .map(({ line, success }) => `${line} ${success}`)
          .sort(),
      ).toEqual(["1 true", "2 false"]);
      expect(asked).toBe(1);
    });

    it("take the list behind a subscription's address, or a client's own format, and no link comes back", async () => {
      asked = 0;
      answer = () => measured("ok");
      provider.answer("/list", `${link("a")}\nnonsense://x\n${link("b")}`);
      const { status, text } = await send({ url: provider.url("/list?token=t0ken") });
      const [head, ...rows] = linesOf(text);
      const invalid = [{ line: 2, reason: "nonsense is not supported" }];
      expect([status, head, rows.length]).toEqual([200, { total: 2, invalid_count: 1, invalid }, 3]);
      expect(
        rows
          .slice(0, 2)
          .map((row) => `${row.line} ${row.server}`)
          .sort(),
      ).toEqual(["1 a.test-site.org", "3 b.test-site.org"]);
      const clash = `proxies:\n  - {name: C, type: trojan, server: c.test-site.org, port: 443, password: s3cret}\n`;
      const [, row] = linesOf((await send({ text: clash })).text);
      expect(row).toMatchObject({ line: 1, tag: "C", type: "trojan", success: true });
      expect([asked, text.includes("s3cret"), world.log.join().includes("t0ken")]).toEqual([3, false, false]);
    });

    it("are not begun when the address yields no list, is inside, or too many were fetched", async () => {
      provider.answer("/page", "<html></html>");
      const faultOf = async (body: unknown) => {
        const { status, body: said } = await send(body);
        return `${status} ${said.message}`;
      };
      expect(await faultOf({ url: provider.url("/page") })).toBe(
        "422 There is no list: The answer is a web page, not a list.",
      );
      expect(await faultOf({ url: provider.url("/gone") })).toBe(
        "422 There is no list: The provider answered with HTTP 404.",
      );
      expect(await faultOf({ url: "http://10.0.0.7/list" })).toMatch(/^400 url must reach a public address: /);
      expect(await faultOf({ text: "{" })).toMatch(/^422 There is no list: /);
      expect(provider.asked("/page").length).toBe(3);
      let said = "";
      for (let tries = 0; tries < 60 && !said.startsWith("429"); tries++)
        said = await faultOf({ url: provider.url("/gone") });
      expect(said).toBe("429 This workspace has fetched 60 lists in this hour.");
    });

    it("leave a list that is no list of lines to the thread for long texts, wherever it comes from", async () => {
      const texts = textsHere(WORDS);
      const asked: string[] = [];
      const refusing: Texts = {
        ...texts,
        linksOf: (_workspace, text) => {
          asked.push(text);
          return Promise.reject(new TextRefused(asked.length === 1));
        },
      };
      const config = { allowNets: ["127.0.0.0/8"] };
      const other = await openWorld(server, config, {}, { texts: refusing });
      onTestFinished(() => other.close());
      const list = `proxies: [{type: trojan, server: a.test-site.org, port: 443, password: s3cret}]`;
      provider.answer("/clash", list);
      const said = async (body: unknown) => (await other.send("POST", "/api/v1/check/bulk", { body })).status;
      expect([await said({ text: list }), await said({ url: provider.url("/clash") })]).toEqual([503, 400]);
      expect(asked).toEqual([list, list]);
    });

    it("stop when the reader goes", async () => {
      asked = 0;
      let release: () => void = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      answer = async () => {
        await held;
        return measured("ok");
      };
      const text = Array.from({ length: 20 }, (_, index) => link(`h${index}`)).join("\n");
      const headers = { "x-api-key": world.key, "x-project-id": `prj_${world.projectId}` };
      const options = { host: "127.0.0.1", port: world.api.port, method: "POST", path: "/api/v1/check/bulk", headers };
      await new Promise<void>((resolve) => {
        const sent = request(options, (incoming) => {
          incoming.once("data", () => incoming.destroy());
          incoming.on("close", () => resolve());
          incoming.on("error", () => {});
        });
        sent.on("error", () => {});
        sent.end(JSON.stringify({ text, at_once: 2 }));
      });
      // The server has heard of the end when it answers another request on a new connection behind it.
      while ((await world.send("GET", "/api/v1/whoami")).status !== 200);
      release();
      await world.send("GET", "/api/v1/whoami");
      expect(asked).toBeLessThan(20);
    });

    it.each([
      [{}, "text must be share links, one a line."],
      [{ text: "x", url: "https://x.test-site.org/" }, "Send text or url, not both."],
      [{ url: "ftp://x.test-site.org/" }, "Missing or invalid url: url must begin with http:// or https://."],
      [{ text: "x", at_once: 65 }, "at_once must be a whole number from 1 to 64."],
      [{ text: "x", engine: "v2" }, "engine must be xray or singbox."],
      [{ text: "x\n".repeat(10_001) }, "text has more than 10000 configurations: send fewer."],
    ])("refuse %#", async (body, message) => {
      expect((await send(body)).body).toMatchObject({ code: 400, message });
    });
  });
}
