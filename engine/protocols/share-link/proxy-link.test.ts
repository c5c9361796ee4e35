import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertProperty } from "../../../testkit/property.ts";
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { chooseEngines } from "../../cores/choice.ts";
import { base64, SECRET, UUID } from "../config.suite.ts";
import { mutations } from "../mutations.suite.ts";
import { KEY16, LINKS, PBK } from "./links.suite.ts";
import { isProxyScheme, parseProxyLink, schemeOf } from "./proxy-link.ts";
import { writeLink } from "./write-link.ts";

const at = (rest: string): string => `vless://${UUID}@p.test-site.org:443${rest}`;
const xhttp = (extra: unknown): string => at(`?type=xhttp&extra=${encodeURIComponent(JSON.stringify(extra))}`);

describe("links", () => {
  it.each([...LINKS])("of %s read the same after they were written", (_, link) => {
    const read = parseProxyLink(link);
    expect(read.name).toBe("n");
    expect(parseProxyLink(writeLink(read))).toEqual(read);
  });

  it.each(["/\\", "/a;b", "/a=b\\;", "/\\\\"])("keep a plugin's path %s whatever its marks", (path) => {
    const marked = encodeURIComponent(path.replace(/[\\;=]/g, "\\$&"));
    const link = `ss://${base64("aes-256-gcm:pw")}@p.test-site.org:8388/?plugin=v2ray-plugin%3Bpath%3D${marked}%3Bmux%3D4#n`;
    const read = parseProxyLink(link);
    expect(read.config.account).toMatchObject({ plugin: { path, mux: 4 } });
    expect(parseProxyLink(writeLink(read))).toEqual(read);
  });

  it.each([
    [at("?security=reality&sni=a.test-site.org"), "missing pbk"],
    [at("?security=reality&sni=a.test-site.org&pbk=abc"), "pbk must be 32 bytes in base64"],
    [at(`?security=reality&pbk=${PBK}&sid=abc`), "sid must be at most 8 bytes in hex"],
    [at(`?security=reality&pbk=${PBK}&type=kcp`), "type must be carried by TCP with REALITY"],
    [at("?security=xtls"), "security xtls no longer exists"],
    [at("?security=ssl"), "security must be one of none, tls, reality"],
    [at("?type=carrier"), "type must be a transport: tcp, ws, httpupgrade, grpc, xhttp, kcp, http, quic"],
    [at("?flow=xtls-rprx-direct"), "flow must be xtls-rprx-vision or xtls-rprx-vision-udp443"],
    [at("?encryption=aes"), "encryption must be none or mlkem768x25519plus with its keys"],
    [at("?security=tls&pcs=ab"), "pinSHA256 must be SHA-256 digests in hex"],
    [at("?security=tls&sni=a%0Ab"), "sni holds control characters"],
    [at("?security=tls&vcn=a%20b"), "vcn is neither a name nor an address"],
    [at("?security=tls&alpn=a%0Ab"), "alpn must be at most 8 protocol names"],
    [at("?security=tls&ech=https://x"), "ech must be an ECHConfigList in base64"],
    [at("?type=ws&path=%2Fa%0Db"), "path holds control characters"],
    [at("?type=ws&host=a%0Ab"), "host holds control characters"],
    [at("?type=grpc&authority=a%0Db"), "authority holds control characters"],
    [at("?type=kcp&headerType=x"), "headerType must be one of none, dns, dtls, srtp, utp, wechat-video, wireguard"],
    [at("?type=kcp&mtu=9"), "mtu must be a whole number from 576 to 1460"],
    [at("?type=xhttp&mode=x"), "mode must be one of auto, packet-up, stream-up, stream-one"],
    [at("?type=xhttp&extra=%5B%5D"), "extra must be a JSON object"],
    [xhttp({ xPaddingBytes: "0" }), "extra.xPaddingBytes must be at least 1"],
    [xhttp({ xPaddingBytes: "100-300000000" }), "extra.xPaddingBytes must be at most 65536"],
    [xhttp({ scMaxEachPostBytes: 1 }), "extra.scMaxEachPostBytes must be at least 256"],
    [xhttp({ uplinkChunkSize: "1-64" }), "extra.uplinkChunkSize must be at least 64"],
    [
      at(`?type=xhttp&extra=${encodeURIComponent('{"headers":{"Host":"x"}}')}`),
      "extra.headers has a header that cannot be set",
    ],
    [`ss://${base64("rot13:pw")}@p.test-site.org:1`, "method is a cipher that no core has"],
    [
      `ss://2022-blake3-aes-256-gcm:${encodeURIComponent(KEY16)}@p.test-site.org:1`,
      "the link's password must be one or more keys of 32 bytes in base64",
    ],
    [
      `ss://${base64("aes-256-gcm:pw")}@p.test-site.org:1?plugin=shadow-tls`,
      "plugin must be obfs-local or v2ray-plugin: others would be programs to run",
    ],
    ["hy2://pw@p.test-site.org:1?obfs=x", "obfs must be one of none, salamander, gecko"],
    ["hy2://pw@p.test-site.org:1?obfs=salamander", "obfs-password must be at least 4 bytes"],
    ["hy2://pw@p.test-site.org:1?security=reality", "security must be tls for hysteria2"],
    [
      `tuic://${UUID}:pw@p.test-site.org:1?congestion_control=x`,
      "congestion_control must be one of bbr, cubic, new_reno",
    ],
    ["tuic://no-uuid:pw@p.test-site.org:1", "the link's user id is not a UUID"],
    ["socks5://p.test-site.org:1", "the link begins with no scheme of a proxy protocol"],
  ])("refuse %s", (link, reason) => {
    expect(() => parseProxyLink(link)).toThrow(new TunnelConfigError(reason));
  });
});

it("reads what other clients export in their own ways", () => {
  const config = (link: string) => parseProxyLink(link).config;
  const ws = { type: "ws", path: "/w", host: "c.test-site.org" };
  const shadowrocket = `vless://${base64(`auto:${UUID}@p.test-site.org:443`)}?tls=1&peer=s.test-site.org&obfs=websocket&obfsParam=c.test-site.org&path=/w`;
  expect(config(shadowrocket)).toMatchObject({ transport: ws, security: { kind: "tls", sni: "s.test-site.org" } });
  const kitsunebi = `vmess://${base64(`aes-128-gcm:${UUID}@p.test-site.org:443`)}?obfs=websocket&obfsParam=${encodeURIComponent('{"Host":"c.test-site.org"}')}&path=/w&tls=1`;
  expect(config(kitsunebi)).toMatchObject({ transport: ws, account: { cipher: "aes-128-gcm" } });
  expect(config(`vmess://ws+tls:${UUID}-4@p.test-site.org:443/?host=c.test-site.org&path=/w`)).toMatchObject({
    transport: ws,
    account: { alterId: 4 },
    security: { kind: "tls", sni: "c.test-site.org" },
  });
  expect(config("trojan://pw@p.test-site.org:443?ws=1&wspath=/w&wsHost=c.test-site.org").transport).toMatchObject(ws);
  expect(config(at("?type=ws&path=/w?a=b%26ed=9&security=tls"))).toMatchObject({
    transport: { path: "/w?a=b", earlyDataBytes: 9, host: "p.test-site.org" },
    security: { sni: "p.test-site.org" },
  });
  // xray, common/uuid: an id that is no UUID is a UUID of version 5.
  expect(config("vless://example@p.test-site.org:443").account).toMatchObject({
    uuid: "feb54431-301b-52bb-a6dd-e1e93e81bb9e",
  });
});

/** As Python's urlencode and a browser's forms write a query. */
const formEncoded = (pairs: Readonly<Record<string, string>>): string => new URLSearchParams(pairs).toString();

it("reads `+` of a query as a blank, and as a letter in base64", () => {
  const config = (pairs: Readonly<Record<string, string>>) => parseProxyLink(at(`?${formEncoded(pairs)}`)).config;
  const extra = '{"xPaddingBytes": "100-1000", "noGRPCHeader": false, "headers": {"X-A": "1 + 1"}}';
  expect(config({ type: "xhttp", extra }).transport).toMatchObject({
    extra: { xPaddingBytes: "100-1000", noGRPCHeader: false, headers: { "X-A": "1 + 1" } },
  });
  expect(config({ security: "tls", alpn: "h3, h2, http/1.1" }).security).toMatchObject({
    alpn: ["h3", "h2", "http/1.1"],
  });
  expect(config({ type: "ws", path: "/a b+c" }).transport).toMatchObject({ path: "/a%20b+c" });
  // Bytes whose base64 has a plus at its beginning, within, and at its end, with the plus not encoded.
  const key = `+${"A".repeat(20)}+${"A".repeat(19)}+8`;
  const raw = parseProxyLink(at(`?security=reality&sni=a.test-site.org&pbk=${key}`)).config;
  expect(raw.security).toMatchObject({ publicKey: Buffer.from(key, "base64").toString("base64url") });
  expect(parseProxyLink(at("?security=tls&ech=AEX+DQ++")).config.security).toMatchObject({ ech: "AEX+DQ++" });
});

describe("what was misread once", () => {
  const config = (link: string) => parseProxyLink(link).config;
  const shadowsocks = (query: string): string => `ss://${base64("aes-256-gcm:pw")}@p.test-site.org:8388?${query}#n`;

  it.each(["\n", "\r\n", " ", ",", "\\n", ""])("two links with %j between them are not one", (between) => {
    const several = new TunnelConfigError("the text holds more than one link, and a monitor watches one");
    for (const [first, second] of [
      ["trojan://one@a.test-site.org:443", "trojan://two@b.test-site.org:443"],
      ["ss://one", `vmess://${UUID}@b.test-site.org:443`],
      [at(""), shadowsocks("uot=1")],
    ] as const) {
      expect(() => parseProxyLink(`${first}${between}${second}`)).toThrow(several);
      if (between !== "") expect(() => parseProxyLink(`${first}#name${between}${second}`)).toThrow(several);
    }
  });

  it("a name and a value may hold addresses", () => {
    expect(parseProxyLink(`${at("?type=ws&path=/wss://x")}#see https://test-site.org or t.me/ss`).name).toBe(
      "see https://test-site.org or t.me/ss",
    );
  });

  it.each([
    "plugin=obfs-local;obfs=websocket;obfs-host=c.test-site.org;obfs-uri=/w",
    "sni=s.test-site.org&plugin=obfs-local%3Bobfs%3Dwebsocket%3Bobfs-host%3Dc.test-site.org%3Bobfs-uri%3D%2Fw",
    "udp&ws&wspath=%2Fw&wsHost=c.test-site.org",
    "ws=true&wspath=/w&wsHost=c.test-site.org",
  ])("a Trojan link with %s is WebSocket", (query) => {
    expect(config(`trojan://pw@p.test-site.org:443?${query}`).transport).toMatchObject({
      type: "ws",
      host: "c.test-site.org",
      path: "/w",
    });
  });

  it("a Trojan link without them is TCP", () => {
    expect(config("trojan://pw@p.test-site.org:443?ws=0&tfo").transport).toMatchObject({ type: "raw" });
  });

  it("a plugin of Shadowsocks stays one, however it is written", () => {
    const plugin = {
      name: "v2ray-plugin",
      mode: "websocket",
      host: "c.test-site.org",
      path: "/w",
      hasTls: true,
      mux: 0,
    };
    const json = base64(JSON.stringify({ ...plugin, name: undefined, hasTls: undefined, tls: true, mux: false }));
    expect(config(shadowsocks(`v2ray-plugin=${json}`)).account).toMatchObject({ plugin });
    const same = base64(JSON.stringify({ mode: "websocket", address: "p.test-site.org", port: "8388" }));
    expect(config(shadowsocks(`v2ray-plugin=${same}`)).account).toMatchObject({ plugin: { hasTls: false, mux: 1 } });
    const raw = "plugin=obfs-local;obfs=tls;obfs-host=c.test-site.org";
    expect(config(shadowsocks(raw)).account).toMatchObject({ plugin: { mode: "tls", host: "c.test-site.org" } });
  });

  it.each([
    [shadowsocks(`shadow-tls=${base64("{}")}`), "shadow-tls is a layer that no core here has beneath Shadowsocks"],
    [shadowsocks(`gost=${base64("{}")}`), "gost is a layer that no core here has beneath Shadowsocks"],
    [shadowsocks("v2ray-plugin=e"), "v2ray-plugin is no JSON in base64"],
    [shadowsocks(`v2ray-plugin=${base64("[]")}`), "v2ray-plugin must be a JSON object"],
    [
      shadowsocks(`v2ray-plugin=${base64('{"address":"q.test-site.org"}')}`),
      "v2ray-plugin names another server than the link",
    ],
    [
      shadowsocks(`plugin=obfs-local&v2ray-plugin=${base64("{}")}`),
      "v2ray-plugin stands beside a plugin: only one of them can be meant",
    ],
    [shadowsocks("obfs=http"), "obfs must stand in plugin for Shadowsocks"],
    [
      "trojan://pw@p.test-site.org:443?plugin=obfs-local;obfs=http",
      "plugin must be obfs-local with obfs=websocket for Trojan",
    ],
    [at("?plugin=obfs-local"), "plugin is for Shadowsocks and Trojan only"],
    ["hy2://pw@p.test-site.org:443?plugin=obfs-local", "plugin is for Shadowsocks and Trojan only"],
  ])("a layer that cannot be had is named: %s", (link, reason) => {
    expect(() => parseProxyLink(link)).toThrow(new TunnelConfigError(reason));
  });

  it("a value is decoded twice only where it was encoded twice", () => {
    const ws = (path: string) => config(at(`?type=ws&path=${path}`)).transport;
    expect(ws("%2Fw%3Fto%3D%2526ed%253D9")).toMatchObject({ path: "/w?to=%26ed%3D9", earlyDataBytes: 0 });
    expect(ws("%252Fw%253Fed%253D9")).toMatchObject({ path: "/w", earlyDataBytes: 9 });
    expect(config("hy2://pw@p.test-site.org:443?obfs=salamander&obfs-password=a%2541").account).toMatchObject({
      obfs: { password: "a%41" },
    });
    const twice = encodeURIComponent(encodeURIComponent("h2,http/1.1"));
    expect(config(at(`?security=tls&alpn=${twice}`)).security).toMatchObject({ alpn: ["h2", "http/1.1"] });
  });

  it.each(["123", "0x10", "1.2.3", "10.20.30.256"])("the name %s is sent as a name", (name) => {
    expect(config(at(`?security=tls&sni=${name}`)).security).toMatchObject({ sni: name });
    expect(config(at(`?type=ws&host=${name}:80`)).transport).toMatchObject({ host: `${name}:80` });
  });
});

describe("what cores do not look at", () => {
  const read = (link: string) => parseProxyLink(link);
  const vmess = (more: object): string =>
    `vmess://${base64(JSON.stringify({ add: "p.test-site.org", port: 443, id: UUID, ...more }))}`;
  const odd = [
    "https://c.test-site.org/w",
    "/?join@them_them",
    `${"a".repeat(70)}.test`,
    "c.test-site.org:0",
    "头.站@x",
  ];

  it.each(odd)("as a name that is sent, %s, is kept as it stands, and told", (name) => {
    const value = encodeURIComponent(name);
    const told = (field: string) => [`${field} is no host name, and is sent as it stands`];
    for (const type of ["ws", "httpupgrade"]) {
      const link = read(at(`?type=${type}&security=tls&sni=s.test-site.org&host=${value}`));
      expect(link).toMatchObject({ config: { transport: { host: name } }, ignored: told("host") });
    }
    expect(() => read(at(`?type=xhttp&host=${value}`))).toThrow("host must be a name or an address over xhttp");
    expect(read(at(`?type=http&host=${value}`))).toMatchObject({ config: { transport: { hosts: [name] } } });
    expect(read(at(`?headerType=http&host=${value}`)).config.transport).toMatchObject({ header: { hosts: [name] } });
    const grpc = read(at(`?type=grpc&authority=${value}`));
    expect(grpc).toMatchObject({ config: { transport: { authority: name } }, ignored: told("authority") });
    const tls = read(at(`?security=tls&sni=${value}`));
    expect(tls).toMatchObject({ config: { security: { sni: name } }, ignored: told("sni") });
    expect(read(vmess({ net: "ws", host: name })).config.transport).toMatchObject({ host: name });
    expect(parseProxyLink(writeLink(tls)).config).toEqual(tls.config);
    const plugin = encodeURIComponent(`obfs-local;obfs=tls;obfs-host=${name}`);
    const obfs = read(`ss://${base64("aes-256-gcm:pw")}@p.test-site.org:8388?plugin=${plugin}`);
    expect(obfs).toMatchObject({ config: { account: { plugin: { host: name } } }, ignored: told("obfs-host") });
  });

  it("a Host that is no name is not taken for the name of TLS, nor the other way round", () => {
    expect(read(at("?type=ws&security=tls&host=%2F%3Fx")).config.security).toMatchObject({ sni: "p.test-site.org" });
    expect(read(at("?type=ws&security=tls&sni=%2F%3Fx")).config.transport).toMatchObject({ host: "p.test-site.org" });
  });

  it.each(["2048x", "x", "-1", "65537", "9".repeat(30), "2560security=tls", "1e3"])("%s is no early data", (ed) => {
    const ignored = ["ed is no number from 0 to 65536: no early data is sent"];
    const transport = { path: "/w", earlyDataBytes: 0 };
    expect(read(at(`?type=ws&path=/w&ed=${ed}`))).toMatchObject({ config: { transport }, ignored });
    expect(read(at(`?type=ws&path=/w?ed=${ed}`))).toMatchObject({ config: { transport }, ignored });
  });

  it.each(["ws", "httpupgrade", "grpc"])("alpn over %s may be anything", (type) => {
    const link = read(at(`?type=${type}&security=tls&alpn=${encodeURIComponent(`@us,${"x".repeat(40)}`)}`));
    expect(link).toMatchObject({
      config: { security: { alpn: [] } },
      ignored: ["alpn holds no protocol names, and is left out"],
    });
  });

  it("words that stand for nothing are taken for nothing", () => {
    expect(read(vmess({ net: "tcp", type: "auto" }))).toMatchObject({
      config: { transport: { type: "raw", header: null } },
      ignored: ["headerType is left out: tcp has none and http"],
    });
    expect(read(vmess({ net: "grpc", type: "auto" }))).toMatchObject({
      config: { transport: { isMulti: false } },
      ignored: ["mode is neither gun nor multi: gun is taken"],
    });
    for (const tls of [false, 0, "false", "", "none"]) expect(read(vmess({ tls })).config.security.kind).toBe("none");
    for (const tls of [true, 1, "true", "tls"]) expect(read(vmess({ tls })).config.security.kind).toBe("tls");
    expect(read(at("?type=ws&ed=9&eh=a%20b"))).toMatchObject({
      config: { transport: { earlyDataHeader: "Sec-WebSocket-Protocol" } },
      ignored: ["eh is no name of a header, and is left out"],
    });
  });

  it("a 2022 key may have spare bits, and no letters of the other alphabet", () => {
    const at2022 = (key: string): string => `ss://2022-blake3-aes-256-gcm:${encodeURIComponent(key)}@p.test-site.org:1`;
    const spare = `${"B".repeat(43)}=`;
    expect(read(at2022(spare)).config.account).toMatchObject({ password: spare });
    for (const key of [spare.slice(0, -1), `${"-".repeat(43)}=`, `${"B".repeat(42)}==`]) {
      expect(() => read(at2022(key))).toThrow(TunnelConfigError);
    }
  });

  it.each(["ws", "httpupgrade", "http"])("REALITY over %s is sing-box's", (type) => {
    const { config } = read(at(`?type=${type}&security=reality&sni=s.test-site.org&pbk=${PBK}`));
    expect(chooseEngines(config, null)).toEqual({ engines: ["singbox"], refusals: [expect.stringContaining("xray")] });
  });
});

describe("fm", () => {
  const hysteria = (fm: unknown, more = ""): string =>
    `hy2://pw@p.test-site.org:443?fm=${encodeURIComponent(JSON.stringify(fm))}${more}`;
  const salamander = (password?: string) => ({ udp: [{ type: "salamander", settings: { password } }] });
  const obfs = { type: "salamander", password: "salt", sizesBytes: null };

  it.each([
    [salamander("salt"), "&obfs=salamander&obfs-password=salt"],
    [salamander("salt"), ""],
    [salamander(), "&obfs=salamander&obfs-password=salt"],
    [
      { ...salamander("salt"), tcp: [], quicParams: { udpHop: { ports: "5000-6000", interval: 30 } } },
      "&mport=5000-6000",
    ],
  ])("%j may say what fields of its own say: %s", (fm, more) => {
    expect(parseProxyLink(hysteria(fm, more))).toMatchObject({ config: { account: { obfs } }, ignored: [] });
  });

  it("is left out where it decides only how fast QUIC is", () => {
    const ignored = ["quicParams of fm other than udpHop are left out"];
    expect(parseProxyLink(hysteria({ quicParams: { congestion: "bbr" } })).ignored).toEqual(ignored);
    expect(parseProxyLink(at(`?fm=${encodeURIComponent('{"quicParams":{"congestion":"bbr"}}')}`)).ignored).toEqual(
      ignored,
    );
  });

  const unknown = "fm has masks other than salamander and port hopping, which are not supported";
  it.each([
    [hysteria(salamander("salt"), "&obfs=salamander&obfs-password=other"), "fm says something else than obfs-password"],
    [hysteria(salamander("salt"), "&obfs=gecko&obfs-password=salt"), "fm says something else than obfs"],
    [hysteria({ quicParams: { udpHop: { ports: "1-2" } } }, "&mport=3-4"), "fm says something else than mport"],
    [hysteria({ quicParams: { udpHop: { ports: "1-2" } } }), "fm names ports to hop between that mport does not"],
    [hysteria({ udp: [{ type: "noise", settings: {} }] }), unknown],
    [hysteria({ udp: [{ type: "salamander", settings: { password: "salt", packetSize: "1-2" } }] }), unknown],
    [hysteria({ tcp: [{ type: "fragment" }] }), unknown],
    [
      at(`?fm=${encodeURIComponent(JSON.stringify(salamander("salt")))}`),
      "fm has masks that only hysteria2 can have here",
    ],
    [at("?fm=x"), "fm is not JSON"],
    [at("?fm=[]"), "fm must be a JSON object"],
    [hysteria({ udp: [1] }), "fm.udp must be a JSON object"],
  ])("is refused otherwise: %s", (link, reason) => {
    expect(() => parseProxyLink(link)).toThrow(new TunnelConfigError(reason));
  });
});

it("knows schemes", () => {
  expect(schemeOf(" VLESS://x")).toBe("vless");
  expect([isProxyScheme("hy2"), isProxyScheme("constructor"), schemeOf("no link")]).toEqual([true, false, undefined]);
});

/** Anything that no core may be handed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left
const HARMFUL = /[\u0000-\u001f\u007f]/;

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const WORDS = [
  ..."%0A %00 &amp; { } &type=ws &security=tls &sni= &host= &path= &extra= &plugin= &mport=1-2 é".split(" "),
  SECRET,
];

it("ends for any text in typed fields that write and read the same, or in a reason that repeats none of it", () => {
  const { cuts, edit } = mutations(WORDS, 8);
  const starts = fc.constantFrom(...LINKS.values());
  let tried = 0;
  let taken = 0;
  const property = fc.property(starts, cuts(3), (start, made) => {
    tried++;
    const text = edit(start, made);
    try {
      const read = parseProxyLink(text);
      taken++;
      if (textsIn(read.config).some((field) => HARMFUL.test(field)))
        throw new Error(`harmful: ${JSON.stringify(read)}`);
      const again = parseProxyLink(writeLink(read)).config;
      if (!isDeepStrictEqual(again, read.config)) expect(again).toEqual(read.config);
    } catch (error) {
      if (!(error instanceof TunnelConfigError)) throw error;
      if (error.message.length > 120 || error.message.includes(SECRET)) throw new Error(`tells: ${error.message}`);
    }
  });
  assertProperty(property, { numRuns: 100_000, interruptAfterTimeLimit: 30_000 });
  // On a machine that is busy with other things fewer are tried, and a part of them is taken all the same.
  expect(taken).toBeGreaterThan(tried / 10);
}, 120_000);
