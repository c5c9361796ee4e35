import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UUID } from "../../engine/protocols/config.suite.ts";
import { LINKS } from "../../engine/protocols/share-link/links.suite.ts";
import { entriesOf } from "../../engine/subscription/body.ts";
import { listServers } from "../../engine/subscription/list.ts";
import { listedOf, nameOfServer } from "./listed.ts";

const link = (host: string, rest: string, name: string): string =>
  `vless://${UUID}@${host}.test-site.org:443?${rest}#${name}`;

async function listed(body: string, key = "key") {
  let breaths = 0;
  const breathe = async (): Promise<void> => void breaths++;
  const made = await listedOf(await listServers(entriesOf(body), async () => {}), {
    key,
    seal: (identity, text) => `<${text}>${identity}`,
    breathe,
  });
  return { ...made, breaths };
}

describe("a list as the store keeps it", () => {
  it("has every config as sealed fields, whatever its protocol", async () => {
    const { servers, unsupported } = await listed([...LINKS.values()].join("\n"));
    const configs = servers.flatMap((server) => server.configs);
    expect(configs.length).toBeGreaterThan(5);
    expect(unsupported).toEqual({});
    for (const { sealed, identity } of configs) {
      expect(sealed.endsWith(`>${identity}`)).toBe(true);
      expect(JSON.parse(sealed.slice(1, -1 - identity.length))).toEqual({ url: expect.stringMatching(/^\w+:\/\//) });
    }
    expect(new Set(configs.map(({ type }) => type)).size).toBeGreaterThan(3);
  });

  it("knows configs by a hash that cannot be made without the key", async () => {
    const body = link("a", "security=tls", "n");
    const identityOf = async (key: string) => (await listed(body, key)).servers[0]?.configs[0]?.identity;
    expect(await identityOf("key")).toBe(await identityOf("key"));
    expect(await identityOf("other")).not.toBe(await identityOf("key"));
    const [server] = (await listServers(entriesOf(body), async () => {})).servers;
    expect(await identityOf("key")).not.toBe(server?.configs[0]?.identity);
  });

  it("names a server by its config, safe to show, and a config without a name by where it is", async () => {
    const { servers } = await listed(
      [link("a", "security=tls", "Berlin%1b%5b31m%0a1"), link("b", "security=tls", "")].join("\n"),
    );
    expect(servers.map(({ name, configs }) => [name, configs[0]?.tag])).toEqual([
      ["Berlin [31m 1", "Berlin [31m 1"],
      [null, "b.test-site.org:443"],
    ]);
  });

  it.each<readonly [readonly string[], string | null]>([
    [["Berlin | WS", "Berlin | gRPC"], "Berlin"],
    [["Berlin-1", "Berlin-12"], "Berlin"],
    [["Berlin 1", "Berlin 1 again"], "Berlin 1"],
    [["New York (ws)", "New Yorkshire"], "New"],
    [["\u{1f1e9}\u{1f1ea} Berlin ws", "\u{1f1e9}\u{1f1ea} Berlin tcp"], "\u{1f1e9}\u{1f1ea} Berlin"],
    [["same", "same"], "same"],
    [["only | one"], "only | one"],
    [["alive1", "dead1"], null],
    [["\u{1f1e9}\u{1f1ea} a", "\u{1f1e9}\u{1f1f0} b"], null],
    [[], null],
  ])("names a server with the configs %j %j", (labels, name) => {
    expect(nameOfServer(labels)).toBe(name);
  });

  it("never gives a server a name that is not a beginning of each label", () => {
    const label = fc.string({ unit: fc.constantFrom("a", "b", " ", "-", "|", "\u{1f1e9}"), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(label, { maxLength: 5 }), (labels) => {
        const name = nameOfServer(labels);
        if (name !== null) for (const each of labels) expect(each.startsWith(name)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("counts what no link can say", async () => {
    const extra = encodeURIComponent(JSON.stringify({ downloadSettings: { address: "d.test-site.org", port: 443 } }));
    const { servers, unsupported } = await listed(
      [link("a", `security=tls&type=xhttp&extra=${extra}`, "two"), link("a", "security=tls", "one")].join("\n"),
    );
    expect(servers.map(({ configs }) => configs.map(({ tag }) => tag))).toEqual([["one"]]);
    expect(unsupported).toEqual({ "settings that no link can hold": 1 });
  });

  it("lets others have the thread", async () => {
    const body = Array.from({ length: 250 }, (_, at) => link(`h${at}`, "security=tls", "n")).join("\n");
    expect((await listed(body)).breaths).toBe(2);
  });
});
