/** Lists in which something is broken: what is broken is told by its number, and every other entry is read. */
import fc from "fast-check";
import { dump } from "js-yaml";
import { describe, expect, it } from "vitest";
import { decodeText } from "../../model/decode-text.ts";
import { UUID } from "../protocols/config.suite.ts";
import { entriesOf } from "./body.ts";
import { BodyError } from "./body-error.ts";

const host = (index: number): string => `h${index}.test-site.org`;
const link = (index: number): string => `vless://${UUID}@${host(index)}:443?security=tls#n${index}`;
const singbox = (index: number): object => ({
  type: "vless",
  tag: `n${index}`,
  server: host(index),
  server_port: 443,
  uuid: UUID,
  tls: { enabled: true },
});
const xray = (index: number): object => ({
  protocol: "trojan",
  settings: { servers: [{ address: host(index), port: 443, password: "p" }] },
});
const clash = (index: number): object => ({
  name: `n${index}`,
  type: "trojan",
  server: host(index),
  port: 443,
  password: "p",
});
const sip008 = (index: number): object => ({
  server: host(index),
  server_port: 8388,
  method: "aes-256-gcm",
  password: "p",
});
const pretty = (value: object): string => JSON.stringify(value, null, 2);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Five servers in each format, and what stands between two entries of it. */
const LISTS: readonly (readonly [format: string, text: string])[] = [
  ["links", [0, 1, 2, 3, 4].map(link).join("\n")],
  ["an array of links", pretty([0, 1, 2, 3, 4].map(link))],
  ["sing-box", pretty({ log: {}, outbounds: [0, 1, 2, 3, 4].map(singbox) })],
  ["sing-box's servers alone", pretty([0, 1, 2, 3, 4].map(singbox))],
  ["xray", pretty({ outbounds: [0, 1, 2, 3, 4].map(xray) })],
  ["xray's set-ups", pretty([0, 1, 2, 3, 4].map((index) => ({ remarks: "r", outbounds: [xray(index)] })))],
  ["SIP008", pretty({ version: 1, servers: [0, 1, 2, 3, 4].map(sip008) })],
  ["Clash", `proxies:\n${[0, 1, 2, 3, 4].map((index) => `  - ${JSON.stringify(clash(index))}\n`).join("")}`],
  ["Clash in blocks", dump({ proxies: [0, 1, 2, 3, 4].map(clash), rules: ["MATCH,DIRECT"] })],
];
const hostsOf = (text: string): readonly string[] =>
  [...entriesOf(text)].flatMap((entry) => (entry.kind === "config" ? [entry.read.config.host] : []));
const told = (text: string) =>
  [...entriesOf(text)].map((entry) => (entry.kind === "bad" ? [entry.at, entry.reason] : [entry.at, entry.kind]));

describe.each(LISTS)("a list of %s", (_, text) => {
  const all = [0, 1, 2, 3, 4].map(host);

  it.each([
    ["UTF-8 with a byte-order mark", Buffer.from(`\ufeff${text}`)],
    ["UTF-16, little-endian", Buffer.from(`\ufeff${text}`, "utf16le")],
    ["UTF-16, big-endian", Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
    ["base64", Buffer.from(base64(text))],
    ["base64 with padding too much", Buffer.from(`${base64(text).replace(/=+$/, "")}====`)],
    ["base64 without padding", Buffer.from(base64(text).replace(/=+$/, ""))],
    ["base64 of UTF-16", Buffer.from(Buffer.from(`\ufeff${text}`, "utf16le").toString("base64"))],
    ["base64 with a stray byte", Buffer.concat([Buffer.from(base64(text)), Buffer.from([0xff, 0])])],
  ])("is read in %s", (_form, bytes) => {
    expect(hostsOf(decodeText(bytes))).toEqual(all);
  });

  it("loses at most two entries to a stray byte or a NUL, and none without a word to a byte that was overwritten", () => {
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(
        fc.nat(bytes.length),
        fc.constantFrom(0, 1, 0x1b, 0x80, 0xff),
        fc.boolean(),
        (at, stray, isInserted) => {
          const rest = bytes.subarray(isInserted ? at : at + 1);
          const read = decodeText(Buffer.concat([bytes.subarray(0, at), Buffer.from([stray]), rest]));
          // A byte in the one word that says what the whole list is leaves no list.
          const isInHead = at <= text.indexOf(host(0));
          if (isInHead) return;
          const hosts = hostsOf(read);
          expect(hosts.every((one) => all.includes(one))).toBe(true);
          if (isInserted) expect(hosts.length).toBeGreaterThanOrEqual(3);
          if (hosts.length < 5) expect([...entriesOf(read)].some(({ kind }) => kind !== "config")).toBe(true);
        },
      ),
    );
  });

  it("is read up to where it was cut off", () => {
    const before = text.slice(0, text.indexOf(host(3)) + 3);
    expect(hostsOf(before)).toEqual(all.slice(0, 3));
  });
});

describe("entries of JSON", () => {
  const listOf = (...entries: readonly string[]): string => `{"outbounds":[${entries.join(",")}]}`;
  const [first, second, third] = [0, 1, 2].map((index) => JSON.stringify(singbox(index))) as [string, string, string];

  it("are read with comments and with commas too many", () => {
    const text = `// mine\n{ /* a */ "outbounds": [ # b\n ${first}, // "c"\n ${second.replace('"tls"', '/* d */ "tls"').replace("}}", ",},}")},\n],\n}`;
    expect(hostsOf(text)).toEqual([host(0), host(1)]);
    const within = second.replace(host(1), "h1.test-site.org").replace("n1", "a // b # c /* d, ] */");
    expect(told(`// x\n${listOf(first, within)}`)).toEqual([
      [1, "config"],
      [2, "config"],
    ]);
  });

  it.each([
    ["without its end", second.slice(0, -2)],
    ["with an end too many", `${second}}`],
    ["with a quote missing", second.replace('"uuid', "uuid")],
    ["with a quote too many", second.replace('"uuid', '""uuid')],
    ["with a list that has no end", second.replace('"uuid"', '"a":["b","uuid"')],
    ["that is a word", "nothing"],
  ])("are told by number: one %s", (_, broken) => {
    const entries = told(listOf(first, `\n${broken}\n`, third));
    expect(entries.at(0)).toEqual([1, "config"]);
    expect(entries.length).toBeGreaterThanOrEqual(3);
    expect(entries.at(-1)?.[1]).toBe("config");
    if (!broken.endsWith("}}}")) expect(entries).toContainEqual([2, "it is JSON that cannot be read"]);
  });

  it("are read behind a quote that is missing, also when all stand in one line", () => {
    expect(told(listOf(first, second.replace('"uuid', "uuid"), third, first))).toEqual([
      [1, "config"],
      [2, "it is JSON that cannot be read"],
      [3, "config"],
      [4, "it is JSON that cannot be read"],
    ]);
  });

  it("are told behind a list's end that stands too early", () => {
    expect(told(`{"outbounds":[${first}, ${second}], ${third}]}`)).toEqual([
      [1, "config"],
      [2, "config"],
      [3, "it is JSON that cannot be read"],
    ]);
  });

  it("that are something else than a server are told by number, wherever they stand", () => {
    const entries = ["null", "42", "[]", "{}", '{"type":"vless"}', '{"type":5}', first];
    const reasons = [
      [1, "it is no object"],
      [2, "it is no object"],
      [3, "it is no object"],
      [4, "it has no type"],
      [5, "port must be a number from 1 to 65535"],
      [6, "it has no type"],
      [7, "config"],
    ];
    expect(told(listOf(...entries))).toEqual(reasons);
    expect(told(`[${entries.join()}]`).map(([at]) => at)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(
      told(`["${link(0)}", 5, ${JSON.stringify(xray(1))}, "words", ${JSON.stringify({ outbounds: [xray(2)] })}]`),
    ).toEqual([
      [1, "config"],
      [2, "it is no server"],
      [3, "config"],
      [4, "this is no link"],
      [5, "config"],
    ]);
  });

  it.each([
    [{ tls: "on" }, "its tls is no object"],
    [{ tls: { enabled: "maybe" } }, "its tls.enabled is neither true nor false"],
    [{ transport: "ws" }, "its transport is no object"],
    [{ uuid: true }, "its uuid is no text"],
    [{ uuid: 12 }, "its uuid is no text"],
    [{ uuid: ["a"] }, "its uuid is no text"],
    [{ server: 123 }, "server is neither a name nor an address"],
    [{ server: ["a.test-site.org"] }, "server is neither a name nor an address"],
    [{ server_port: [443] }, "port must be a number from 1 to 65535"],
    [{ type: "trojan", password: false }, "its password is no text"],
    [{ type: "hysteria2", password: "p", tls: undefined }, "its tls is not enabled, which hysteria2 needs"],
    [{ type: "tuic", password: "p", tls: { enabled: false } }, "its tls is not enabled, which tuic needs"],
  ])("with %o are not read as something else", (part, reason) => {
    expect(told(JSON.stringify({ outbounds: [{ ...singbox(0), ...part }] }))).toEqual([[1, reason]]);
  });

  it("with a password of digits are read as it is written", () => {
    const [entry] = [...entriesOf(JSON.stringify({ servers: [{ ...sip008(0), password: 123456 }] }))];
    expect(entry).toMatchObject({ kind: "config", read: { config: { account: { password: "123456" } } } });
  });
});

describe("stray bytes in an entry", () => {
  it.each([
    [`vless://${UUID}@${host(0)}:443?security=tls&path=\ufffd`, "bad"],
    [`trojan://p\0w@${host(0)}:443`, "bad"],
    [`trojan://pw@${host(0)}:443#\ufffdn`, "config"],
    [`\0trojan://pw@${host(0)}:443`, "config"],
    [JSON.stringify({ servers: [{ ...sip008(0), password: "p\ufffd" }] }), "bad"],
    [JSON.stringify({ servers: [{ ...sip008(0), remarks: "p\ufffd" }] }), "config"],
    [`proxies:\n  - {name: "\u0007", type: trojan, server: ${host(0)}, port: 443, password: p}`, "config"],
    [`proxies:\n  - {name: n, type: trojan, server: ${host(0)}, port: 443, password: "p\u0007"}`, "bad"],
  ])("are never taken for a part of it: %j", (text, kind) => {
    expect([...entriesOf(text)].map((entry) => entry.kind)).toEqual([kind]);
  });
});

describe("entries on port 1", () => {
  it("are servers, and messages only where there is none", () => {
    expect(told(`trojan://pw@${host(0)}:1#a\ntrojan://pw@127.0.0.1:1#b\nvless://${UUID}@0.0.0.0:1#c`)).toEqual([
      [1, "config"],
      [2, "info"],
      [3, "info"],
    ]);
  });
});

describe("lists of millions of entries that cannot be read", () => {
  it.each([
    ["words", `[${"x,".repeat(2_000_000)}`],
    ["brackets", `{"outbounds":[${"{,".repeat(2_000_000)}`],
    ["arrays", `[${"[{],".repeat(1_200_000)}`],
    ["quotes", `[${'",'.repeat(2_000_000)}`],
    ["comments", `[${"/*".repeat(2_000_000)}`],
    ["commas", `{"outbounds":[${",".repeat(5_000_000)}`],
    ["padding", "YQ=".repeat(1_500_000)],
  ])("end, each entry by itself: %s", (_, text) => {
    let others = 0;
    try {
      for (const entry of entriesOf(text)) if (entry.kind !== "bad") others++;
    } catch (error) {
      expect(error).toBeInstanceOf(BodyError);
    }
    expect(others).toBe(0);
  });
});
