import { networkInterfaces } from "node:os";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must, mustEqual } from "../../testkit/must.ts";
import { property } from "../../testkit/property.ts";
import { formatIpv4, formatIpv6, type Ipv6Words, parseCidr, parseIpv4, parseIpv6 } from "../net/ip.ts";
import { literalOf } from "../net/literal.ts";
import { KIND_WORDS } from "../net/special-addresses.ts";
import { addressSet } from "./address-set.ts";
import { parseAllowNet } from "./allow-nets.ts";
import { AllowNetError, createGuard, isDocumentationName } from "./guard.ts";
import { OwnBoard } from "./own-board.ts";

/** Inputs as many as are said or 20 s of them, whichever is less, on a machine that may be busy with other things. */
const BOUNDED = { interruptAfterTimeLimit: 20_000 };

const closed = createGuard({ allowNets: [], ownEndpoints: [] });

function kindOf(ip: string, port = 443, guard = closed): string {
  const judgement = guard.judge(ip, port);
  return judgement.allowed ? "allowed" : judgement.kind;
}

describe("addresses by registry", () => {
  it.each([
    ["0.0.0.0", "unspecified"],
    ["0.1.2.3", "unspecified"],
    ["10.0.0.0", "private"],
    ["10.255.255.255", "private"],
    ["100.64.0.1", "shared"],
    ["100.127.255.255", "shared"],
    ["100.100.100.200", "shared"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["168.63.129.16", "platform"],
    ["169.254.169.254", "link-local"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.0.0.192", "reserved"],
    ["192.0.2.1", "documentation"],
    ["192.88.99.1", "tunnelling"],
    ["192.168.1.1", "private"],
    ["198.18.0.1", "benchmarking"],
    ["198.19.255.255", "benchmarking"],
    ["198.51.100.7", "documentation"],
    ["203.0.113.9", "documentation"],
    ["224.0.0.1", "multicast"],
    ["233.252.0.5", "documentation"],
    ["239.255.255.250", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.254", "reserved"],
    ["255.255.255.255", "broadcast"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::7f00:1", "reserved"],
    ["::8.8.8.8", "reserved"],
    ["::ffff:127.0.0.1", "loopback"],
    ["::ffff:7f00:1", "loopback"],
    ["0:0:0:0:0:FFFF:0A00:0001", "private"],
    ["::ffff:192.0.2.1", "documentation"],
    ["::ffff:0:127.0.0.1", "tunnelling"],
    ["64:ff9b::127.0.0.1", "loopback"],
    ["64:ff9b::a9fe:a9fe", "link-local"],
    ["64:ff9b::c000:201", "documentation"],
    ["64:ff9b:1::8.8.8.8", "tunnelling"],
    ["64:ff9b:0:0:0:1::1", "reserved"],
    ["2002:7f00:1::1", "loopback"],
    ["2002:c0a8:101::", "private"],
    ["2002:c000:201::", "documentation"],
    ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "tunnelling"],
    ["2001:2::1", "benchmarking"],
    ["2001:10::1", "reserved"],
    ["2001:20::1", "reserved"],
    ["2001:1::1", "reserved"],
    ["2001:db8::1", "documentation"],
    ["2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"],
    ["3fff::1", "documentation"],
    ["3fff:fff::1", "documentation"],
    ["5f00::1", "reserved"],
    ["4000::1", "reserved"],
    ["100::1", "discard-only"],
    ["100:0:0:1::1", "reserved"],
    ["fc00::1", "private"],
    ["fd00:ec2::254", "private"],
    ["fe80::1", "link-local"],
    ["febf::1", "link-local"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
    ["ff0e::1", "multicast"],
    ["2a00:1450:4001:800::5efe:a00:1", "tunnelling"],
    ["2a00:1450:4001:800:200:5efe:7f00:1", "tunnelling"],
    ["fe80::1%eth0", "scoped"],
    ["2a00:1450::1%1", "scoped"],
    ["[::1]", "malformed"],
    ["localhost", "malformed"],
    ["127.1", "malformed"],
    ["0x7f.0.0.1", "malformed"],
    ["", "malformed"],
  ])("%s is %s", (ip, kind) => {
    expect(kindOf(ip)).toBe(kind);
  });

  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "168.63.129.17",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.31.196.1",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:4700:4700::1111",
    "2a00:1450:4001:800:200:5efe:808:808",
    "3ffe::1",
    "3fff:1000::1",
  ])("%s is an ordinary host", (ip) => {
    expect(kindOf(ip)).toBe("allowed");
  });

  it("says why in words", () => {
    expect(closed.judge("127.0.0.1", 80)).toEqual({
      allowed: false,
      kind: "loopback",
      reason: "127.0.0.1 is a loopback address",
    });
  });
});

describe("disguises of an address in a host", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1"],
    ["127.1", "127.0.0.1"],
    ["127.0.1", "127.0.0.1"],
    ["0x7f.1", "127.0.0.1"],
    ["0X7F.0.0.1", "127.0.0.1"],
    ["0x7f000001", "127.0.0.1"],
    ["2130706433", "127.0.0.1"],
    ["017700000001", "127.0.0.1"],
    ["0177.0.0.1", "127.0.0.1"],
    ["0177.0x0.0.01", "127.0.0.1"],
    ["0", "0.0.0.0"],
    ["0x", "0.0.0.0"],
    ["127.0.0.1.", "127.0.0.1"],
    [" 127.0.0.1 ", "127.0.0.1"],
    ["[127.0.0.1]", "127.0.0.1"],
    ["１２７.０.０.１", "127.0.0.1"],
    ["127。0。0。1", "127.0.0.1"],
    ["127．0｡0.1", "127.0.0.1"],
    ["①②⑦.0.0.1", "127.0.0.1"],
    ["𝟏𝟐𝟕.0.0.1", "127.0.0.1"],
    ["12\u00ad7.0.0.1", "127.0.0.1"],
    ["127\u200b.0.0.1", "127.0.0.1"],
    ["127.0.0.1\u2060", "127.0.0.1"],
    ["%31%32%37.0.0.1", "127.0.0.1"],
    ["%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1", "127.0.0.1"],
    ["%3a%3a1", "::1"],
    ["[::1]", "::1"],
    ["::1", "::1"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["［：：１］", "::1"],
    ["[::ffff:7f00:1]", "127.0.0.1"],
    ["::ffff:127.0.0.1", "127.0.0.1"],
    ["0000:0000:0000:0000:0000:ffff:7f00:0001", "127.0.0.1"],
    ["[FE80::1%25eth0]", "fe80::1"],
    ["134744072", "8.8.8.8"],
  ])("%s means %s", (host, ip) => {
    expect(literalOf(host)?.ip).toBe(ip);
    const expected = literalOf(host)?.hasZone === true ? false : closed.judge(ip, 443).allowed;
    expect(closed.judgeLiteral(host, 443)?.allowed).toBe(expected);
  });

  it.each(["localhost", "LocalHost.", "a.b.localhost", "ｌｏｃａｌｈｏｓｔ"])("%s is this machine", (host) => {
    expect(closed.judgeLiteral(host, 443)).toMatchObject({ allowed: false, kind: "loopback" });
  });

  it("a zone is refused whatever the address", () => {
    const open = createGuard({ allowNets: ["::/0", "0.0.0.0/0"], ownEndpoints: [] });
    expect(open.judgeLiteral("fe80::1%eth0", 443)).toMatchObject({ allowed: false, kind: "scoped" });
    expect(open.judge("fe80::1%eth0", 443)).toMatchObject({ allowed: false, kind: "scoped" });
    expect(open.judgeLiteral("fe80::1", 443)).toEqual({ allowed: true });
  });

  it.each([
    "sonde.dev",
    "127.0.0.1.nip.io",
    "256.0.0.1",
    "1.2.3.4.5",
    "1..2",
    ".",
    "",
    "0x7g.1",
    "08.8.8.8",
    "4294967296",
    "127.0.0.256",
    "dead::beef::1",
    "::g",
    "12345::",
    "1:2:3:4:5:6:7:8:9",
    "-1",
    "1e3",
    "127.0.0.1/8",
    "%",
    "%zz",
  ])("%s is not an address", (host) => {
    expect(literalOf(host)).toBeUndefined();
    expect(closed.judgeLiteral(host, 443)).toBeUndefined();
  });
});

describe("documentation", () => {
  it.each([
    "example.com",
    "EXAMPLE.NET",
    "www.example.org.",
    "a.example",
    "example",
    "ｅｘａｍｐｌｅ.com",
    "example。com",
    " a.b.example.com ",
  ])("%s is reserved for it", (host) => {
    expect(isDocumentationName(host)).toBe(true);
  });

  it.each(["example.de", "myexample.com", "example.com.de", "a.test", "a.invalid", "localhost", "", "."])(
    "%s is not",
    (host) => {
      expect(isDocumentationName(host)).toBe(false);
    },
  );

  it("addresses stay refused whatever the settings say", () => {
    const open = createGuard({ allowNets: ["0.0.0.0/0", "::/0", "192.0.2.0/24"], ownEndpoints: [] });
    for (const ip of [
      "192.0.2.1",
      "198.51.100.1",
      "203.0.113.1",
      "233.252.0.1",
      "2001:db8::1",
      "3fff::1",
      "::ffff:192.0.2.1",
      "64:ff9b::192.0.2.1",
    ]) {
      expect(kindOf(ip, 443, open)).toBe("documentation");
    }
    for (const ip of ["0.0.0.0", "::", "::ffff:0.0.0.0"]) expect(kindOf(ip, 443, open)).toBe("unspecified");
    for (const ip of ["10.1.2.3", "fe80::1", "fc00::1", "::ffff:10.1.2.3", "224.0.0.1"]) {
      expect(kindOf(ip, 443, open)).toBe("allowed");
    }
  });
});

describe("SONDE_ALLOW_NETS", () => {
  it.each([
    ["10.0.0.0/8", "10.0.0.0/8 0-65535"],
    ["10.1.2.3", "10.1.2.3/32 0-65535"],
    ["127.0.0.1:8080", "127.0.0.1/32 8080-8080"],
    ["127.0.0.0/8:8000-8100", "127.0.0.0/8 8000-8100"],
    ["127.0.0.1/32:0", "127.0.0.1/32 0-0"],
    [" ::1 ", "::1/128 0-65535"],
    ["[::1]:53", "::1/128 53-53"],
    ["[::1]", "::1/128 0-65535"],
    ["fc00::/7", "fc00::/7 0-65535"],
    ["fc00::/7:443", "fc00::/7 443-443"],
    ["[fc00::/7]:443-444", "fc00::/7 443-444"],
    ["[fc00::]/7:443", "fc00::/7 443-443"],
    ["::ffff:10.0.0.0/104", "10.0.0.0/8 0-65535"],
  ])("reads %s", (entry, expected) => {
    const { range, firstPort, lastPort } = parseAllowNet(entry);
    const address = range.family === 4 ? formatIpv4(range.words[0]) : formatIpv6(range.words);
    expect(`${address}/${range.bits} ${firstPort}-${lastPort}`).toBe(expected);
  });

  it.each([
    "",
    "lan",
    "10.0.0.0/33",
    "10.0.0.1/8",
    "10.0.0/8",
    "0x0a.0.0.0/8",
    "10.0.0.0/8:",
    "10.0.0.0/8:http",
    "10.0.0.0/8:0-70000",
    "10.0.0.0/8:9-8",
    "fc00::1/7",
    "[10.0.0.1]:80",
    "[::1",
    "::1]:80",
    "fe80::1%eth0",
    "::/129",
    "10.0.0.0/8/8",
    "10.0.0.0/08",
  ])("refuses %j by name", (entry) => {
    expect(() => createGuard({ allowNets: [entry], ownEndpoints: [] })).toThrow(AllowNetError);
    expect(() => parseAllowNet(entry)).toThrow(`"${entry}"`);
  });

  it("opens ports, not only networks", () => {
    const guard = createGuard({ allowNets: ["127.0.0.0/8:8000-8001", "[::1]:53", "192.168.0.0/16"], ownEndpoints: [] });
    expect(kindOf("127.0.0.1", 8000, guard)).toBe("allowed");
    expect(kindOf("::ffff:127.0.0.1", 8001, guard)).toBe("allowed");
    expect(kindOf("127.0.0.1", 8002, guard)).toBe("loopback");
    expect(kindOf("127.0.0.1", 0, guard)).toBe("loopback");
    expect(kindOf("::1", 53, guard)).toBe("allowed");
    expect(kindOf("::1", 54, guard)).toBe("loopback");
    expect(kindOf("192.168.3.4", 0, guard)).toBe("allowed");
    // a translator's private network is not ours
    expect(kindOf("64:ff9b::192.168.3.4", 80, guard)).toBe("private");
  });
});

describe("own endpoints", () => {
  const allowNets = ["0.0.0.0/0", "::/0", "127.0.0.0/8", "::1"];

  it("stay refused whatever the settings say, in every spelling", () => {
    const guard = createGuard({ allowNets, ownEndpoints: ["127.0.0.1:8080", "[::1]:9000", "localhost:5432"] });
    for (const ip of ["127.0.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1", "64:ff9b::127.0.0.1"])
      expect(kindOf(ip, 8080, guard)).toBe("own");
    expect(kindOf("127.0.0.1", 8081, guard)).toBe("allowed");
    // Which address its socket is bound to may change, and a forwarded port leads to it.
    expect(kindOf("127.0.0.2", 8080, guard)).toBe("own");
    expect(kindOf("0:0:0:0:0:0:0:1", 9000, guard)).toBe("own");
    expect(kindOf("127.0.0.1", 5432, guard)).toBe("own");
    expect(kindOf("::1", 5432, guard)).toBe("own");
    expect(kindOf("0.0.0.0", 8080, guard)).toBe("unspecified");
    expect(guard.judgeLiteral("0x7f.1", 8080)).toMatchObject({
      kind: "own",
      reason: "127.0.0.1 port 8080 is Sonde's own",
    });
  });

  it.each(["0.0.0.0:8080", "[::]:8080", ":::8080"])("%s is every address of this machine", (endpoint) => {
    const localAddresses = () => addressSet(["192.168.7.7", "2a00:1450::7", "::1"]);
    const guard = createGuard({ allowNets, ownEndpoints: [endpoint], localAddresses });
    for (const ip of ["127.0.0.1", "127.9.9.9", "::1", "192.168.7.7", "2A00:1450:0::7", "::ffff:192.168.7.7"]) {
      expect(kindOf(ip, 8080, guard)).toBe("own");
      expect(kindOf(ip, 8081, guard)).toBe(/^(127|::1)/.test(ip) ? "allowed" : "this-machine");
    }
    expect(kindOf("192.168.7.8", 8080, guard)).toBe("allowed");
  });

  it("asks the system for this machine's addresses by default", () => {
    const guard = createGuard({ allowNets, ownEndpoints: ["0.0.0.0:8080"] });
    const mine = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
    for (const ip of mine) expect(kindOf(ip.split("%")[0] ?? "", 8080, guard)).toBe("own");
  });

  it("a wrong entry is named", () => {
    expect(() => createGuard({ allowNets: [], ownEndpoints: ["db.internal:5432"] })).toThrow('"db.internal:5432"');
    expect(() => createGuard({ allowNets: [], ownEndpoints: ["127.0.0.1"] })).toThrow('"127.0.0.1"');
  });
});

/** The slow obvious model: 128-bit integers and a list of prefixes, first match wins. */
const V4_MODEL: readonly (readonly [string, string])[] = [
  ["0.0.0.0/8", "unspecified"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "shared"],
  ["127.0.0.0/8", "loopback"],
  ["168.63.129.16/32", "platform"],
  ["169.254.0.0/16", "link-local"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "reserved"],
  ["192.0.2.0/24", "documentation"],
  ["192.88.99.0/24", "tunnelling"],
  ["192.168.0.0/16", "private"],
  ["198.18.0.0/15", "benchmarking"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["233.252.0.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["255.255.255.255/32", "broadcast"],
  ["240.0.0.0/4", "reserved"],
];

function bigOf(dotted: string): bigint {
  return dotted.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function modelIpv4(address: bigint): string {
  for (const [prefix, kind] of V4_MODEL) {
    const [base = "", bits] = prefix.split("/");
    const shift = 32n - BigInt(bits ?? 32);
    if (address >> shift === bigOf(base) >> shift) return kind;
  }
  return "allowed";
}

function modelIpv6(address: bigint): string {
  const top = (bits: bigint) => address >> (128n - bits);
  if (top(96n) === 0xffffn) return modelIpv4(address & 0xffff_ffffn);
  if (top(96n) === 0x64_ff9bn << 64n) return modelIpv4(address & 0xffff_ffffn);
  if (top(16n) === 0x2002n) return modelIpv4((address >> 80n) & 0xffff_ffffn);
  if (address === 0n) return "unspecified";
  if (address === 1n) return "loopback";
  if (top(96n) === 0xffff_0000n) return "tunnelling";
  if (top(48n) === 0x64_ff9b_0001n) return "tunnelling";
  if (top(64n) === 0x0100n << 48n) return "discard-only";
  if (top(32n) === 0x2001_0000n) return "tunnelling";
  if (top(48n) === 0x2001_0002_0000n) return "benchmarking";
  if (top(32n) === 0x2001_0db8n || top(20n) === 0x3fff0n) return "documentation";
  if (top(23n) === 0x2001_0000n >> 9n) return "reserved";
  if (top(7n) === 0xfc00n >> 9n) return "private";
  if (top(10n) === 0xfe80n >> 6n) return "link-local";
  if (top(10n) === 0xfec0n >> 6n) return "site-local";
  if (top(8n) === 0xffn) return "multicast";
  if (top(3n) !== 1n) return "reserved";
  const isatap = (address >> 32n) & 0xfdff_ffffn;
  return isatap === 0x5efen && modelIpv4(address & 0xffff_ffffn) !== "allowed" ? "tunnelling" : "allowed";
}

/** Near the edges of the registry's prefixes as often as anywhere. */
const ipv4Near = fc.oneof(
  fc.bigInt(0n, 0xffff_ffffn),
  fc.tuple(fc.constantFrom(...V4_MODEL), fc.bigInt(-2n, 2n), fc.boolean()).map(([[prefix], offset, atEnd]) => {
    const [base = "", bits = "32"] = prefix.split("/");
    const size = atEnd ? 1n << (32n - BigInt(bits)) : 0n;
    return BigInt.asUintN(32, bigOf(base) + size + offset);
  }),
);
const V6_STARTS = [
  0n,
  1n,
  0xffffn << 32n,
  0xffff_0000n << 32n,
  0x64_ff9bn << 96n,
  0x64_ff9b_0001n << 80n,
  0x0100n << 112n,
  0x2001n << 112n,
  0x2001_0002n << 96n,
  0x2001_0db8n << 96n,
  0x2001_0200n << 96n,
  0x2002n << 112n,
  0x3fffn << 112n,
  0x3fff_1000n << 96n,
  0x4000n << 112n,
  0xfc00n << 112n,
  0xfe00n << 112n,
  0xfe80n << 112n,
  0xfec0n << 112n,
  0xff00n << 112n,
  0x2a00_1450n << 96n,
];
const ipv6Near = fc.oneof(
  fc.bigInt(0n, (1n << 128n) - 1n),
  fc.tuple(fc.constantFrom(...V6_STARTS), ipv4Near).map(([start, low]) => start + low),
  fc
    .tuple(fc.constantFrom(...V6_STARTS), fc.bigInt(-3n, 3n))
    .map(([start, offset]) => BigInt.asUintN(128, start + offset)),
  ipv4Near.map((inner) => (0x2002n << 112n) + (inner << 80n)),
  fc
    .tuple(ipv4Near, fc.boolean())
    .map(([inner, bit]) => (0x2a00_1450n << 96n) + ((bit ? 0x0200_5efen : 0x5efen) << 32n) + inner),
);

function wordsOf(address: bigint): Ipv6Words {
  const word = (index: bigint) => Number((address >> (96n - 32n * index)) & 0xffff_ffffn);
  return [word(0n), word(1n), word(2n), word(3n)];
}

describe("against a slow obvious model", () => {
  property([ipv4Near], { ...BOUNDED, numRuns: 100_000 })("IPv4", (address) => {
    const text = formatIpv4(Number(address));
    mustEqual([bigOf(text), kindOf(text)], [address, modelIpv4(address)]);
  });

  property([ipv6Near], { ...BOUNDED, numRuns: 100_000 })("IPv6, in three spellings", (address) => {
    const expected = modelIpv6(address);
    const groups = Array.from({ length: 8 }, (_, index) =>
      ((address >> BigInt(112 - 16 * index)) & 0xffffn).toString(16),
    );
    const short = formatIpv6(wordsOf(address));
    const mixed = `${groups.slice(0, 6).join(":")}:${formatIpv4(Number(address & 0xffff_ffffn))}`;
    for (const text of [short, groups.join(":").toUpperCase(), mixed]) {
      mustEqual([text, kindOf(text)], [text, expected]);
    }
  });

  property([fc.bigInt(0n, 0xffff_ffffn), fc.integer({ min: 0, max: 32 }), fc.bigInt(0n, 0xffff_ffffn)], {
    ...BOUNDED,
    numRuns: 100_000,
  })("prefixes that the operator opens", (base, bits, address) => {
    const shift = 32n - BigInt(bits);
    const network = formatIpv4(Number((base >> shift) << shift));
    const guard = createGuard({ allowNets: [`${network}/${bits}`], ownEndpoints: [] });
    const model = modelIpv4(address);
    const never = model === "documentation" || model === "unspecified" || (model === "loopback" && bits < 8);
    const isOpened = address >> shift === base >> shift && !never;
    mustEqual(kindOf(formatIpv4(Number(address)), 80, guard), isOpened ? "allowed" : model);
  });

  property(
    [
      fc.oneof(
        fc.string({ maxLength: 40 }),
        fc.string({ unit: fc.constantFrom(..."0123456789abcdefx:.%[]/-１。"), maxLength: 30 }),
      ),
    ],
    { ...BOUNDED, numRuns: 100_000 },
  )("no text crashes a parser, and what is not strict is not dialled", (text) => {
    const literal = literalOf(text);
    must(literal === undefined || kindOf(literal.ip) !== "malformed", "a literal that cannot be dialled");
    const isStrict = parseIpv4(text) >= 0 || parseIpv6(text) !== undefined;
    must(isStrict || /^(malformed|scoped)$/.test(kindOf(text)), "what is not strict is dialled");
    isDocumentationName(text);
    parseCidr(text);
    try {
      parseAllowNet(text);
    } catch (error) {
      must(error instanceof AllowNetError, String(error));
    }
  });

  it("every kind has its words", () => {
    expect(Object.values(KIND_WORDS).every((words) => /^an? /.test(words))).toBe(true);
  });
});

describe("addresses of this machine", () => {
  const LOCAL = ["10.0.0.5", "8.8.4.4", "2a00:1450::7", "fe80::7", "198.18.5.0/24", "5.5.5.0/24", "2a00:99::/64"];
  const guardOf = (allowNets: readonly string[], ownEndpoints: readonly string[] = []) =>
    createGuard({ allowNets, ownEndpoints, localAddresses: () => addressSet(LOCAL) });

  it.each([
    ["8.8.4.4", "this-machine"],
    ["::ffff:8.8.4.4", "this-machine"],
    ["64:ff9b::8.8.4.4", "this-machine"],
    ["2002:808:404::1", "this-machine"],
    ["2a00:1450::7", "this-machine"],
    ["5.5.5.77", "this-machine"],
    ["2a00:99::1234", "this-machine"],
    ["2a01::5efe:8.8.4.4", "this-machine"],
    ["2a01::200:5efe:808:404", "this-machine"],
    ["8.8.4.5", "allowed"],
    ["2a00:1450::8", "allowed"],
    ["64:ff9b::8.8.4.5", "allowed"],
    ["2a01::5efe:8.8.4.5", "allowed"],
    // What they are besides is said first.
    ["10.0.0.5", "private"],
    ["fe80::7", "link-local"],
    ["198.18.5.9", "benchmarking"],
    ["127.0.0.1", "loopback"],
  ])("%s is %s while nothing is opened", (ip, kind) => {
    expect([kindOf(ip, 443, guardOf([])), kindOf(ip, 0, guardOf([]))]).toEqual([kind, kind]);
  });

  it.each([
    [["10.0.0.0/8"], "10.0.0.5", "this-machine"],
    [["10.0.0.4/31"], "10.0.0.5", "this-machine"],
    [["0.0.0.0/0"], "8.8.4.4", "this-machine"],
    [["0.0.0.0/0"], "127.0.0.1", "loopback"],
    [["126.0.0.0/7"], "127.0.0.1", "loopback"],
    [["::/0"], "::1", "loopback"],
    [["::/0"], "2a00:1450::7", "this-machine"],
    [["::/0"], "fe80::7", "this-machine"],
    [["fe80::/10"], "fe80::7", "this-machine"],
    [["64:ff9b::/96"], "64:ff9b::10.0.0.5", "this-machine"],
    [["64:ff9b::/96"], "64:ff9b::127.0.0.1", "loopback"],
    [["2002::/16"], "2002:a00:5::1", "this-machine"],
    [["2001::/32"], "2001:0:808:404::1", "this-machine"],
    [["2001::/32"], "2001:0:909:909:0:0:f7f7:fbfb", "this-machine"],
    [["::/96"], "::8.8.4.4", "this-machine"],
    [["::ffff:0:0:0/96"], "::ffff:0:10.0.0.5", "this-machine"],
    [["64:ff9b:1::/48"], "64:ff9b:1:a00:0:500::", "this-machine"],
    [["64:ff9b:1::/48"], "64:ff9b:1:a:0:5::", "this-machine"],
    [["64:ff9b:1::/48"], "64:ff9b:1:0:a:0:500:0", "this-machine"],
    [["64:ff9b:1::/48"], "64:ff9b:1::10.0.0.5", "this-machine"],
    [["198.18.0.0/15"], "198.18.5.9", "this-machine"],
    [["10.0.0.0/8"], "10.0.0.6", "allowed"],
    [["64:ff9b:1::/48"], "64:ff9b:1::10.0.0.6", "allowed"],
    // By name.
    [["10.0.0.5"], "10.0.0.5", "allowed"],
    [["10.0.0.5/32:443"], "10.0.0.5", "allowed"],
    [["10.0.0.5:8443"], "10.0.0.5", "private"],
    [["8.8.4.4:443"], "8.8.4.4", "allowed"],
    [["8.8.4.4:444"], "8.8.4.4", "this-machine"],
    [["8.8.4.4:443"], "::ffff:8.8.4.4", "allowed"],
    [["8.8.4.4:443"], "64:ff9b::8.8.4.4", "this-machine"],
    [["[2a00:1450::7]:443"], "2a00:1450::7", "allowed"],
    [["fe80::7"], "fe80::7", "allowed"],
    [["127.0.0.0/8"], "127.9.9.9", "allowed"],
    [["127.0.0.0/24:443"], "127.0.0.9", "allowed"],
    [["::1"], "::1", "allowed"],
    [["198.18.5.0/24"], "198.18.5.9", "allowed"],
    [["5.5.5.0/25"], "5.5.5.77", "allowed"],
    [["5.5.4.0/23"], "5.5.5.77", "this-machine"],
    [["2a00:99::/64"], "2a00:99::1", "allowed"],
  ])("with %j open %s is %s", (allowNets, ip, kind) => {
    expect(kindOf(ip, 443, guardOf(allowNets))).toBe(kind);
  });

  it.each(["127.0.0.1:5432", "10.0.0.5:5432", "[2a00:1450::7]:5432", "0.0.0.0:5432", "localhost:5432", "5.5.5.9:5432"])(
    "a store at %s is had at all of them",
    (listeners) => {
      const guard = guardOf(["127.0.0.0/8", "::1", "10.0.0.5", "8.8.4.4", "2a00:1450::7", "5.5.5.0/24"], [listeners]);
      const all = ["127.0.0.1", "127.3.3.3", "::1", "10.0.0.5", "8.8.4.4", "::ffff:8.8.4.4", "2a00:1450::7", "5.5.5.1"];
      for (const ip of [...all, "64:ff9b::8.8.4.4", "2002:808:404::"])
        expect([ip, kindOf(ip, 5_432, guard)]).toEqual([ip, "own"]);
      expect(all.map((ip) => kindOf(ip, 5_433, guard))).toEqual(all.map(() => "allowed"));
      expect(kindOf("9.9.9.9", 5_432, guard)).toBe("allowed");
    },
  );

  it("a store elsewhere is had there alone", () => {
    const guard = guardOf(["10.0.0.0/8", "127.0.0.0/8"], ["10.0.0.9:5432"]);
    expect(kindOf("10.0.0.9", 5_432, guard)).toBe("own");
    expect(kindOf("64:ff9b::10.0.0.9", 5_432, guard)).toBe("own");
    expect([kindOf("10.0.0.8", 5_432, guard), kindOf("127.0.0.1", 5_432, guard)]).toEqual(["allowed", "allowed"]);
  });

  it("are those of this moment", () => {
    let now = addressSet([]);
    const guard = createGuard({ allowNets: ["10.0.0.0/8"], ownEndpoints: [], localAddresses: () => now });
    expect(kindOf("10.0.0.5", 443, guard)).toBe("allowed");
    now = addressSet(["10.0.0.5"]);
    expect(kindOf("10.0.0.5", 443, guard)).toBe("this-machine");
  });
});

describe("what listens on our behalf", () => {
  const board = new OwnBoard();
  const here = () => addressSet(["10.0.0.5"]);
  const guard = createGuard({
    allowNets: ["127.0.0.0/8", "10.0.0.0/8", "10.0.0.5"],
    ownEndpoints: ["127.0.0.1:8080"],
    ownBoard: board.memory,
    localAddresses: here,
  });

  it("is refused from its first moment to its last, at every address of this machine", () => {
    const seen = (port: number) => ["127.0.0.1", "10.0.0.5", "10.0.0.6"].map((ip) => kindOf(ip, port, guard));
    expect(seen(40_001)).toEqual(["allowed", "allowed", "allowed"]);
    board.openPort(40_001);
    expect(seen(40_001)).toEqual(["own", "own", "allowed"]);
    expect(guard.judgePorts("127.0.0.1", 39_000, 41_000)).toMatchObject({ kind: "own" });
    expect(guard.judgePorts("10.0.0.6", 39_000, 41_000)).toEqual({ allowed: true });
    // The next core has its port before the end of the last is known.
    board.openPort(40_001);
    board.closePort(40_001);
    expect(seen(40_001)).toEqual(["own", "own", "allowed"]);
    board.closePort(40_001);
    expect(seen(40_001)).toEqual(["allowed", "allowed", "allowed"]);
    expect(guard.judgePorts("127.0.0.1", 39_000, 41_000)).toEqual({ allowed: true });
  });

  it("follows a store that fails over to another address", () => {
    board.write(["10.0.0.7:5432"]);
    expect([kindOf("10.0.0.7", 5_432, guard), kindOf("10.0.0.8", 5_432, guard)]).toEqual(["own", "allowed"]);
    board.write(["10.0.0.7:5432", "10.0.0.8:5432"]);
    expect([kindOf("10.0.0.7", 5_432, guard), kindOf("10.0.0.8", 5_432, guard)]).toEqual(["own", "own"]);
    expect(guard.judgePorts("10.0.0.8", 5_000, 6_000)).toMatchObject({ kind: "own" });
    board.write([]);
    expect(kindOf("10.0.0.8", 5_432, guard)).toBe("allowed");
    // What was said at the start stays.
    expect(kindOf("127.0.0.1", 8_080, guard)).toBe("own");
  });
});

describe("ranges of ports", () => {
  it("are refused for any port inside, whatever their ends are", () => {
    const guard = createGuard({
      allowNets: ["127.0.0.1:5000", "127.0.0.1:5002-6000"],
      ownEndpoints: ["127.0.0.1:5500"],
    });
    const judge = (from: number, to: number) => guard.judgePorts("127.0.0.1", from, to);
    expect(judge(5_000, 5_002)).toMatchObject({ allowed: false, kind: "loopback" });
    expect(judge(5_400, 5_600)).toMatchObject({ allowed: false, kind: "own", reason: expect.stringContaining("5500") });
    expect([judge(5_000, 5_000), judge(5_002, 5_499), judge(5_501, 6_000)]).toEqual(Array(3).fill({ allowed: true }));
    expect(guard.judgePorts("9.9.9.9", 1, 65_535)).toEqual({ allowed: true });
  });

  const port = fc.integer({ min: 1, max: 40 });
  const range = fc.tuple(port, port).map(([one, other]) => [Math.min(one, other), Math.max(one, other)] as const);
  const address = fc.constantFrom("127.0.0.1", "127.0.0.2", "9.9.9.9", "::1", "::ffff:127.0.0.1");
  property([
    fc.array(fc.tuple(fc.constantFrom("127.0.0.1", "127.0.0.0/8", "[::1]"), range), { maxLength: 3 }),
    fc.array(port, { maxLength: 3 }),
    address,
    range,
  ])("are judged as each of their ports is", (opened, listeners, ip, [from, to]) => {
    const guard = createGuard({
      allowNets: opened.map(([net, [first, last]]) => `${net}:${first}-${last}`),
      ownEndpoints: listeners.map((each) => `127.0.0.1:${each}`),
    });
    const each = Array.from({ length: to - from + 1 }, (_, at) => guard.judge(ip, from + at));
    expect(guard.judgePorts(ip, from, to).allowed).toBe(each.every(({ allowed }) => allowed));
  });
});
