/** How the answer of a website is judged beside its status code, against servers on loopback. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeRig } from "../../test/web-rig.ts";
import { NetworkFault } from "../net/fault.ts";
import { http } from "../probes/http.ts";
import { keyword } from "../probes/keyword.ts";
import { judgeText } from "../text-judge/judge-text.ts";
import { check, fixed, page, raw, transport } from "./website.suite.ts";

const probes = { http: await http.load(), keyword: await keyword.load() };

/** As a prober runs it, with a clock that the test moves. */
async function run(body: Record<string, unknown>, more: { tookMs?: number; expireWhen?: Promise<unknown> } = {}) {
  const rig = makeRig(transport);
  let nowMs = 1_000;
  const context = {
    ...rig.context,
    now: () => nowMs,
    phase: (name: Parameters<typeof rig.context.phase>[0]) => {
      if (name === "transfer") nowMs += more.tookMs ?? 5;
      rig.context.phase(name);
    },
  };
  void more.expireWhen?.then(() => rig.expire());
  return "keyword" in body
    ? probes.keyword.run(keyword.settings.parse(body), context)
    : probes.http.run(http.settings.parse(body), context);
}

describe("max_response_time", () => {
  it("makes a check degraded that takes longer, and says how long it took", async () => {
    const { port } = await fixed(page("x"));
    const url = `http://web.rig:${port}/`;
    expect((await run({ url, max_response_time: 500 }, { tookMs: 500 })).verdict).toBe("ok");
    expect(await run({ url, max_response_time: 500 }, { tookMs: 500.2 })).toMatchObject({
      verdict: "incomplete",
      message: "Answered in 501 ms, the limit is 500 ms",
    });
  });

  it("says nothing of a website that fails", async () => {
    const { port } = await fixed("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
    const body = { url: `http://web.rig:${port}/`, max_response_time: 1 };
    expect((await run(body, { tookMs: 9 })).verdict).toBe("rejected");
  });

  it.each([0, 1.5, "500", 120_001, true])("refuses %j", (max_response_time) => {
    const { error } = http.settings.safeParse({ url: "http://web.rig/", max_response_time });
    expect(error?.issues[0]?.message).toBe("max_response_time must be a whole number of ms from 1 to 120000, or null.");
  });
});

describe("expressions", () => {
  const path = "node";
  const site = async (body: string, headers = "") => ({
    url: `http://web.rig:${(await fixed(page(body, headers))).port}/`,
  });

  it("match the answer somewhere", async () => {
    const html = await site("<p>Twelve kettles</p>\n<p>In stock: 12</p>");
    expect((await check(path, { ...html, body_regex: "(?i)in stock: \\d+" })).verdict).toBe("ok");
    expect((await check(path, { ...html, keyword: "kettles", body_regex: "stock" })).verdict).toBe("ok");
    expect(await check(path, { ...html, body_regex: "^sold out$" })).toMatchObject({
      verdict: "rejected",
      message: "The regular expression matches nothing in the answer",
    });
    const latin = await site(Buffer.from("gr\u00fcn", "latin1").toString("latin1"));
    expect((await check(path, { ...latin, body_regex: "^gr.n$" })).verdict).toBe("ok");
  });

  it("query its JSON", async () => {
    const json = await site('{"status":"ok","queue":{"length":5},"jobs":[{"done":true},{"done":false}],"none":null}');
    const passes = [
      { json_query: "status", json_expected: "ok" },
      { json_query: "queue.length", json_expected: "5" },
      { json_query: "queue.length < 10" },
      { json_query: "$count(jobs[done])", json_expected: "1" },
      { json_query: "jobs.done", json_expected: "[true,false]" },
      { json_query: "status" },
    ];
    for (const rules of passes)
      expect([rules, (await check(path, { ...json, ...rules })).verdict]).toEqual([rules, "ok"]);
    const fails = [
      [{ json_query: "status", json_expected: "down" }, "The query gives ok, expected is down"],
      [{ json_query: "missing" }, "The query gives nothing"],
      [{ json_query: "none" }, "The query gives null"],
      [{ json_query: "queue.length > 10" }, "The query gives false"],
      [{ json_query: "$sum(status)" }, /^The query cannot be answered: /],
    ] as const;
    for (const [rules, message] of fails) {
      const outcome = await check(path, { ...json, ...rules });
      expect(outcome.verdict).toBe("rejected");
      expect(outcome.message).toMatch(message);
    }
    const none = await site("<p>no JSON</p>");
    expect((await check(path, { ...none, json_query: "a" })).message).toBe("The answer is not JSON");
    const long = await site(JSON.stringify(["x".repeat(1024 * 1024)]));
    expect(await check(path, { ...long, json_query: "$count($)" })).toMatchObject({
      verdict: "rejected",
      message: "The answer is longer than 1 MiB: json_query cannot look into it",
    });
    expect((await check(path, { ...long, body_regex: "xx" })).verdict).toBe("ok");
  });

  it("read what is compressed", async () => {
    const body = gzipSync('{"a":"b"}');
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { port } = await fixed(Buffer.concat([Buffer.from(head), body]));
    expect((await check(path, { url: `http://web.rig:${port}/`, json_query: "a", json_expected: "b" })).verdict).toBe(
      "ok",
    );
  });
});

describe("settings of expressions", () => {
  it.each([
    [{ body_regex: "(a" }, /^body_regex: error parsing regexp: missing closing/],
    [{ body_regex: "(?=a)b" }, /^body_regex: error parsing regexp/],
    [{ body_regex: "a{1001}" }, /^body_regex: error parsing regexp: invalid repeat count/],
    [{ body_regex: "(a{1000}){1000}" }, /^body_regex: its repetitions and ranges make more than 10000 steps/],
    [{ body_regex: "" }, /^body_regex must be a text of 1 to 1024/],
    [{ body_regex: "a".repeat(1_025) }, /^body_regex must be a text of 1 to 1024/],
    [{ json_query: "a.[" }, /^json_query: /],
    [{ json_query: 5 }, /^json_query must be/],
    [{ json_expected: "a" }, /^json_expected needs json_query/],
    [{ method: "HEAD", json_query: "a" }, /^json_query needs an answer with a text/],
  ])("refuse %j", (body, message) => {
    const { error } = http.settings.safeParse({ url: "http://web.rig/", ...body });
    expect(error?.issues[0]?.message).toMatch(message);
  });

  it("of any text are taken or refused, and what is taken can be run", async () => {
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.string({ unit: fc.constantFrom(..."ab.*+?|()[]{}\\^$1,:&$ "), maxLength: 30 }),
    );
    await fc.assert(
      fc.asyncProperty(text, fc.jsonValue(), async (expression, json) => {
        for (const field of ["body_regex", "json_query"] as const) {
          const parsed = http.settings.safeParse({ url: "http://web.rig/", [field]: expression });
          if (!parsed.success) {
            expect(parsed.error.issues[0]?.message).toMatch(new RegExp(`^${field}`));
            continue;
          }
          const { body_regex: regex = null, json_query: query = null } = parsed.data;
          const answer = await judgeText({ regex, query, expected: null }, JSON.stringify(json) ?? "null");
          expect(["passed", "failed"]).toContain(answer.type);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("invert", () => {
  it("passes when the website fails, whatever way it does, and fails when it works", async () => {
    const works = await fixed(page("hello"));
    const fails = await fixed("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
    const garbled = await fixed("SSH-2.0-x\r\n");
    const url = (port: number) => ({ url: `http://web.rig:${port}/`, invert: true });
    expect(await run(url(works.port))).toMatchObject({
      verdict: "rejected",
      message: "The website works, and invert says that it must not",
    });
    expect((await run({ ...url(works.port), keyword: "hello" })).verdict).toBe("rejected");
    expect((await run({ ...url(works.port), keyword: "bye" })).verdict).toBe("ok");
    expect((await run({ ...url(works.port), max_response_time: 1 }, { tookMs: 5 })).verdict).toBe("rejected");
    for (const { port } of [fails, garbled])
      expect(await run(url(port))).toMatchObject({ verdict: "ok", latencyMs: null });
    await works.close();
    expect((await run(url(works.port))).verdict).toBe("ok");
    expect((await run({ url: "http://nothing.test/", invert: true })).verdict).toBe("ok");
  });

  it("passes when the website is silent until the deadline", async () => {
    let accepted: (value: unknown) => void = () => {};
    const expireWhen = new Promise((resolve) => {
      accepted = resolve;
    });
    const { port } = await raw(() => accepted(null));
    expect((await run({ url: `http://web.rig:${port}/`, invert: true }, { expireWhen })).verdict).toBe("ok");
  });

  it("leaves what says nothing of the website: a refused address, and faults of ours", async () => {
    await expect(run({ url: "http://private.rig/", invert: true })).rejects.toMatchObject({ verdict: "misconfigured" });
    const rig = makeRig({ ...transport, resolve: () => Promise.reject(new NetworkFault("unfit", "no resolver")) });
    const settings = http.settings.parse({ url: "http://web.rig/", invert: true });
    await expect(probes.http.run(settings, rig.context)).rejects.toMatchObject({ verdict: "unfit" });
  });
});
