/** What the lab's servers offer: every protocol × transport × security that each of the two programs has as a server. */
import type { Engine } from "../../model/subscription.ts";
import { type CertificateName, type Material, NAME, SECRETS } from "./proxy-material.ts";

type Json = Readonly<Record<string, unknown>>;

/** Where what comes in goes: to its target; nowhere, kept open; nowhere, closed; to a page of another server. */
export type Egress = "direct" | "held" | "blocked" | "refused" | "portal";

/** The lab's processes: one of each program, and a sing-box whose clock is an hour ahead. */
export const SERVERS = ["xray", "singbox", "ahead"] as const;
export type ServerName = (typeof SERVERS)[number];

export interface Inbound {
  /** Of the case that connects to it. */
  readonly name: string;
  readonly server: ServerName;
  readonly egress: Egress;
  /** Without tag and address. */
  readonly json: Json;
}

export interface Ports {
  readonly decoyTls: number;
  readonly decoyPage: number;
}

type Pairs = Readonly<Record<string, string>>;

interface Carrier {
  /** What a link says. */
  readonly query: Pairs;
  readonly xray: Json | null;
  readonly singbox: Json | null;
  readonly securities: readonly SecurityName[];
}

/** Carriers over which xray has no REALITY. */
const SING_BOX_REALITY: ReadonlySet<string> = new Set(["ws", "ws early", "httpupgrade", "h2"]);

/** What a server of that core offers over a carrier. */
export function securitiesOf(server: Engine, carrier: string): readonly SecurityName[] {
  const common = CARRIERS[carrier]?.securities ?? [];
  return server === "singbox" && SING_BOX_REALITY.has(carrier) ? [...common, "reality"] : common;
}

export type SecurityName = "none" | "tls" | "reality";
const EVERY: readonly SecurityName[] = ["none", "tls", "reality"];
const NO_REALITY: readonly SecurityName[] = ["none", "tls"];

const xhttp = (mode: string): Carrier => ({
  query: { type: "xhttp", path: "/x", host: NAME, mode },
  xray: { network: "xhttp", xhttpSettings: { path: "/x", mode: "auto" } },
  singbox: null,
  securities: EVERY,
});
const kcp = (header: string, seed: string): Carrier => {
  const cipher = seed === "" ? { type: "mkcp-original" } : { type: "mkcp-aes128gcm", settings: { password: seed } };
  const masks = header === "none" ? [cipher] : [{ type: `header-${header.replace("-video", "")}` }, cipher];
  const query = { type: "kcp", headerType: header, ...(seed !== "" && { seed }) };
  return { query, xray: { network: "kcp", finalmask: { udp: masks } }, singbox: null, securities: ["none"] };
};

export const CARRIERS: Readonly<Record<string, Carrier>> = {
  tcp: { query: { type: "tcp" }, xray: { network: "raw" }, singbox: {}, securities: EVERY },
  "tcp http": {
    query: { type: "tcp", headerType: "http", host: NAME, path: "/page" },
    xray: { network: "raw", rawSettings: { header: { type: "http", request: { path: ["/page"] } } } },
    singbox: { transport: { type: "http", path: "/page", host: [NAME] } },
    securities: ["none"],
  },
  ws: {
    query: { type: "ws", path: "/ws", host: NAME },
    xray: { network: "ws", wsSettings: { path: "/ws", host: NAME } },
    singbox: { transport: { type: "ws", path: "/ws", headers: { Host: NAME } } },
    securities: NO_REALITY,
  },
  "ws early": {
    query: { type: "ws", path: "/ws?ed=2048", host: NAME },
    xray: { network: "ws", wsSettings: { path: "/ws", host: NAME } },
    singbox: {
      transport: {
        type: "ws",
        path: "/ws",
        max_early_data: 2_048,
        early_data_header_name: "Sec-WebSocket-Protocol",
      },
    },
    securities: NO_REALITY,
  },
  httpupgrade: {
    query: { type: "httpupgrade", path: "/up", host: NAME },
    xray: { network: "httpupgrade", httpupgradeSettings: { path: "/up", host: NAME } },
    singbox: { transport: { type: "httpupgrade", path: "/up", host: NAME } },
    securities: NO_REALITY,
  },
  grpc: {
    query: { type: "grpc", serviceName: "svc", mode: "gun" },
    xray: { network: "grpc", grpcSettings: { serviceName: "svc" } },
    singbox: { transport: { type: "grpc", service_name: "svc" } },
    securities: EVERY,
  },
  "grpc multi": {
    query: { type: "grpc", serviceName: "svc", mode: "multi" },
    xray: { network: "grpc", grpcSettings: { serviceName: "svc", multiMode: true } },
    singbox: null,
    securities: EVERY,
  },
  "xhttp auto": xhttp("auto"),
  "xhttp packet-up": xhttp("packet-up"),
  "xhttp stream-up": xhttp("stream-up"),
  "xhttp stream-one": xhttp("stream-one"),
  kcp: kcp("none", ""),
  "kcp seed": kcp("none", "lab-seed"),
  "kcp wechat seed": kcp("wechat-video", "lab-seed"),
  h2: {
    query: { type: "http", path: "/h", host: NAME },
    xray: null,
    singbox: { transport: { type: "http", path: "/h", host: [NAME] } },
    securities: ["tls"],
  },
  quic: {
    query: { type: "quic" },
    xray: null,
    singbox: { transport: { type: "quic" } },
    securities: ["tls"],
  },
};

export const CARRIED = ["vless", "vmess", "trojan"] as const;
export type Carried = (typeof CARRIED)[number];

/** All that is offered. */
export function inboundsOf(material: Material, ports: Ports): readonly Inbound[] {
  return [
    ...carriedInbounds(material, ports),
    ...ownInbounds(material),
    ...visionInbounds(material, ports),
    ...faultyInbounds(material, ports),
  ];
}

function carriedInbounds(material: Material, ports: Ports): readonly Inbound[] {
  const engines = ["xray", "singbox"] as const;
  return engines.flatMap((server) =>
    Object.entries(CARRIERS).flatMap(([carrier, { [server]: form }]) =>
      form === null
        ? []
        : CARRIED.flatMap((protocol) =>
            securitiesOf(server, carrier).map((security) =>
              direct(`${protocol} ${carrier} ${security} @${server}`, server, {
                ...userPart(server, protocol),
                ...joined(server, form, securityPart(server, security, material, ports)),
              }),
            ),
          ),
    ),
  );
}

function direct(name: string, server: ServerName, json: Json): Inbound {
  return { name, server, egress: "direct", json };
}

/** xray keeps carrier and security in one member. */
function joined(server: Engine, form: Json, security: Json): Json {
  return server === "xray" ? { streamSettings: { ...form, ...security } } : { ...form, ...security };
}

function userPart(server: Engine, protocol: Carried, more: Json = {}): Json {
  const user = protocol === "trojan" ? { password: SECRETS.trojan } : undefined;
  if (server === "singbox") return { type: protocol, users: [user ?? { uuid: SECRETS[protocol as "vless"] }] };
  const clients = [user ?? { id: SECRETS[protocol as "vless"] }];
  return { protocol, settings: { clients, ...(protocol === "vless" && { decryption: "none" }), ...more } };
}

function tlsPart(server: Engine, material: Material, name: CertificateName = "good", alpn?: string[]): Json {
  const pair = material.certificate(name);
  if (server === "xray") {
    return { security: "tls", tlsSettings: { certificates: [pair], ...(alpn !== undefined && { alpn }) } };
  }
  return { tls: { enabled: true, server_name: NAME, ...pair, ...(alpn !== undefined && { alpn }) } };
}

function securityPart(server: Engine, security: SecurityName, material: Material, { decoyTls }: Ports): Json {
  if (security === "none") return {};
  if (security === "tls") return tlsPart(server, material);
  const { privateKey } = material.reality;
  if (server === "xray") {
    const target = `127.0.0.1:${decoyTls}`;
    const realitySettings = { target, serverNames: [NAME], privateKey, shortIds: [SECRETS.shortId] };
    return { security: "reality", realitySettings };
  }
  const handshake = { server: "127.0.0.1", server_port: decoyTls };
  const reality = { enabled: true, handshake, private_key: privateKey, short_id: [SECRETS.shortId] };
  return { tls: { enabled: true, server_name: NAME, reality } };
}

/** How VLESS's own encryption looks on the wire. */
export const VLESS_LOOKS = ["native", "xorpub", "random"] as const;

/** Carriers of servers that take everything and carry nothing. */
export const HELD: readonly (readonly [protocol: Carried, carrier: string, security: SecurityName])[] = [
  ["vless", "tcp", "tls"],
  ["vless", "tcp", "reality"],
  ["vless", "ws", "none"],
  ["vless", "ws", "tls"],
  ["vless", "ws early", "tls"],
  ["vless", "httpupgrade", "tls"],
  ["vless", "grpc", "tls"],
  ["vless", "grpc", "reality"],
  ["vless", "xhttp auto", "tls"],
  ["vless", "kcp", "none"],
  ["vless", "h2", "tls"],
  ["vless", "quic", "tls"],
  ["vmess", "tcp", "tls"],
  ["vmess", "ws", "tls"],
  ["trojan", "tcp", "tls"],
  ["trojan", "ws", "tls"],
];

export const AEAD_METHODS = [
  "aes-128-gcm",
  "aes-256-gcm",
  "chacha20-ietf-poly1305",
  "xchacha20-ietf-poly1305",
] as const;

function visionInbounds(material: Material, ports: Ports): readonly Inbound[] {
  const flow = "xtls-rprx-vision";
  const { tlsSettings, ...old } = tlsPart("xray", material) as { readonly tlsSettings: Json };
  const ofOldTls = direct("vless vision tls 1.2 @xray", "xray", {
    protocol: "vless",
    settings: { clients: [{ id: SECRETS.vision, flow }], decryption: "none" },
    streamSettings: { network: "raw", ...old, tlsSettings: { ...tlsSettings, maxVersion: "1.2" } },
  });
  const inbounds = (["tls", "reality"] as const).flatMap((security) => [
    direct(`vless vision ${security} @xray`, "xray", {
      protocol: "vless",
      settings: { clients: [{ id: SECRETS.vision, flow }], decryption: "none" },
      streamSettings: { network: "raw", ...securityPart("xray", security, material, ports) },
    }),
    direct(`vless vision ${security} @singbox`, "singbox", {
      type: "vless",
      users: [{ uuid: SECRETS.vision, flow }],
      ...securityPart("singbox", security, material, ports),
    }),
  ]);
  return [...inbounds, ofOldTls];
}

/** Protocols with a carrier of their own, and forms of one protocol alone. */
function ownInbounds(material: Material): readonly Inbound[] {
  const { certificate: lines, key } = material.certificate("good");
  const quicTls = (name: CertificateName = "good"): Json => ({
    tls: { enabled: true, server_name: NAME, alpn: ["h3"], ...material.certificate(name) },
  });
  const salamander = { type: "salamander", password: SECRETS.salamander };
  const hysteria = (obfs: Json = {}, certificate: CertificateName = "good"): Json => ({
    type: "hysteria2",
    users: [{ password: SECRETS.hysteria2 }],
    ...obfs,
    ...quicTls(certificate),
  });
  const xrayHysteria = (masks: Json = {}): Json => ({
    protocol: "hysteria",
    settings: { version: 2, clients: [{ auth: SECRETS.hysteria2 }] },
    streamSettings: {
      network: "hysteria",
      security: "tls",
      tlsSettings: { alpn: ["h3"], certificates: [{ certificate: lines, key }] },
      hysteriaSettings: { version: 2 },
      ...masks,
    },
  });
  const xrayMask = { finalmask: { udp: [{ type: "salamander", settings: { password: SECRETS.salamander } }] } };
  const tuic = (more: Json = {}, certificate: CertificateName = "good"): Json => ({
    type: "tuic",
    users: [{ uuid: SECRETS.tuic, password: SECRETS.tuicPassword }],
    auth_timeout: "3s",
    ...more,
    ...quicTls(certificate),
  });
  return [
    ...shadowsocksInbounds(),
    direct("hysteria2 @singbox", "singbox", hysteria()),
    direct("hysteria2 salamander @singbox", "singbox", hysteria({ obfs: salamander })),
    direct(
      "hysteria2 gecko @singbox",
      "singbox",
      hysteria({ obfs: { type: "gecko", password: SECRETS.salamander, min_packet_size: 512, max_packet_size: 1_200 } }),
    ),
    direct("hysteria2 self-signed @singbox", "singbox", hysteria({}, "selfsigned")),
    direct("hysteria2 expired @singbox", "singbox", hysteria({}, "expired")),
    direct("hysteria2 @xray", "xray", xrayHysteria()),
    direct("hysteria2 salamander @xray", "xray", xrayHysteria(xrayMask)),
    direct("tuic @singbox", "singbox", tuic()),
    direct("tuic bbr @singbox", "singbox", tuic({ congestion_control: "bbr", zero_rtt_handshake: true })),
    direct("tuic self-signed @singbox", "singbox", tuic({}, "selfsigned")),
    direct("vless xhttp h3 @xray", "xray", {
      ...userPart("xray", "vless"),
      streamSettings: { ...CARRIERS["xhttp auto"]?.xray, ...tlsPart("xray", material, "good", ["h3"]) },
    }),
    direct("vmess none @singbox", "singbox", userPart("singbox", "vmess")),
    ...VLESS_LOOKS.map((look) =>
      direct(`vless encrypted ${look} @xray`, "xray", {
        ...userPart("xray", "vless", { decryption: `mlkem768x25519plus.${look}.600s.${material.reality.privateKey}` }),
        streamSettings: { network: "raw" },
      }),
    ),
    direct("vless ech @xray", "xray", {
      ...userPart("xray", "vless"),
      streamSettings: {
        network: "raw",
        security: "tls",
        tlsSettings: { certificates: [material.certificate("good")], echServerKeys: material.ech.serverKeys },
      },
    }),
    direct("vless ech @singbox", "singbox", {
      ...userPart("singbox", "vless"),
      tls: {
        enabled: true,
        server_name: NAME,
        ...material.certificate("good"),
        ech: {
          enabled: true,
          key: ["-----BEGIN ECH KEYS-----", material.ech.serverKeys, "-----END ECH KEYS-----"],
        },
      },
    }),
  ];
}

function shadowsocksInbounds(): readonly Inbound[] {
  const { ss2022Server128: server128, ss2022User128: user128, ss2022Other128: other128 } = SECRETS;
  const { ss2022Server256: server256, ss2022User256: user256, shadowsocks: password } = SECRETS;
  const singbox = (method: string, more: Json): Json => ({ type: "shadowsocks", method, ...more });
  const xray = (method: string, more: Json): Json => ({
    protocol: "shadowsocks",
    settings: { method, network: "tcp,udp", ...more },
  });
  const users = [
    { password: user128, email: "one" },
    { password: other128, email: "two" },
  ];
  const named = [
    { name: "one", password: user128 },
    { name: "two", password: other128 },
  ];
  return [
    ...AEAD_METHODS.flatMap((method) => [
      direct(`ss ${method} @xray`, "xray", xray(method, { password })),
      direct(`ss ${method} @singbox`, "singbox", singbox(method, { password })),
    ]),
    direct("ss aes-192-gcm @singbox", "singbox", singbox("aes-192-gcm", { password })),
    direct("ss none @singbox", "singbox", singbox("none", { password: "" })),
    direct("ss 2022 128 @xray", "xray", xray("2022-blake3-aes-128-gcm", { password: server128 })),
    direct("ss 2022 128 @singbox", "singbox", singbox("2022-blake3-aes-128-gcm", { password: server128 })),
    direct("ss 2022 256 @xray", "xray", xray("2022-blake3-aes-256-gcm", { password: server256 })),
    direct("ss 2022 256 @singbox", "singbox", singbox("2022-blake3-aes-256-gcm", { password: server256 })),
    direct("ss 2022 chacha @xray", "xray", xray("2022-blake3-chacha20-poly1305", { password: server256 })),
    direct("ss 2022 chacha @singbox", "singbox", singbox("2022-blake3-chacha20-poly1305", { password: server256 })),
    direct("ss 2022 users @xray", "xray", xray("2022-blake3-aes-128-gcm", { password: server128, clients: users })),
    direct(
      "ss 2022 users @singbox",
      "singbox",
      singbox("2022-blake3-aes-128-gcm", { password: server128, users: named }),
    ),
    direct(
      "ss 2022 users 256 @singbox",
      "singbox",
      singbox("2022-blake3-aes-256-gcm", { password: server256, users: [{ name: "one", password: user256 }] }),
    ),
    direct("ss 2022 128 @ahead", "ahead", singbox("2022-blake3-aes-128-gcm", { password: server128 })),
    direct("ss 2022 256 @ahead", "ahead", singbox("2022-blake3-aes-256-gcm", { password: server256 })),
    direct("ss aes-256-gcm @ahead", "ahead", singbox("aes-256-gcm", { password })),
    // What v2ray-plugin without mux speaks.
    direct("ss v2ray-plugin @xray", "xray", {
      ...xray("aes-256-gcm", { password }),
      streamSettings: { network: "ws", wsSettings: { path: "/plugin" } },
    }),
  ];
}

/** Bad certificates, pages behind the protocol, egress that is cut. */
function faultyInbounds(material: Material, ports: Ports): readonly Inbound[] {
  const { decoyPage } = ports;
  const stream = (name: CertificateName): Json => ({ network: "raw", ...tlsPart("xray", material, name) });
  const fallbacks = { fallbacks: [{ dest: decoyPage }] };
  const cut = (name: string, server: Engine, egress: Egress, json: Json): Inbound => ({ name, server, egress, json });
  const protocols = CARRIED.flatMap((protocol) => [
    cut(`${protocol} held @xray`, "xray", "held", { ...userPart("xray", protocol), ...plainStream }),
    cut(`${protocol} blocked @xray`, "xray", "blocked", { ...userPart("xray", protocol), ...plainStream }),
    cut(`${protocol} portal @xray`, "xray", "portal", { ...userPart("xray", protocol), ...plainStream }),
    cut(`${protocol} held @singbox`, "singbox", "held", userPart("singbox", protocol)),
    cut(`${protocol} blocked @singbox`, "singbox", "blocked", userPart("singbox", protocol)),
  ]);
  const shadowsocks = (server: Engine): Json =>
    server === "xray"
      ? { protocol: "shadowsocks", settings: { method: "aes-256-gcm", password: SECRETS.shadowsocks, network: "tcp" } }
      : { type: "shadowsocks", method: "aes-256-gcm", password: SECRETS.shadowsocks };
  const own = ownInbounds(material);
  const ofOwn = (name: string): Json => own.find((inbound) => inbound.name === name)?.json ?? {};
  return [
    ...(["expired", "other", "selfsigned"] as const).map((name) =>
      direct(`vless ${name} @xray`, "xray", { ...userPart("xray", "vless"), streamSettings: stream(name) }),
    ),
    direct("vless xhttp selfsigned @xray", "xray", {
      ...userPart("xray", "vless"),
      streamSettings: { ...CARRIERS["xhttp auto"]?.xray, ...tlsPart("xray", material, "selfsigned") },
    }),
    direct("vless fallback @xray", "xray", {
      ...userPart("xray", "vless", fallbacks),
      streamSettings: { network: "raw", ...tlsPart("xray", material, "good", ["http/1.1"]) },
    }),
    direct("trojan fallback @xray", "xray", {
      ...userPart("xray", "trojan", fallbacks),
      streamSettings: { network: "raw", ...tlsPart("xray", material, "good", ["http/1.1"]) },
    }),
    direct("trojan fallback @singbox", "singbox", {
      ...userPart("singbox", "trojan"),
      ...tlsPart("singbox", material),
      fallback: { server: "127.0.0.1", server_port: decoyPage },
    }),
    ...protocols,
    ...(["xray", "singbox"] as const).flatMap((server) =>
      HELD.flatMap(([protocol, carrier, security]) => {
        const form = CARRIERS[carrier]?.[server] ?? null;
        const more = form && joined(server, form, securityPart(server, security, material, ports));
        const name = `${protocol} ${carrier} ${security} held @${server}`;
        return more === null ? [] : [cut(name, server, "held", { ...userPart(server, protocol), ...more })];
      }),
    ),
    cut("ss 2022 held @xray", "xray", "held", ofOwn("ss 2022 128 @xray")),
    cut("ss 2022 held @singbox", "singbox", "held", ofOwn("ss 2022 128 @singbox")),
    cut("ss held @xray", "xray", "held", shadowsocks("xray")),
    cut("ss portal @xray", "xray", "portal", shadowsocks("xray")),
    cut("ss held @singbox", "singbox", "held", shadowsocks("singbox")),
    cut("ss blocked @singbox", "singbox", "blocked", shadowsocks("singbox")),
    cut("hysteria2 held @xray", "xray", "held", ofOwn("hysteria2 @xray")),
    cut("hysteria2 portal @xray", "xray", "portal", ofOwn("hysteria2 @xray")),
    cut("hysteria2 blocked @xray", "xray", "blocked", ofOwn("hysteria2 @xray")),
    cut("hysteria2 refused @xray", "xray", "refused", ofOwn("hysteria2 @xray")),
    cut("hysteria2 refused @singbox", "singbox", "refused", ofOwn("hysteria2 @singbox")),
    cut("hysteria2 held @singbox", "singbox", "held", ofOwn("hysteria2 @singbox")),
    cut("hysteria2 blocked @singbox", "singbox", "blocked", ofOwn("hysteria2 @singbox")),
    cut("tuic held @singbox", "singbox", "held", ofOwn("tuic @singbox")),
    cut("tuic refused @singbox", "singbox", "refused", ofOwn("tuic @singbox")),
    cut("tuic blocked @singbox", "singbox", "blocked", ofOwn("tuic @singbox")),
  ];
}

const plainStream: Json = { streamSettings: { network: "raw" } };
