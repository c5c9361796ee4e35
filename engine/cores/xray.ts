/** xray 26.3.27: what it supports, its config file, its log messages. It matches keys loosely and drops unknown ones, so each is written once, here. */
import type {
  ProxyConfig,
  RealitySecurity,
  Security,
  TlsSecurity,
  Transport,
} from "../protocols/share-link/proxy-config.ts";
import { type Core, type CoreBatch, type CoreEntry, IDENTITY_USER, LOCAL_HOST, steadyFingerprint } from "./core.ts";
import { judge } from "./finding.ts";

type Json = Record<string, unknown>;
type Of<Protocol extends ProxyConfig["account"]["protocol"]> = Extract<ProxyConfig["account"], { protocol: Protocol }>;

const METHODS = new Set([
  "aes-128-gcm",
  "aes-256-gcm",
  "chacha20-ietf-poly1305",
  "xchacha20-ietf-poly1305",
  "2022-blake3-aes-128-gcm",
  "2022-blake3-aes-256-gcm",
  "2022-blake3-chacha20-poly1305",
]);

export const xray: Core = {
  engine: "xray",
  supports: (config) => accountGap(config) ?? transportGap(config) ?? securityGap(config.security),
  render: (batch) => JSON.stringify(file(batch)),
  explain(line) {
    const [, session = null] = /\[(\d+)\]/.exec(line) ?? [];
    const [, tag] = /taking detour \[([^\][]+)\]/.exec(line) ?? [];
    if (tag !== undefined) return { session, tag, verdict: null, reason: "" };
    if (line.includes("tunneling request to")) {
      return { session, tag: null, verdict: null, reason: "", isReached: true };
    }
    const judged = judge(line);
    return judged && { session, tag: null, ...judged };
  },
  culprit(errorOutput, entries) {
    const [, tag] = /outbound config with tag ([A-Za-z0-9_]+)/.exec(errorOutput) ?? [];
    return entries.find((entry) => entry.tag === tag);
  },
};

function accountGap({ account, transport }: ProxyConfig): string | undefined {
  if (account.protocol === "tuic") return "xray has no TUIC";
  if (account.protocol === "vmess" && account.alterId > 0) return "xray has no VMess with alterId";
  if (account.protocol === "vmess" && (account.cipher === "none" || account.cipher === "zero")) {
    return "xray has no VMess without encryption";
  }
  if (account.protocol === "hysteria2" && account.obfs?.type === "gecko") return "this xray has no gecko";
  if (account.protocol !== "shadowsocks") return undefined;
  if (account.plugin !== null) return "xray has no Shadowsocks plugins";
  if (account.isUdpOverTcp && transport.type === "raw") return "xray has no UDP over TCP for Shadowsocks";
  return METHODS.has(account.method) ? undefined : "xray does not have this Shadowsocks cipher";
}

/** Where xray has REALITY (infra/conf, StreamConfig.Build). */
const REALITY_CARRIERS: ReadonlySet<Transport["type"]> = new Set(["raw", "xhttp", "grpc"]);

function transportGap({ transport, security }: ProxyConfig): string | undefined {
  if (transport.type === "http") return "xray no longer has HTTP/2 as a transport";
  if (transport.type === "quic") return "xray no longer has QUIC as a transport";
  if (transport.type === "xhttp" && transport.hasDownload) return "xhttp with a second server is not supported";
  if (security.kind === "reality" && !REALITY_CARRIERS.has(transport.type))
    return `xray has no REALITY over ${transport.type}`;
  return undefined;
}

function securityGap(security: Security): string | undefined {
  if (security.kind !== "tls") return undefined;
  if (security.isInsecure && security.pins.length === 0) return "xray always verifies the certificate";
  return security.hasNoSni ? "xray always sends the name" : undefined;
}

/** Whatever no rule sends elsewhere ends in the first outbound. Its users are matched exactly, as the names of its accounts. */
function file({ entries, port, identityPassword, isVerbose, extraCaPem = null }: CoreBatch): Json {
  const accounts = entries.map(({ tag, password }) => ({ user: tag, pass: password }));
  return {
    log: { loglevel: isVerbose ? "info" : "error", access: "none" },
    inbounds: [
      {
        tag: "in",
        listen: LOCAL_HOST,
        port,
        protocol: "socks",
        settings: {
          auth: "password",
          accounts: [{ user: IDENTITY_USER, pass: identityPassword }, ...accounts],
          udp: false,
        },
      },
    ],
    outbounds: [{ tag: "block", protocol: "blackhole" }, ...entries.map((entry) => outbound(entry, extraCaPem))],
    routing: {
      domainStrategy: "AsIs",
      rules: entries.map(({ tag }) => ({ type: "field", user: [tag], outboundTag: tag })),
    },
  };
}

function outbound({ tag, config, address }: CoreEntry, extraCaPem: string | null): Json {
  return {
    tag,
    ...protocolPart(config, address),
    streamSettings: streamPart(config, extraCaPem),
    mux: { enabled: false },
  };
}

function protocolPart({ account, port }: ProxyConfig, address: string): Json {
  const server = { address, port };
  switch (account.protocol) {
    case "vless": {
      const { uuid: id, flow, encryption } = account;
      return { protocol: "vless", settings: { ...server, id, encryption, ...(flow !== "" && { flow }) } };
    }
    case "vmess":
      return { protocol: "vmess", settings: { ...server, id: account.uuid, security: account.cipher } };
    case "trojan":
      return { protocol: "trojan", settings: { ...server, password: account.password } };
    case "shadowsocks":
      return {
        protocol: "shadowsocks",
        settings: { ...server, method: account.method, password: account.password },
      };
    default:
      return { protocol: "hysteria", settings: { version: 2, ...server } };
  }
}

function streamPart({ account, security, transport }: ProxyConfig, extraCaPem: string | null): Json {
  if (account.protocol === "hysteria2") {
    const masks = hysteriaMasks(account);
    return {
      network: "hysteria",
      ...securityPart(security, transport, extraCaPem),
      hysteriaSettings: { version: 2, auth: account.password },
      ...(Object.keys(masks).length > 0 && { finalmask: masks }),
    };
  }
  return { ...transportPart(transport), ...securityPart(security, transport, extraCaPem) };
}

function hysteriaMasks({ obfs, hops, hopIntervalS }: Of<"hysteria2">): Json {
  const ports = hops.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");
  return {
    ...(obfs !== null && { udp: [{ type: "salamander", settings: { password: obfs.password } }] }),
    ...(ports !== "" && { quicParams: { udpHop: { ports, interval: hopIntervalS ?? 30 } } }),
  };
}

function transportPart(transport: Transport): Json {
  switch (transport.type) {
    case "raw": {
      const { header } = transport;
      if (header === null) return { network: "raw" };
      const headers = header.hosts.length === 0 ? {} : { headers: { Host: header.hosts } };
      const request = { version: "1.1", method: "GET", path: header.paths, ...headers };
      return { network: "raw", rawSettings: { header: { type: "http", request } } };
    }
    case "ws": {
      const { path, host, earlyDataBytes } = transport;
      const mark = path.includes("?") ? "&" : "?";
      const written = earlyDataBytes === 0 ? path : `${path}${mark}ed=${earlyDataBytes}`;
      return { network: "ws", wsSettings: { path: written, host } };
    }
    case "httpupgrade":
      return { network: "httpupgrade", httpupgradeSettings: { path: transport.path, host: transport.host } };
    case "grpc": {
      const { serviceName, authority, isMulti: multiMode } = transport;
      return { network: "grpc", grpcSettings: { serviceName, multiMode, ...(authority !== "" && { authority }) } };
    }
    case "xhttp": {
      const { path, host, mode, extra } = transport;
      const more = Object.keys(extra).length === 0 ? {} : { extra };
      return { network: "xhttp", xhttpSettings: { path, host, mode, ...more } };
    }
    case "kcp":
      return kcpPart(transport);
    default:
      throw new Error(`xray has no ${transport.type}`);
  }
}

/** Between 26.1.31 and 26.5.9 the header's mask stands before the one of the seed, under these names. */
function kcpPart({ header, seed, mtu, ttiMs }: Extract<Transport, { type: "kcp" }>): Json {
  const cipher = seed === "" ? { type: "mkcp-original" } : { type: "mkcp-aes128gcm", settings: { password: seed } };
  const masks = header === "none" ? [cipher] : [{ type: `header-${header.replace("-video", "")}` }, cipher];
  const settings = { ...(mtu !== null && { mtu }), ...(ttiMs !== null && { tti: ttiMs }) };
  return { network: "kcp", kcpSettings: settings, finalmask: { udp: masks } };
}

function securityPart(security: Security, transport: Transport, extraCaPem: string | null): Json {
  if (security.kind === "none") return { security: "none" };
  if (security.kind === "reality") return { security: "reality", realitySettings: realityPart(security) };
  return { security: "tls", tlsSettings: { ...tlsPart(security, transport), ...rootsPart(extraCaPem) } };
}

function realityPart({ sni, fingerprint, publicKey, shortId, mldsa65 }: RealitySecurity): Json {
  // The spider's path has nothing to do with reachability, and one that is no URL makes xray panic.
  const client = { serverName: sni, fingerprint: steadyFingerprint(fingerprint), publicKey, shortId, spiderX: "/" };
  return { ...client, ...(mldsa65 !== null && { mldsa65Verify: mldsa65 }) };
}

function tlsPart({ sni, alpn, fingerprint, pins, verifyNames, ech }: TlsSecurity, transport: Transport): Json {
  // A socket's handshake is HTTP/1.1 whatever the link says.
  const protocols = transport.type === "ws" || transport.type === "httpupgrade" ? [] : alpn;
  return {
    ...(sni !== null && { serverName: sni }),
    ...(protocols.length > 0 && { alpn: protocols }),
    ...(fingerprint !== null && { fingerprint: steadyFingerprint(fingerprint) }),
    ...(pins.length > 0 && { pinnedPeerCertSha256: pins.join(",") }),
    ...(verifyNames.length > 0 && { verifyPeerCertByName: verifyNames.join(",") }),
    ...(ech !== null && { echConfigList: ech }),
  };
}

/** Beside the system's: xray adds what is marked so to them. */
function rootsPart(extraCaPem: string | null): Json {
  return extraCaPem === null ? {} : { certificates: [{ usage: "verify", certificate: extraCaPem.trim().split("\n") }] };
}
