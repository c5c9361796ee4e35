/** The reader of pasted lists: whatever is pasted, each line is one configuration, a double, or a reason. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { isStructured, readBulk, readListed } from "./bulk.ts";

const link = fc
  .tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom("", "#n", "#%zz", "#Berlin%201"))
  .map(([host, name]) => `trojan://s3cret@${host}.test-site.org:443${name}`);
const line = fc.oneof(
  { weight: 3, arbitrary: link },
  fc.string({ maxLength: 60 }),
  fc.constantFrom("", "# remark", "vless://", "vmess://e30=", "https://x.test-site.org/", "[Interface]", "\u0000"),
);

it("says of each line what it is, in the order of the lines", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 30 }), fc.constantFrom("\n", "\r\n"), async (lines, end) => {
      const text = lines.join(end);
      const list = await readBulk(text, undefined, null);
      const places = list?.items.map((item) => item.line) ?? [];
      expect(places).toEqual([...places].sort((a, b) => a - b));
      const count = text.split(/\r?\n/).length;
      expect((list?.items.length ?? 0) + (list?.invalidCount ?? 0)).toBeLessThanOrEqual(Math.max(count, lines.length));
      for (const { reason } of list?.invalid ?? []) expect(reason).not.toContain("s3cret");
      const identities = (list?.items ?? []).map(({ order }) =>
        JSON.stringify([order.tunnel.fields, order.tunnel.endpoints]),
      );
      expect(new Set(identities).size).toBe(identities.length);
    }),
    { numRuns: 80 },
  );
});

it("reads the same out of a list in base64, and counts what it does not tell one by one", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(link, { minLength: 1, maxLength: 12 }), async (links) => {
      const text = links.join("\n");
      const plain = await readBulk(text, 15, "xray");
      const packed = await readBulk(Buffer.from(text).toString("base64"), 15, "xray");
      expect(packed?.items).toEqual(plain?.items);
      const listed = {
        links: links.map((one, index) => ({ at: index + 1, link: one })),
        bad: [],
        badCount: 3,
        message: null,
      };
      expect(await readListed(listed, 15, "xray")).toEqual({ items: plain?.items, invalid: [], invalidCount: 3 });
    }),
    { numRuns: 40 },
  );
});

it.each([
  ['  {"outbounds": []}', true],
  ["\n[]", true],
  ["port: 1\nproxies:\n  - {}", true],
  ["[Interface]\nPrivateKey = x", true],
  ["vless://x", false],
])("tells formats of clients from lists of links: %j", (text, structured) => {
  expect(isStructured(text)).toBe(structured);
});

it("takes no more lines than it reads in a moment, whatever is in them", async () => {
  const link = "trojan://s3cret@a.test-site.org:443";
  expect((await readBulk(`${"\n".repeat(99_999)}${link}`, undefined, null))?.items).toMatchObject([{ line: 100_000 }]);
  expect(await readBulk(`${"\n".repeat(100_000)}${link}`, undefined, null)).toBeUndefined();
});
