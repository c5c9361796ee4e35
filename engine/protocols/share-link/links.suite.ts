/** Links of every protocol, transport and security: what tests of the parser, the writer and the cores' mappings start from. */
import { base64, UUID } from "../config.suite.ts";

export const PBK = Buffer.alloc(32, 7).toString("base64url");
export const KEY16 = Buffer.alloc(16, 3).toString("base64");
const KEY32 = Buffer.alloc(32, 4).toString("base64");
const PIN = "ab".repeat(32);
const HOST = "p.test-site.org";
const query = (pairs: Readonly<Record<string, string>>): string =>
  new URLSearchParams(pairs).toString().replaceAll("+", "%20");
const vmess = (more: object): string =>
  `vmess://${base64(JSON.stringify({ v: "2", ps: "n", add: HOST, port: "443", id: UUID, aid: "0", scy: "auto", ...more }))}`;

export const CARRIERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tcp: { type: "tcp" },
  "tcp http": { type: "tcp", headerType: "http", host: "c.test-site.org", path: "/a" },
  ws: { type: "ws", path: "/w?ed=2560", host: "c.test-site.org" },
  httpupgrade: { type: "httpupgrade", path: "/up", host: "c.test-site.org" },
  grpc: { type: "grpc", serviceName: "svc", mode: "gun" },
  "grpc multi": { type: "grpc", serviceName: "svc", mode: "multi", authority: "c.test-site.org" },
  xhttp: {
    type: "xhttp",
    path: "/x",
    host: "c.test-site.org",
    mode: "packet-up",
    extra: '{"xPaddingBytes":"100-1000","xmux":{"maxConcurrency":"16-32"},"headers":{"X-A":"b"}}',
  },
  kcp: { type: "kcp", headerType: "wechat-video", seed: "s" },
  h2: { type: "http", path: "/h", host: "c.test-site.org" },
  quic: { type: "quic" },
};
export const SECURITIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  none: { security: "none" },
  tls: { security: "tls", sni: "s.test-site.org", fp: "chrome", alpn: "h2,http/1.1" },
  "tls insecure": { security: "tls", sni: "s.test-site.org", allowInsecure: "1" },
  "tls pinned": { security: "tls", sni: "s.test-site.org", pcs: PIN },
  reality: { security: "reality", sni: "s.test-site.org", pbk: PBK, sid: "ab12", fp: "firefox", spx: "/" },
};
const NO_REALITY = ["kcp", "quic"];

/** By a name that says what it is. */
export const LINKS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(CARRIERS).flatMap(([carrier, pairs]) =>
    Object.entries(SECURITIES)
      .filter(([security]) => security !== "reality" || !NO_REALITY.includes(carrier))
      .flatMap(([security, more]) => [
        [`vless ${carrier} ${security}`, `vless://${UUID}@${HOST}:443?${query({ ...pairs, ...more })}#n`] as const,
        [`trojan ${carrier} ${security}`, `trojan://pw@${HOST}:443?${query({ ...pairs, ...more })}#n`] as const,
        [`vmess ${carrier} ${security}`, `vmess://${UUID}@${HOST}:443?${query({ ...pairs, ...more })}#n`] as const,
      ]),
  ),
  [
    "vless vision reality",
    `vless://${UUID}@${HOST}:443?${query({ ...SECURITIES.reality, flow: "xtls-rprx-vision" })}#n`,
  ],
  ["vless vision tls", `vless://${UUID}@${HOST}:443?${query({ ...SECURITIES.tls, flow: "xtls-rprx-vision" })}#n`],
  ["vless ipv6", `vless://${UUID}@[2001:470::1]:443?security=tls#n`],
  ["vless encrypted", `vless://${UUID}@${HOST}:443?encryption=mlkem768x25519plus.native.0rtt.${PBK}&security=none#n`],
  ["vmess json ws", vmess({ net: "ws", path: "/p", host: "c.test-site.org", tls: "tls", sni: "s.test-site.org" })],
  ["vmess json grpc", vmess({ net: "grpc", path: "svc", type: "multi", tls: "tls" })],
  ["vmess json kcp", vmess({ net: "kcp", path: "seed", type: "wechat-video" })],
  ["vmess json old", vmess({ net: "tcp", aid: "64", scy: "aes-128-gcm" })],
  ["ss aead", `ss://${base64("aes-256-gcm:p:w")}@${HOST}:8388#n`],
  ["ss 2022", `ss://2022-blake3-aes-128-gcm:${encodeURIComponent(`${KEY16}:${KEY16}`)}@${HOST}:8388#n`],
  ["ss 2022 256", `ss://2022-blake3-aes-256-gcm:${encodeURIComponent(KEY32)}@${HOST}:8388#n`],
  [
    "ss obfs",
    `ss://${base64("aes-256-gcm:pw")}@${HOST}:8388/?plugin=obfs-local%3Bobfs%3Dtls%3Bobfs-host%3Dc.test-site.org#n`,
  ],
  [
    "ss v2ray",
    `ss://${base64("aes-256-gcm:pw")}@${HOST}:8388/?plugin=v2ray-plugin%3Btls%3Bhost%3Dc.test-site.org%3Bpath%3D%2Fx#n`,
  ],
  ["ss old", `ss://${base64("aes-256-cfb:pw")}@${HOST}:8388#n`],
  ["hysteria2", `hysteria2://us:pw@${HOST}:443?sni=s.test-site.org#n`],
  ["hysteria2 hops", `hy2://pw@${HOST}:443,5000-6000/?obfs=salamander&obfs-password=salt&insecure=1&hop-interval=30#n`],
  ["hysteria2 pinned", `hy2://pw@${HOST}:443?pinSHA256=${PIN}&obfs=gecko&obfs-password=salt#n`],
  ["tuic", `tuic://${UUID}:pw@${HOST}:443?congestion_control=bbr&udp_relay_mode=quic&alpn=h3&allow_insecure=1#n`],
]);
