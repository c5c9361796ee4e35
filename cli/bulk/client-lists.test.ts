import { describe, expect, it } from "vitest";
import { entriesOf } from "../../engine/subscription/body.ts";
import type { CheckView } from "../check/outcome.ts";
import { clashList, singboxList } from "./client-lists.ts";
import type { BulkResult } from "./tally.ts";

const UUID = "5ec2e700-1111-4222-8333-444455556666";

function of(at: number, name: string | null, settings: Readonly<Record<string, unknown>>): BulkResult {
  const item = { at, id: String(at), kind: "vless" as const, place: `h:${at}`, name, settings };
  return { item, view: { status: "healthy" } as CheckView };
}
const link = (more: string) => ({ url: `vless://${UUID}@h.test-site.org:443?${more}#n` });

describe("lists for clients", () => {
  const results = [
    of(1, "a: #1", link("security=tls&type=ws&path=/1")),
    of(2, "a: #1", link("security=tls&type=ws&path=/2")),
    of(3, "Fastest", link("security=tls&type=ws&path=/3")),
    of(4, null, link("security=tls&type=kcp")),
    of(5, "wg", { config: "[Interface]" }),
  ];

  it.each([clashList, singboxList])("%o: no name stands twice, and what has no place in it is named", (make) => {
    const { text, leftOut } = make(results);
    const names = [...entriesOf(text)].map((entry) => (entry.kind === "config" ? entry.read.name : entry.kind));
    expect(names).toEqual(["a: #1", "a: #1 2", "Fastest 2"]);
    expect(leftOut.map(({ at }) => at)).toEqual([4, 5]);
    expect(leftOut[1]?.reason).toBe("it is no share link");
  });

  it("are whole without a config", () => {
    expect([clashList([]).text, singboxList([]).text]).toEqual(["proxies: []\n", '{\n  "outbounds": []\n}\n']);
  });
});
