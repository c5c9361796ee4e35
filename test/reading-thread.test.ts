/** The thread that reads long texts, of the built files. */
import { describe, expect, it, onTestFinished } from "vitest";
import type * as Words from "../api/apply/words.ts";
import type * as Start from "../api/texts/start.ts";
import { TextRefused } from "../api/texts/texts.ts";

const { startTexts } = (await import(new URL("../dist/api/texts/start.js", import.meta.url).href)) as typeof Start;
const { WORDS } = (await import(new URL("../dist/api/apply/words.js", import.meta.url).href)) as typeof Words;

function started(options: Start.ReadingThreadOptions) {
  const texts = startTexts(WORDS, options);
  onTestFinished(() => texts.close());
  return texts;
}

const DOCUMENT = "sonde: 1\nmonitors:\n  web: { type: http, url: https://www.test-site.org/ }\n";

describe("The reading thread", () => {
  it("reads a document, the lines of its things, another program's file and a list of links as this thread does", async () => {
    const [here, there] = [started({}), started({ mostHere: 0 })];
    for (const text of [DOCUMENT, "sonde: 2", "[", JSON.stringify({ sonde: 1 })])
      expect(await there.readDocument(1, text)).toEqual(await here.readDocument(1, text));
    expect(await there.linesOf(1, DOCUMENT, [["monitors", "web"], ["nothing"]])).toEqual([3, 1]);
    const order = {
      source: "gatus",
      files: [{ name: "text", text: 'endpoints: [{ name: shop, url: "https://www.test-site.org/" }]' }],
      options: {},
    };
    expect(await there.convert(1, order)).toEqual(await here.convert(1, order));
    const bad = { ...order, files: [{ name: "text", text: "endpoints: [" }] };
    expect(await there.convert(1, bad)).toEqual(await here.convert(1, bad));
    expect(await there.convert(1, bad)).toHaveProperty("fault");
    for (const list of ["trojan://word@www.test-site.org:443#A\nnonsense", "proxies: [", "{}"])
      expect(await there.linksOf(1, list, 10)).toEqual(await here.linksOf(1, list, 10));
  });

  it("reads a short text too that may repeat parts of itself: it can be a long one", async () => {
    const texts = started({ withinMs: 1 });
    const short =
      "sonde: 1\ndefaults: { tags: &t [x] }\nmonitors: { a: { type: ping, host: a.test-site.org, tags: *t } }";
    await expect(texts.readDocument(1, short)).rejects.toHaveProperty("name", TextRefused.name);
    expect((await texts.readDocument(1, DOCUMENT.replace("/ }", "/?a=b&c=d }"))).faults).toEqual([]);
  });

  it("is ended by a text that takes too long, and the next one has another", async () => {
    const texts = started({ mostHere: 100, withinMs: 1 });
    const long = `sonde: [${"1,".repeat(500_000)}1]`;
    await expect(texts.readDocument(1, long)).rejects.toHaveProperty("isBusy", false);
    await expect(texts.readDocument(1, long)).rejects.toHaveProperty("name", TextRefused.name);
    expect((await texts.readDocument(1, DOCUMENT)).faults).toEqual([]);
  });

  it("says a fault of ours as it is, not as one of the text, and the next text has another thread", async () => {
    const texts = started({ mostHere: 0 });
    await expect(texts.linesOf(1, DOCUMENT, null as never)).rejects.toBeInstanceOf(TypeError);
    expect((await texts.readDocument(1, DOCUMENT)).faults).toEqual([]);
  });

  it("refuses texts when too many wait, and when it is closed", async () => {
    const texts = started({ mostHere: 0 });
    const asked = await Promise.allSettled(
      Array.from({ length: 18 }, (_, index) => texts.readDocument(index >> 2, DOCUMENT)),
    );
    expect(asked.map(({ status }) => status)).toEqual([...Array(17).fill("fulfilled"), "rejected"]);
    await texts.close();
    await expect(texts.readDocument(1, DOCUMENT)).rejects.toHaveProperty("isBusy", true);
  });

  it("keeps places for others than the workspace that sends without end, and takes theirs in between", async () => {
    const texts = started({ mostHere: 0 });
    const ended: number[] = [];
    const read = async (workspace: number): Promise<void> => {
      await texts.readDocument(workspace, DOCUMENT);
      ended.push(workspace);
    };
    const asked = await Promise.allSettled([1, 1, 1, 1, 1, 1, 2, 2].map(read));
    expect(asked.map(({ status }) => status === "fulfilled")).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      true,
      true,
    ]);
    expect(ended).toEqual([1, 2, 1, 2, 1, 1, 1]);
  });
});
