import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must } from "../../../testkit/must.ts";
import { assertProperty } from "../../../testkit/property.ts";
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { parserSuite, SECRET } from "../config.suite.ts";
import { parseOpenvpn, readConfig } from "./config.ts";
import { optionOf, parseProfile } from "./profile.ts";
import { unknownLines } from "./refusals.ts";

const ca = "<ca>\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n</ca>\n";
const cert = `${ca}<cert>\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n</cert>\n<key>\nnone\n</key>\n`;
const base = `client\ndev tun\nremote a.test-site.org 443 tcp-client\nremote b.test-site.org\nproto udp4\n# remote c.test-site.org\n${cert}`;
const blocks = `client\nport 7\nremote no.test-site.org 1\n<connection>\nremote x.test-site.org\nproto tcp\n</connection>\n <connection>\n  remote y.test-site.org 8\n </connection>\n${cert}`;

parserSuite("openvpn", {
  parse: parseOpenvpn,
  identity: "account",
  words: ["remote ", "<connection>", "</connection>", "auth-user-pass", "proto udp", "<ca>", "</ca>"],
  good: [
    [{ config: base }, "a.test-site.org 443", "b.test-site.org 1194"],
    [{ config: blocks }, "x.test-site.org 7", "y.test-site.org 8"],
    [{ config: base, host: "h.test-site.org" }, "h.test-site.org 443"],
    [{ config: base, host: "h.test-site.org", port: 9, proto: "udp" }, "h.test-site.org 9"],
    [{ config: base, port: 9 }, "a.test-site.org 9", "b.test-site.org 9"],
    [{ host: "h.test-site.org", username: "ada", password: "pw" }, "h.test-site.org 1194"],
    [
      {
        config: `client\n${cert}`,
        servers: [
          { host: "S1.test-site.org", port: 1, proto: "udp" },
          { host: "9.9.9.9", port: 2, proto: "tcp" },
        ],
      },
      "s1.test-site.org 1",
      "9.9.9.9 2",
    ],
    [
      { config: `${base}auth-user-pass\n`, username: "ada", password: "pw" },
      "a.test-site.org 443",
      "b.test-site.org 1194",
    ],
    [
      { config: `${base}<auth-user-pass>\nada\npw\n</auth-user-pass>\n` },
      "a.test-site.org 443",
      "b.test-site.org 1194",
    ],
    [
      { config: `${base.replace("remote a", '--remote "a')}`.replace("org 443", 'org" 443') },
      "a.test-site.org 443",
      "b.test-site.org 1194",
    ],
  ],
  bad: [
    [{}, "missing config"],
    [{ config: "client\ndev tun\n" }, "missing remote"],
    [{ config: "remote\n" }, "missing remote"],
    [{ config: `${base}auth-user-pass\n` }, "missing username"],
    [{ config: `${base}auth-user-pass\n`, username: "ada" }, "missing password"],
    [{ config: "remote h.test-site.org 1 sctp\n" }, "proto must be udp or tcp"],
    [{ config: "remote h.test-site.org 0\n" }, "the port of remote must be a number from 1 to 65535"],
    [{ config: "remote h.test-site.org\n<ca>\n" }, "config line 2: <ca> is not closed"],
    [{ config: `remote "h\n${SECRET}` }, "config line 1: a quotation is not closed"],
    [
      { config: "remote h.test-site.org\n" },
      "missing <ca>: without it, or a peer-fingerprint, the server cannot be trusted",
    ],
    [{ config: base.replace(/<key>[\s\S]*<\/key>\n/, "") }, "<cert> and <key> go together"],
    [{ config: base.replace(/<cert>[\s\S]*<\/cert>\n/, "") }, "<cert> and <key> go together"],
    [{ config: `${base}<tls-auth>\n${SECRET}\n</tls-auth>\n` }, "<tls-auth> is no OpenVPN static key of 2048 bits"],
    [
      { config: `${base}<tls-crypt-v2>\n${SECRET}\n</tls-crypt-v2>\n` },
      "<tls-crypt-v2> is no client key of tls-crypt-v2",
    ],
    [
      {
        config: `${blocks}<connection>\nremote z.test-site.org\n<tls-crypt>\n${SECRET}\n</tls-crypt>\n</connection>\n`,
      },
      "<tls-crypt> is no OpenVPN static key of 2048 bits",
    ],
    [
      { config: `${base}pull-filter reject\n` },
      "config line 20: pull-filter needs accept, ignore or reject, and one text",
    ],
    [{ config: "remote h.test-site.org 1 tcp-client4\n" }, "proto must be udp or tcp"],
    [{ config: `${base}data-ciphers BF-CBC\n` }, "data-ciphers has no cipher that is supported"],
    [
      {
        config: base.replace(
          "none",
          "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----",
        ),
      },
      "<key> is encrypted; a checker cannot be asked for its password",
    ],
    [{ config: `${base}http-proxy 10.0.0.1 80\n` }, "config line 20: http-proxy is not supported"],
    [{ config: `${base}scramble obfuscate ${SECRET}\n` }, "config line 20: scramble is not supported"],
    [{ config: `${base}dev tap0\n` }, "config line 20: dev tap is not supported, only tun"],
    [{ config: `${base}<secret>\n${SECRET}\n</secret>\n` }, "<secret> (static key mode) is not supported"],
    [{ config: `${base}ca /etc/${SECRET}\n` }, "config line 20: ca names a file; put its text between <ca> and </ca>"],
    [{ config: `${base}a\u0000${SECRET}\n` }, "config line 20 is not text"],
    [{ config: `${base}${"a".repeat(100_000)}\n` }, "config line 20 has more than 4096 characters"],
    [{ config: "#\n".repeat(50_000) }, "config has more than 5000 lines"],
    [{ config: `${base}${"x ".repeat(17)}\n` }, "config line 20 has too many parameters"],
    [
      { config: "<connection>\n<connection>\n</connection>\n</connection>\n" },
      "config line 2: <connection> is not closed",
    ],
    [
      {
        config: base,
        servers: Array.from({ length: 17 }, () => ({ host: "h.test-site.org", port: 1, proto: "udp" as const })),
      },
      "servers must have at most 16 entries",
    ],
  ],
});

describe("an OpenVPN profile", () => {
  it("is tried in the order of its remotes, each with its own protocol", () => {
    expect(readConfig({ config: base }).servers).toMatchObject([
      { host: "a.test-site.org", port: 443, proto: "tcp" },
      { host: "b.test-site.org", port: 1_194, proto: "udp" },
    ]);
  });

  it("has in each <connection> block what is outside of it, and over it its own", () => {
    const key = (text: string) => `<tls-auth>\n${text}\n</tls-auth>\n`;
    const block = `<connection>\nremote z.test-site.org\nfragment 9\n<tls-crypt>\nown\n</tls-crypt>\n</connection>\n`;
    const [first, second, third] = readConfig({ config: `${blocks}key-direction 1\n${key("common")}${block}` }).servers;
    expect([first, second, third].map((server) => [...(server?.scope.inline.keys() ?? [])])).toEqual([
      ["ca", "cert", "key", "tls-auth"],
      ["ca", "cert", "key", "tls-auth"],
      ["ca", "cert", "key", "tls-crypt"],
    ]);
    expect(optionOf(third?.scope.options ?? [], "fragment")).toEqual(["9"]);
    expect(optionOf(second?.scope.options ?? [], "fragment")).toBeUndefined();
    expect(optionOf(third?.scope.options ?? [], "key-direction")).toEqual(["1"]);
  });

  it("names the protocol and the family of its addresses in every way that openvpn knows", () => {
    const of = (...lines: readonly string[]) =>
      readConfig({ config: `client\n${lines.join("\n")}\n${cert}` }).servers.map(({ proto, family }) => [
        proto,
        family,
      ]);
    expect(of("remote a.test-site.org 1 tcp4-client", "remote a.test-site.org 1 tcp6")).toEqual([
      ["tcp", "ipv4"],
      ["tcp", "ipv6"],
    ]);
    expect(of("proto udp6", "remote a.test-site.org", "remote a.test-site.org 1 tcp-client")).toEqual([
      ["udp", "ipv6"],
      ["tcp", "both"],
    ]);
    expect(of("remote a.test-site.org 1 udp4", "remote a.test-site.org 1 tcp", "proto-force tcp")).toEqual([
      ["tcp", "both"],
    ]);
    expect(() => of("remote a.test-site.org 1 udp", "proto-force tcp")).toThrow("proto-force tcp leaves no remote");
  });

  it("gives a <connection> block the protocol and port that stand above it", () => {
    const block = "<connection>\nremote x.test-site.org\n</connection>\n";
    const config = `client\nport 7\n${block}port 8\nproto tcp\n${block}${cert}`;
    expect(readConfig({ config }).servers).toMatchObject([
      { port: 7, proto: "udp" },
      { port: 8, proto: "tcp" },
    ]);
  });

  it("means by `setenv opt` the option that is there, and minds no option that clients may not know", () => {
    const lines =
      "setenv opt proto tcp4\nsetenv opt block-outside-dns\nsetenv opt frobnicate 1\nignore-unknown-option gnarl\ngnarl 1\nsetenv opt\n";
    const { profile, servers } = readConfig({ config: `client\nremote a.test-site.org\n${lines}wrong\n${cert}` });
    expect(servers).toMatchObject([{ proto: "tcp", family: "ipv4" }]);
    expect(profile === null ? [] : unknownLines(profile)).toEqual([9]);
    const proxied = `client\nremote a.test-site.org\nsetenv opt http-proxy 10.0.0.1 80\n${cert}`;
    expect(() => readConfig({ config: proxied })).toThrow("config line 3: http-proxy is not supported");
  });

  it("has quotations, escapes and comments read as openvpn reads them", () => {
    const { options } = parseProfile(`setenv A "b c" 'd\\e' f\\ g ; h\n\n  ;x\n`);
    expect(options).toEqual([{ name: "setenv", parameters: ["A", "b c", "d\\e", "f g"], line: 1 }]);
    expect(optionOf(options, "setenv")?.[0]).toBe("A");
  });

  it("of any lines is a profile or a reason", () => {
    const word = fc.constantFrom(
      "<ca>",
      "</ca>",
      "remote",
      "x",
      '"',
      "'",
      "\\",
      "#",
      ";",
      "<connection>",
      "</connection>",
      " ",
      "--",
    );
    assertProperty(
      fc.property(fc.array(fc.array(word, { maxLength: 6 }), { maxLength: 8 }), (lines) => {
        try {
          parseProfile(lines.map((words) => words.join(" ")).join("\n"));
        } catch (error) {
          must(error instanceof TunnelConfigError, String(error));
        }
      }),
      { numRuns: 100_000, interruptAfterTimeLimit: 30_000 },
    );
  }, 60_000);
});
