/** JSON bodies: sing-box, xray, and SIP008 with its kin. Only endpoints are taken; whatever else such a file says is not looked at. */
import type { ProxyProtocol } from "../protocols/share-link/proxy-config.ts";
import { type Fields, itemsOf, membersOf, type ProxyEntry, textOf } from "./entry.ts";

const PROTOCOLS = new Set<ProxyProtocol>(["vless", "vmess", "trojan", "shadowsocks", "hysteria2", "tuic"]);
/** Parts of a client's own set-up. */
const NO_SERVER = new Set("direct block dns selector urltest freedom blackhole loopback dns-out reject".split(" "));

function protocolOf(type: string): ProxyProtocol | undefined {
  return [...PROTOCOLS].find((protocol) => protocol === type);
}

/** @returns undefined for what is no server, the type's name for what no core here speaks */
export function singboxProxy(value: unknown): ProxyEntry | string | undefined {
  const outbound = membersOf(value);
  const type = textOf(outbound.type);
  if (NO_SERVER.has(type)) return undefined;
  const protocol = protocolOf(type);
  if (protocol === undefined || textOf(outbound.detour) !== "")
    return protocol === undefined ? type || "no type" : "detour";
  const tls = membersOf(outbound.tls);
  const reality = membersOf(tls.reality);
  const isOn = textOf(tls.enabled) === "true";
  const security = isOn ? (textOf(reality.enabled) === "true" ? "reality" : "tls") : "none";
  const obfs = membersOf(outbound.obfs);
  const ech = membersOf(tls.ech);
  const plugin = textOf(outbound.plugin);
  return {
    protocol,
    host: outbound.server,
    port: outbound.server_port,
    ...(protocol === "hysteria2" && { hops: outbound.server_ports }),
    credential: { uuid: outbound.uuid, password: outbound.password, method: outbound.method },
    parameters: {
      security,
      sni: tls.server_name,
      allowinsecure: tls.insecure,
      disablesni: tls.disable_sni,
      alpn: tls.alpn,
      fp: membersOf(tls.utls).fingerprint,
      ech: itemsOf(ech.config)
        .map(textOf)
        .join("")
        .replace(/-----[^-]+-----/g, ""),
      pbk: reality.public_key,
      sid: reality.short_id,
      ...singboxCarrier(membersOf(outbound.transport)),
      flow: outbound.flow,
      encryption: protocol === "vmess" ? outbound.security : "",
      aid: outbound.alter_id,
      packetencoding: outbound.packet_encoding,
      plugin: plugin === "" ? "" : `${plugin};${textOf(outbound.plugin_opts)}`,
      obfs: obfs.type,
      obfspassword: obfs.password,
      hopinterval: outbound.hop_interval,
      congestioncontrol: outbound.congestion_control,
      udprelaymode: outbound.udp_relay_mode,
      reducertt: outbound.zero_rtt_handshake,
      heartbeat: outbound.heartbeat,
    },
    name: outbound.tag,
  };
}

function singboxCarrier(transport: Fields): Fields {
  const { Host, host } = membersOf(transport.headers);
  return {
    type: transport.type,
    path: transport.path,
    host: textOf(transport.host) || textOf(Host) || textOf(host),
    serviceName: transport.service_name,
    ed: textOf(transport.max_early_data).replace(/^0$/, ""),
    eh: transport.early_data_header_name,
  };
}

/** @param label what the profile is called */
export function xrayProxy(value: unknown, label: unknown): ProxyEntry | string | undefined {
  const outbound = membersOf(value);
  const type = textOf(outbound.protocol);
  if (NO_SERVER.has(type)) return undefined;
  const stream = membersOf(outbound.streamSettings);
  const protocol = type === "hysteria" ? "hysteria2" : protocolOf(type);
  if (protocol === undefined) return type || "no protocol";
  const settings = membersOf(outbound.settings);
  const server = membersOf(itemsOf(settings.vnext ?? settings.servers)[0] ?? settings);
  const user = membersOf(itemsOf(server.users)[0] ?? server);
  const hysteria = membersOf(stream.hysteriaSettings);
  return {
    protocol,
    host: server.address,
    port: server.port,
    credential: {
      uuid: user.id,
      password: type === "hysteria" ? hysteria.auth : server.password,
      method: server.method,
    },
    parameters: {
      ...xraySecurity(stream),
      ...(type === "hysteria" ? xrayMasks(membersOf(stream.finalmask)) : xrayCarrier(stream)),
      flow: user.flow,
      encryption: protocol === "vmess" ? user.security : user.encryption,
    },
    name: textOf(label) || outbound.tag,
  };
}

function xraySecurity(stream: Fields): Fields {
  const tls = membersOf(stream.tlsSettings);
  const reality = membersOf(stream.realitySettings);
  const security = textOf(stream.security) === "reality" ? reality : tls;
  return {
    security: textOf(stream.security) || "none",
    sni: security.serverName,
    fp: security.fingerprint,
    alpn: tls.alpn,
    allowinsecure: tls.allowInsecure,
    pcs: tls.pinnedPeerCertSha256,
    vcn: tls.verifyPeerCertByName,
    ech: tls.echConfigList,
    pbk: textOf(reality.publicKey) || reality.password,
    sid: reality.shortId,
    pqv: reality.mldsa65Verify,
  };
}

function xrayCarrier(stream: Fields): Fields {
  const network = textOf(stream.network) || "tcp";
  const raw = membersOf(membersOf(stream.rawSettings ?? stream.tcpSettings).header);
  const request = membersOf(raw.request);
  const socket = membersOf(stream[`${network}Settings`]);
  const headers = membersOf(socket.headers);
  const isRaw = network === "tcp" || network === "raw";
  const extra = socket.extra ?? (network.endsWith("http") ? socket : undefined);
  return {
    type: network,
    headerType: raw.type,
    path: isRaw ? request.path : socket.path,
    host: isRaw ? membersOf(request.headers).Host : textOf(socket.host) || textOf(headers.Host),
    serviceName: socket.serviceName,
    authority: socket.authority,
    mode: textOf(socket.multiMode) === "true" ? "multi" : socket.mode,
    extra: extra === undefined ? "" : JSON.stringify(extra),
  };
}

function xrayMasks(masks: Fields): Fields {
  const salamander = itemsOf(masks.udp)
    .map(membersOf)
    .find(({ type }) => type === "salamander");
  return { obfs: salamander?.type, obfspassword: membersOf(salamander?.settings).password };
}

/** SIP008, and lists of the like. */
export function sip008Proxy(value: unknown): ProxyEntry {
  const server = membersOf(value);
  const plugin = textOf(server.plugin);
  return {
    protocol: "shadowsocks",
    host: server.server,
    port: server.server_port,
    credential: { method: server.method, password: server.password },
    parameters: { plugin: plugin === "" ? "" : `${plugin};${textOf(server.plugin_opts)}` },
    name: server.remarks,
  };
}
