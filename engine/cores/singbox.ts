/** sing-box 1.14.1: what it supports, its config file, its log messages. It rejects a whole file for one unknown key. */
import type { ProxyConfig, Security, TlsSecurity, Transport } from "../protocols/share-link/proxy-config.ts";
import { pluginOptions } from "../protocols/share-link/write-link.ts";
import {
  type Core,
  type CoreBatch,
  type CoreEntry,
  GARBAGE_PERCENT,
  IDENTITY_USER,
  LOCAL_HOST,
  steadyFingerprint,
} from "./core.ts";
import { judge } from "./finding.ts";

type Json = Record<string, unknown>;
type Account = ProxyConfig["account"];

/** From its beginning: what a server says may stand in other lines. */
const DEFAULT_INTERFACE = /^[^a-z[]{0,40} network: updated default interface /;
const CHANGED = { verdict: "unfit", reason: "the network of this checker changed" } as const;

export const singbox: Core = {
  engine: "singbox",
  supports: (config) => accountGap(config) ?? transportGap(config) ?? securityGap(config.security),
  render: (batch) => JSON.stringify(file(batch)),
  explain(line) {
    const [, session = null] = /\[(\d+) [\d.]+(?:ms|s|m)/.exec(line) ?? [];
    const tag =
      /outbound\/[a-z0-9]+\[([^\][]+)\]/.exec(line)?.[1] ??
      /inbound\/socks\[in\]: \[([^\][]+)\]/.exec(line)?.[1] ??
      null;
    // It closes all connections then, and says no more of those of TCP. Where the kernel holds it, it does not hear of interfaces.
    if (DEFAULT_INTERFACE.test(line)) return { session: null, tag: null, ...CHANGED, isOfAll: true };
    const judged = judge(line);
    if (judged !== undefined) return { session, tag, ...judged };
    return tag === null ? undefined : { session, tag, verdict: null, reason: "" };
  },
  culprit(errorOutput, entries) {
    const [, index] = /outbounds?\[(\d+)\]/.exec(errorOutput) ?? [];
    return index === undefined ? undefined : entries[Number(index)];
  },
};

function accountGap({ account, transport, security }: ProxyConfig): string | undefined {
  if (account.protocol === "vless" && account.encryption !== "none") return "sing-box has no VLESS encryption";
  const isPlain = transport.type === "raw" && transport.header === null && security.kind === "none";
  if (account.protocol === "shadowsocks" && !isPlain) return "sing-box has no Shadowsocks over another transport";
  return undefined;
}

function transportGap({ transport, security }: ProxyConfig): string | undefined {
  if (transport.type === "xhttp") return "sing-box has no xhttp";
  if (transport.type === "kcp") return "sing-box has no mKCP";
  if (transport.type === "raw" && transport.header !== null && security.kind !== "none") {
    return "sing-box has no HTTP header inside TLS";
  }
  if (transport.type === "quic" && security.kind === "none") return "sing-box needs TLS for QUIC";
  return undefined;
}

function securityGap(security: Security): string | undefined {
  if (security.kind !== "tls") return undefined;
  if (security.pins.length > 0 && !security.isInsecure) return "sing-box cannot pin a certificate";
  return security.verifyNames.length > 0 ? "sing-box cannot verify other names" : undefined;
}

/** The proxies come first: complaints name them by number. Whatever no rule sends elsewhere is blocked. */
function file({ entries, port, identityPassword, isVerbose, extraCaPem = null }: CoreBatch): Json {
  const users = entries.map(({ tag, password }) => ({ username: tag, password }));
  return {
    log: { level: isVerbose ? "info" : "error", timestamp: true },
    ...(extraCaPem !== null && { certificate: { store: "system", certificate: extraCaPem.trim().split("\n") } }),
    inbounds: [
      {
        type: "socks",
        tag: "in",
        listen: LOCAL_HOST,
        listen_port: port,
        users: [{ username: IDENTITY_USER, password: identityPassword }, ...users],
      },
    ],
    outbounds: [...entries.map(singboxOutbound), { type: "block", tag: "block" }],
    route: {
      rules: entries.map(({ tag }) => ({ auth_user: [tag], action: "route", outbound: tag })),
      final: "block",
    },
    experimental: { debug: { gc_percent: GARBAGE_PERCENT } },
  };
}

/** @param entry.address what is dialled: the name itself where the file is for another client */
export function singboxOutbound({ tag, config, address }: Pick<CoreEntry, "tag" | "config" | "address">): Json {
  const { account, port, security, transport } = config;
  const isQuic = account.protocol === "hysteria2" || account.protocol === "tuic";
  const tls = tlsPart(security, transport, isQuic);
  const carrier = isQuic ? undefined : transportPart(transport, security);
  return {
    type: account.protocol,
    tag,
    server: address,
    server_port: port,
    ...accountPart(account, config),
    ...(tls !== undefined && { tls }),
    ...(carrier !== undefined && { transport: carrier }),
  };
}

function accountPart(account: Account, { packetEncoding }: ProxyConfig): Json {
  const packing = packetEncoding === "none" ? {} : { packet_encoding: packetEncoding };
  switch (account.protocol) {
    case "vless":
      return { uuid: account.uuid, ...(account.flow !== "" && { flow: "xtls-rprx-vision" }), ...packing };
    case "vmess":
      // `auto` with TLS means no encryption here, which newer servers refuse.
      return {
        uuid: account.uuid,
        security: account.cipher === "auto" ? "aes-128-gcm" : account.cipher,
        alter_id: account.alterId,
        ...packing,
      };
    case "trojan":
      return { password: account.password };
    case "shadowsocks":
      return {
        method: account.method,
        password: account.password,
        ...(account.plugin !== null && { plugin: account.plugin.name, plugin_opts: pluginOptions(account.plugin) }),
        ...(account.isUdpOverTcp && { udp_over_tcp: true }),
      };
    case "hysteria2":
      return hysteriaPart(account);
    case "tuic":
      return {
        uuid: account.uuid,
        password: account.password,
        congestion_control: account.congestion,
        udp_relay_mode: account.udpRelay,
        ...(account.isZeroRtt && { zero_rtt_handshake: true }),
        ...(account.heartbeatMs !== null && { heartbeat: `${account.heartbeatMs}ms` }),
      };
  }
}

function hysteriaPart({ password, hops, hopIntervalS, obfs }: Extract<Account, { protocol: "hysteria2" }>): Json {
  const ports = hops.map(([from, to]) => `${from}:${to}`);
  const [least, most] = obfs?.sizesBytes ?? [];
  const sizes = least === undefined ? {} : { min_packet_size: least, max_packet_size: most };
  return {
    password,
    ...(ports.length > 0 && { server_ports: ports, hop_interval: `${hopIntervalS ?? 30}s` }),
    ...(obfs !== null && { obfs: { type: obfs.type, password: obfs.password, ...sizes } }),
  };
}

function transportPart(transport: Transport, security: Security): Json | undefined {
  switch (transport.type) {
    case "raw":
      return transport.header === null || security.kind !== "none" ? undefined : rawHeaderPart(transport.header);
    case "ws": {
      const { path, host, earlyDataBytes, earlyDataHeader } = transport;
      const early = { max_early_data: earlyDataBytes, early_data_header_name: earlyDataHeader };
      return { type: "ws", path, headers: { Host: host }, ...(earlyDataBytes > 0 && early) };
    }
    case "httpupgrade":
      return { type: "httpupgrade", path: transport.path, host: transport.host };
    case "grpc":
      return { type: "grpc", service_name: transport.serviceName };
    case "http":
      return { type: "http", path: transport.path, ...(transport.hosts.length > 0 && { host: transport.hosts }) };
    case "quic":
      return { type: "quic" };
    default:
      throw new Error(`sing-box has no ${transport.type}`);
  }
}

/** Without TLS its http transport speaks HTTP/1.1, as xray's header does. */
function rawHeaderPart({ hosts, paths }: { hosts: readonly string[]; paths: readonly string[] }): Json {
  return { type: "http", method: "GET", path: paths[0] ?? "/", ...(hosts.length > 0 && { host: hosts }) };
}

function tlsPart(security: Security, transport: Transport, isQuic: boolean): Json | undefined {
  if (security.kind === "none") return undefined;
  if (security.kind === "reality") {
    return {
      enabled: true,
      server_name: security.sni,
      utls: { enabled: true, fingerprint: steadyFingerprint(security.fingerprint) },
      reality: { enabled: true, public_key: security.publicKey, short_id: security.shortId },
    };
  }
  const { sni, isInsecure, hasNoSni, fingerprint, ech } = security;
  const alpn = alpnOf(security, transport, isQuic);
  const hasUtls = fingerprint !== null && !isQuic && transport.type !== "quic";
  return {
    enabled: true,
    ...(sni !== null && { server_name: sni }),
    ...(isInsecure && { insecure: true }),
    ...(hasNoSni && { disable_sni: true }),
    ...(alpn.length > 0 && { alpn }),
    ...(hasUtls && { utls: { enabled: true, fingerprint: steadyFingerprint(fingerprint) } }),
    ...(ech !== null && { ech: { enabled: true, config: echLines(ech) } }),
  };
}

/** A socket's handshake breaks when HTTP/2 is chosen; QUIC protocols are HTTP/3 to the outside. */
function alpnOf({ alpn }: TlsSecurity, transport: Transport, isQuic: boolean): readonly string[] {
  if (transport.type === "ws" || transport.type === "httpupgrade") return ["http/1.1"];
  return isQuic && alpn.length === 0 ? ["h3"] : alpn;
}

/** Lines of PEM. */
function echLines(base64: string): readonly string[] {
  return ["-----BEGIN ECH CONFIGS-----", ...(base64.match(/.{1,64}/g) ?? []), "-----END ECH CONFIGS-----"];
}
