/**
 * Configs as proxies of Clash: mihomo's names, its newest form. What this writes, clash.ts reads as the same config. Pure.
 */
import { dump } from "js-yaml";
import type {
  Obfs,
  Plugin,
  ProxyConfig,
  RealitySecurity,
  TlsSecurity,
  Transport,
} from "../protocols/share-link/proxy-config.ts";

type Json = Readonly<Record<string, unknown>>;
type Account = ProxyConfig["account"];
type Of<Protocol extends Account["protocol"]> = Extract<Account, { readonly protocol: Protocol }>;

/** A client has no place for a part of the config. */
export class FormatGap extends Error {
  override readonly name = "FormatGap";
}

/** @throws FormatGap */
export function writeClashProxy(config: ProxyConfig, name: string): Json {
  const { account, host, port, transport, security } = config;
  const isQuic = account.protocol === "hysteria2" || account.protocol === "tuic";
  return {
    name,
    type: account.protocol === "shadowsocks" ? "ss" : account.protocol,
    server: host,
    port,
    udp: true,
    ...accountPart(account),
    ...packingPart(config),
    ...(isQuic ? {} : carrierPart(transport)),
    ...tlsPart(security, account.protocol),
  };
}

export function clashText(document: object): string {
  return dump(document, { lineWidth: -1, noRefs: true });
}

function accountPart(account: Account): Json {
  switch (account.protocol) {
    case "vless":
      return {
        uuid: account.uuid,
        ...(account.flow !== "" && { flow: account.flow }),
        ...(account.encryption !== "none" && { encryption: account.encryption }),
      };
    case "vmess":
      return { uuid: account.uuid, alterId: account.alterId, cipher: account.cipher };
    case "trojan":
      return { password: account.password };
    case "shadowsocks":
      return shadowsocksPart(account);
    case "hysteria2":
      return hysteriaPart(account);
    case "tuic":
      return {
        uuid: account.uuid,
        password: account.password,
        "congestion-controller": account.congestion,
        "udp-relay-mode": account.udpRelay,
        ...(account.isZeroRtt && { "reduce-rtt": true }),
        ...(account.heartbeatMs !== null && { "heartbeat-interval": account.heartbeatMs }),
      };
  }
}

function packingPart({ account, packetEncoding }: ProxyConfig): Json {
  const hasPacking = account.protocol === "vless" || account.protocol === "vmess";
  return hasPacking ? { "packet-encoding": packetEncoding } : {};
}

function shadowsocksPart({ method, password, plugin, isUdpOverTcp }: Of<"shadowsocks">): Json {
  return {
    cipher: method,
    password,
    ...(plugin !== null && pluginPart(plugin)),
    ...(isUdpOverTcp && { "udp-over-tcp": true }),
  };
}

function pluginPart(plugin: Plugin): Json {
  if (plugin.name === "obfs-local") {
    return { plugin: "obfs", "plugin-opts": { mode: plugin.mode, ...(plugin.host !== "" && { host: plugin.host }) } };
  }
  if (plugin.mode !== "websocket") throw new FormatGap("Clash has no v2ray-plugin over QUIC");
  // mihomo knows only on and off.
  if (plugin.mux > 1) throw new FormatGap("Clash counts no connections of v2ray-plugin");
  const { mode, host, path, hasTls, mux } = plugin;
  const options = { mode, tls: hasTls, mux: mux === 1, ...(host !== "" && { host }), ...(path !== "" && { path }) };
  return { plugin: plugin.name, "plugin-opts": options };
}

function hysteriaPart({ password, hops, hopIntervalS, obfs }: Of<"hysteria2">): Json {
  const ports = hops.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");
  return {
    password,
    ...(ports !== "" && { ports }),
    ...(hopIntervalS !== null && { "hop-interval": hopIntervalS }),
    ...(obfs !== null && obfsPart(obfs)),
  };
}

function obfsPart({ type, password, sizesBytes }: Obfs): Json {
  const [least, most] = sizesBytes ?? [];
  const sizes = least === undefined ? {} : { "obfs-min-packet-size": least, "obfs-max-packet-size": most };
  return { obfs: type, "obfs-password": password, ...sizes };
}

function carrierPart(transport: Transport): Json {
  switch (transport.type) {
    case "raw": {
      const { header } = transport;
      if (header === null) return { network: "tcp" };
      const hosts = header.hosts.length > 0 ? { headers: { Host: header.hosts } } : {};
      return { network: "http", "http-opts": { path: header.paths, ...hosts } };
    }
    case "ws": {
      const { path, host, earlyDataBytes, earlyDataHeader } = transport;
      const early = { "max-early-data": earlyDataBytes, "early-data-header-name": earlyDataHeader };
      const options = { path, ...(host !== "" && { headers: { Host: host } }), ...(earlyDataBytes > 0 && early) };
      return { network: "ws", "ws-opts": options };
    }
    case "httpupgrade": {
      const { path, host } = transport;
      const options = { path, ...(host !== "" && { headers: { Host: host } }), "v2ray-http-upgrade": true };
      return { network: "ws", "ws-opts": options };
    }
    case "grpc":
      if (transport.isMulti || transport.authority !== "")
        throw new FormatGap("Clash has no mode or authority of grpc");
      return { network: "grpc", "grpc-opts": { "grpc-service-name": transport.serviceName } };
    case "http":
      return { network: "h2", "h2-opts": { path: transport.path, host: transport.hosts } };
    case "xhttp": {
      const { path, host, mode, extra, hasDownload } = transport;
      if (hasDownload || Object.keys(extra).length > 0)
        throw new FormatGap("Clash has other words for what is set for xhttp");
      return { network: "xhttp", "xhttp-opts": { path, mode, ...(host !== "" && { host }) } };
    }
    case "kcp":
      throw new FormatGap("Clash has no mKCP");
    case "quic":
      throw new FormatGap("Clash has no QUIC transport");
  }
}

function tlsPart(security: ProxyConfig["security"], protocol: Account["protocol"]): Json {
  if (security.kind === "none") {
    if (protocol === "trojan") throw new FormatGap("Clash has no Trojan without TLS");
    return {};
  }
  const isNamed = protocol === "vless" || protocol === "vmess";
  const name = isNamed ? "servername" : "sni";
  const on = isNamed || protocol === "shadowsocks" ? { tls: true } : {};
  return { ...on, ...(security.kind === "reality" ? realityPart(security, name) : ofTls(security, name)) };
}

function realityPart({ sni, fingerprint, publicKey, shortId, mldsa65 }: RealitySecurity, name: string): Json {
  if (mldsa65 !== null) throw new FormatGap("Clash has no ML-DSA-65 of REALITY");
  const options = { "public-key": publicKey, "short-id": shortId };
  return { [name]: sni, "client-fingerprint": fingerprint, "reality-opts": options };
}

function ofTls(security: TlsSecurity, name: string): Json {
  const { sni, alpn, fingerprint, isInsecure, hasNoSni, pins, verifyNames, ech } = security;
  if (pins.length > 1) throw new FormatGap("Clash pins one certificate");
  if (verifyNames.length > 0) throw new FormatGap("Clash verifies no other names");
  return {
    ...(sni !== null && { [name]: sni }),
    ...(alpn.length > 0 && { alpn }),
    ...(fingerprint !== null && { "client-fingerprint": fingerprint }),
    ...(isInsecure && { "skip-cert-verify": true }),
    ...(hasNoSni && { "disable-sni": true }),
    ...(pins.length > 0 && { fingerprint: pins[0] }),
    ...(ech !== null && { "ech-opts": { enable: true, config: ech } }),
  };
}
