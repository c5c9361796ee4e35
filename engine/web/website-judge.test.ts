/** How the answer of a website is judged beside its status code, against servers on loopback. */
import { describe, expect, it } from "vitest";
import { makeRig } from "../../test/web-rig.ts";
import { NetworkFault } from "../net/fault.ts";
import { http } from "../probes/http.ts";
import { keyword } from "../probes/keyword.ts";
import { fixed, page, raw, transport } from "./website.suite.ts";

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
