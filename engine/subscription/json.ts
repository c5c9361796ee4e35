/** JSON bodies: sing-box, xray, SIP008 and similar ones. Only endpoints are taken; everything else in such a file is ignored. */
import type { ProxyProtocol } from "../protocols/share-link/proxy-config.ts";
import { EntryError } from "./body-error.ts";
import {
  entryMembers,
  type Fields,
  isOn,
  itemsOf,
  kindOf,
  membersOf,
  type ProxyEntry,
  partOf,
  textOf,
} from "./entry.ts";

const PROTOCOLS = new Set<ProxyProtocol>(["vless", "vmess", "trojan", "shadowsocks", "hysteria2", "tuic"]);
/** sing-box starts none of them without TLS. */
const QUIC: ReadonlySet<ProxyProtocol> = new Set(["hysteria2", "tuic"]);
/** Parts of a client's own set-up. */
const NO_SERVER = new Set("direct block dns selector urltest freedom blackhole loopback dns-out reject".split(" "));

function protocolOf(type: string): ProxyProtocol | undefined {
  return [...PROTOCOLS].find((protocol) => protocol === type);
}

/** @returns undefined for what is not a server, the type's name for what no core here supports */
export function singboxProxy(value: unknown): ProxyEntry | string | undefined {
  const outbound = entryMembers(value);
  const type = kindOf(outbound.type, "type");
  if (NO_SERVER.has(type)) return undefined;
  const protocol = protocolOf(type);
  if (protocol === undefined || textOf(outbound.detour) !== "") return protocol === undefined ? type : "detour";
  const tls = partOf(outbound.tls, "tls");
  const reality = partOf(tls.reality, "reality");
  const isTls = isOn(tls.enabled, "tls.enabled");
  if (!isTls && QUIC.has(protocol)) throw new EntryError(`its tls is not enabled, which ${protocol} needs`);
  const security = isTls ? (isOn(reality.enabled, "reality.enabled") ? "reality" : "tls") : "none";
  const obfs = partOf(outbound.obfs, "obfs");
  const ech = partOf(tls.ech, "ech");
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
      fp: partOf(tls.utls, "utls").fingerprint,
      ech: itemsOf(ech.config)
        .map(textOf)
        .join("")
        .replace(/-----[^-]+-----/g, ""),
      pbk: reality.public_key,
      sid: reality.short_id,
      ...singboxCarrier(partOf(outbound.transport, "transport")),
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
  const { Host, host } = partOf(transport.headers, "headers");
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
  const outbound = entryMembers(value);
  const type = kindOf(outbound.protocol, "protocol");
  if (NO_SERVER.has(type)) return undefined;
  const stream = partOf(outbound.streamSettings, "streamSettings");
  const protocol = type === "hysteria" ? "hysteria2" : protocolOf(type);
  if (protocol === undefined) return type;
  const settings = partOf(outbound.settings, "settings");
  const server = membersOf(itemsOf(settings.vnext ?? settings.servers)[0] ?? settings);
  const user = membersOf(itemsOf(server.users)[0] ?? server);
  const hysteria = partOf(stream.hysteriaSettings, "hysteriaSettings");
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
      ...(type === "hysteria" ? xrayMasks(partOf(stream.finalmask, "finalmask")) : xrayCarrier(stream)),
      flow: user.flow,
      encryption: protocol === "vmess" ? user.security : user.encryption,
    },
    name: textOf(label) || outbound.tag,
  };
}

function xraySecurity(stream: Fields): Fields {
  const tls = partOf(stream.tlsSettings, "tlsSettings");
  const reality = partOf(stream.realitySettings, "realitySettings");
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
  const socket = partOf(stream[`${network}Settings`], "settings of its network");
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
  const server = entryMembers(value);
  const plugin = textOf(server.plugin);
  return {
    protocol: "shadowsocks",
    host: server.server,
    port: server.server_port,
    credential: { method: server.method, password: server.password },
    parameters: { plugin: plugin === "" ? "" : `${plugin};${textOf(server.plugin_opts)}` },
    name: textOf(server.remarks) || server.tag,
  };
}
