/** Proxies of Clash and mihomo, whose scalars were all kept as texts. */
import type { ProxyProtocol } from "../protocols/share-link/proxy-config.ts";
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

const TYPES: Readonly<Record<string, ProxyProtocol>> = {
  vless: "vless",
  vmess: "vmess",
  trojan: "trojan",
  ss: "shadowsocks",
  hysteria2: "hysteria2",
  hy2: "hysteria2",
  tuic: "tuic",
};

/** Protocols of mihomo inside others: no core here has them. */
const FOREIGN = ["shadow-tls-opts", "restls-opts", "jls-opts", "tlsmirror-opts", "ss-opts", "dialer-proxy"];

/** @returns the type's name when no core here supports it */
export function clashProxy(value: unknown): ProxyEntry | string {
  const proxy = entryMembers(value);
  const type = kindOf(proxy.type, "type").toLowerCase();
  const protocol = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  const foreign = FOREIGN.find((name) => proxy[name] !== undefined && !(name === "ss-opts" && isOff(proxy[name])));
  if (protocol === undefined || foreign !== undefined) return foreign ?? type;
  if (protocol === "tuic" && textOf(proxy.token) !== "") return "tuic 4";
  return {
    protocol,
    host: proxy.server,
    port: proxy.port,
    hops: protocol === "hysteria2" ? proxy.ports : undefined,
    credential: { uuid: proxy.uuid, password: proxy.password, method: proxy.cipher },
    // Several spreads cost as much as all of reading its YAML.
    parameters: Object.assign(tlsPart(protocol, proxy), carrierPart(proxy), ownPart(protocol, proxy)),
    name: proxy.name,
  };
}

function isOff(value: unknown): boolean {
  return !isOn(partOf(value, "ss-opts").enabled, "ss-opts");
}

function tlsPart(protocol: ProxyProtocol, proxy: Fields): Fields {
  const reality = partOf(proxy["reality-opts"], "reality-opts");
  const hasReality = textOf(reality["public-key"]) !== "";
  const isTls = isOn(proxy.tls, "tls") || protocol === "trojan";
  const isQuic = protocol === "hysteria2" || protocol === "tuic";
  const ech = partOf(proxy["ech-opts"], "ech-opts");
  return {
    security: isQuic ? "" : hasReality ? "reality" : isTls ? "tls" : "none",
    sni: textOf(proxy.servername) || textOf(proxy.sni),
    allowinsecure: proxy["skip-cert-verify"],
    alpn: proxy.alpn,
    fp: proxy["client-fingerprint"],
    // Here a fingerprint is the certificate's.
    pcs: proxy.fingerprint,
    pbk: reality["public-key"],
    sid: reality["short-id"],
    disablesni: proxy["disable-sni"],
    ech: isOn(ech.enable, "ech-opts") ? ech.config : "",
  };
}

function carrierPart(proxy: Fields): Fields {
  const network = textOf(proxy.network);
  const options = partOf(proxy[`${network}-opts`], "options of its network");
  const headers = membersOf(options.headers);
  switch (network) {
    case "ws":
      return {
        type: isOn(options["v2ray-http-upgrade"], "v2ray-http-upgrade") ? "httpupgrade" : "ws",
        path: textOf(options.path) || textOf(proxy["ws-path"]),
        host: hostIn(headers) || hostIn(membersOf(proxy["ws-headers"])),
        ed: options["max-early-data"],
        eh: options["early-data-header-name"],
      };
    case "grpc":
      return { type: "grpc", serviceName: options["grpc-service-name"] };
    case "h2":
      return { type: "http", host: options.host, path: options.path };
    case "http":
      return { type: "tcp", headerType: "http", host: hostIn(headers), path: options.path };
    case "xhttp":
      return { type: "xhttp", host: options.host, path: options.path, mode: options.mode, extra: extraOf(options) };
    case "mkcp":
    case "kcp":
      return { type: "kcp", headerType: options.header, seed: options.seed, mtu: options.mtu, tti: options.tti };
    default:
      return { type: network };
  }
}

function hostIn(headers: Fields): string {
  const [, value] = Object.entries(headers).find(([name]) => name.toLowerCase() === "host") ?? [];
  return textOf(value);
}

/** `x-padding-bytes` is xray's `xPaddingBytes`. */
function extraOf(options: Fields): string {
  const camel = (name: string): string => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const known = new Set(["path", "host", "mode", "headers", "reuse-settings", "download-settings"]);
  const extra: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    const text = textOf(value);
    if (!known.has(name)) extra[camel(name)] = text === "true" ? true : text === "false" ? false : text;
  }
  if (options["no-grpc-header"] !== undefined) extra.noGRPCHeader = textOf(options["no-grpc-header"]) === "true";
  const reuse = Object.entries(membersOf(options["reuse-settings"]));
  if (reuse.length > 0) extra.xmux = Object.fromEntries(reuse.map(([name, value]) => [camel(name), textOf(value)]));
  if (options["download-settings"] !== undefined) extra.downloadSettings = {};
  return Object.keys(extra).length === 0 ? "" : JSON.stringify(extra);
}

function ownPart(protocol: ProxyProtocol, proxy: Fields): Fields {
  switch (protocol) {
    case "vless":
      return { flow: proxy.flow, encryption: proxy.encryption, packetencoding: proxy["packet-encoding"] };
    case "vmess":
      return { encryption: proxy.cipher, aid: proxy.alterId, packetencoding: proxy["packet-encoding"] };
    case "shadowsocks":
      return { plugin: pluginText(proxy), uot: proxy["udp-over-tcp"] };
    case "hysteria2":
      return {
        obfs: proxy.obfs,
        obfspassword: textOf(proxy["obfs-password"]) || textOf(proxy.obfs_password),
        hopinterval: proxy["hop-interval"],
        minpacketsize: proxy["obfs-min-packet-size"],
        maxpacketsize: proxy["obfs-max-packet-size"],
      };
    case "tuic":
      return {
        congestioncontrol: proxy["congestion-controller"],
        udprelaymode: proxy["udp-relay-mode"],
        reducertt: proxy["reduce-rtt"],
        heartbeat: proxy["heartbeat-interval"],
      };
    default:
      return {};
  }
}

/** As SIP003 writes it; the field's own check reads it again. */
function pluginText(proxy: Fields): string {
  const name = textOf(proxy.plugin);
  if (name === "") return "";
  const options = partOf(proxy["plugin-opts"], "plugin-opts");
  const mux = { true: "1", false: "0" }[textOf(options.mux)] ?? textOf(options.mux);
  const pairs = [
    ["mode", textOf(options.mode)],
    ["host", textOf(options.host)],
    ["path", textOf(options.path)],
    ["mux", mux],
  ] as const;
  const marked = (text: string): string => text.replace(/[\\;=]/g, "\\$&");
  const written = pairs.filter(([, value]) => value !== "").map(([key, value]) => `${key}=${marked(value)}`);
  return [name, ...written, ...(isOn(options.tls, "tls of plugin-opts") ? ["tls"] : [])].join(";");
}

/** The list of proxies in a Clash document. */
export function clashProxies(document: unknown): readonly unknown[] {
  const { proxies, Proxy: older } = membersOf(document);
  return itemsOf(proxies ?? older);
}
