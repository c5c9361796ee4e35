/** A config as a link again, in the form that most clients read. Reading it yields the same config. */
import { isEncodedAgain } from "./link.ts";
import type { NamedConfig, Obfs, Plugin, PortRange, ProxyConfig, Security, Transport } from "./proxy-config.ts";

type Pairs = Record<string, string>;

export function writeLink({ config, name }: Pick<NamedConfig, "config" | "name">): string {
  const { account } = config;
  const pairs = { ...transportPairs(config.transport), ...securityPairs(config.security) };
  switch (account.protocol) {
    case "vless": {
      const more = { encryption: account.encryption, flow: account.flow, ...pairs, ...packingPairs(config) };
      return link("vless", account.uuid, config, more, name);
    }
    case "vmess":
      return vmessLink(config, { ...pairs, ...packingPairs(config) }, name);
    case "trojan":
      return link("trojan", encodeURIComponent(account.password), config, pairs, name);
    case "shadowsocks": {
      const user = `${account.method}:${account.password}`;
      const isPlain = account.method.startsWith("2022-");
      const plugin = account.plugin === null ? "" : pluginText(account.plugin);
      const more = { ...pairs, plugin, uot: account.isUdpOverTcp ? "1" : "" };
      return link("ss", isPlain ? encoded(user) : Buffer.from(user).toString("base64url"), config, more, name);
    }
    case "hysteria2": {
      const interval = account.hopIntervalS === null ? "" : String(account.hopIntervalS);
      const hops = account.hops.map(rangeText).join(",");
      const more = {
        mport: hops,
        "hop-interval": interval,
        ...obfsPairs(account.obfs),
        ...securityPairs(config.security),
      };
      return link("hysteria2", encodeURIComponent(account.password), config, more, name);
    }
    case "tuic": {
      const more = {
        congestion_control: account.congestion,
        udp_relay_mode: account.udpRelay,
        reduce_rtt: account.isZeroRtt ? "1" : "",
        heartbeat: account.heartbeatMs === null ? "" : String(account.heartbeatMs),
        ...securityPairs(config.security),
      };
      return link("tuic", `${account.uuid}:${encodeURIComponent(account.password)}`, config, more, name);
    }
  }
}

function link(scheme: string, user: string, { host, port }: ProxyConfig, pairs: Pairs, name: string | null): string {
  const query = Object.entries(pairs)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => `${key}=${written(key, value)}`);
  const server = host.includes(":") ? `[${host}]` : host;
  return `${scheme}://${user}@${server}:${port}${query.length === 0 ? "" : `?${query.join("&")}`}${fragment(name)}`;
}

/** What would be decoded twice is encoded twice. */
function written(key: string, value: string): string {
  const once = encodeURIComponent(value);
  return isEncodedAgain(key, value) ? encodeURIComponent(once) : once;
}

function fragment(name: string | null): string {
  return name === null ? "" : `#${encodeURIComponent(wellFormed(name))}`;
}

/** encodeURIComponent throws for lone surrogates, which an untrusted name may hold. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}

function encoded(user: string): string {
  const colon = user.indexOf(":");
  return `${user.slice(0, colon)}:${encodeURIComponent(user.slice(colon + 1))}`;
}

/** v2rayN's JSON in base64: more clients read it than the address form. */
function vmessLink({ host, port, account }: ProxyConfig, pairs: Pairs, name: string | null): string {
  if (account.protocol !== "vmess") return "";
  const { type, security, headerType, mode, serviceName, authority, seed, ...rest } = pairs;
  const json = {
    v: "2",
    ps: name ?? "",
    add: host,
    port: String(port),
    id: account.uuid,
    aid: String(account.alterId),
    scy: account.cipher,
    net: type === "http" ? "h2" : type,
    type: headerType ?? mode ?? "none",
    tls: security === "none" ? "" : security,
    ...rest,
    host: authority ?? rest.host ?? "",
    path: serviceName ?? seed ?? rest.path ?? "",
  };
  return `vmess://${Buffer.from(JSON.stringify(json)).toString("base64")}`;
}

function packingPairs({ packetEncoding }: ProxyConfig): Pairs {
  return packetEncoding === "xudp" ? {} : { packetEncoding };
}

function securityPairs(security: Security): Pairs {
  if (security.kind === "none") return { security: "none" };
  if (security.kind === "reality") {
    return {
      security: "reality",
      sni: security.sni,
      fp: security.fingerprint,
      pbk: security.publicKey,
      sid: security.shortId,
      pqv: security.mldsa65 ?? "",
    };
  }
  return {
    security: "tls",
    sni: security.sni ?? "",
    alpn: security.alpn.join(","),
    fp: security.fingerprint ?? "",
    insecure: security.isInsecure ? "1" : "",
    disable_sni: security.hasNoSni ? "1" : "",
    pinSHA256: security.pins.join(","),
    vcn: security.verifyNames.join(","),
    ech: security.ech ?? "",
  };
}

function transportPairs(transport: Transport): Pairs {
  switch (transport.type) {
    case "raw": {
      const { header } = transport;
      const more = { headerType: "http", host: header?.hosts.join(",") ?? "", path: header?.paths.join(",") ?? "" };
      return { type: "tcp", ...(header !== null && more) };
    }
    case "ws":
      return {
        type: "ws",
        host: transport.host,
        path: transport.path,
        ed: transport.earlyDataBytes === 0 ? "" : String(transport.earlyDataBytes),
        eh: transport.earlyDataHeader === "Sec-WebSocket-Protocol" ? "" : transport.earlyDataHeader,
      };
    case "httpupgrade":
      return { type: "httpupgrade", host: transport.host, path: transport.path };
    case "grpc": {
      const { serviceName, authority, isMulti } = transport;
      return { type: "grpc", serviceName, authority, mode: isMulti ? "multi" : "gun" };
    }
    case "xhttp": {
      const hasExtra = Object.keys(transport.extra).length > 0;
      const { host, path, mode } = transport;
      return { type: "xhttp", host, path, mode, extra: hasExtra ? JSON.stringify(transport.extra) : "" };
    }
    case "kcp":
      return {
        type: "kcp",
        headerType: transport.header,
        seed: transport.seed,
        mtu: transport.mtu === null ? "" : String(transport.mtu),
        tti: transport.ttiMs === null ? "" : String(transport.ttiMs),
      };
    case "http":
      return { type: "http", path: transport.path, host: transport.hosts.join(",") };
    case "quic":
      return { type: "quic" };
  }
}

function obfsPairs(obfs: Obfs | null): Pairs {
  if (obfs === null) return {};
  const [least, most] = obfs.sizesBytes ?? [];
  return {
    obfs: obfs.type,
    "obfs-password": obfs.password,
    minPacketSize: least === undefined ? "" : String(least),
    maxPacketSize: most === undefined ? "" : String(most),
  };
}

function rangeText([from, to]: PortRange): string {
  return from === to ? String(from) : `${from}-${to}`;
}

/** SIP003: the plugin and its options. */
function pluginText(plugin: Plugin): string {
  return `${plugin.name};${pluginOptions(plugin)}`;
}

/** `\` stands before a mark that is meant. */
export function pluginOptions(plugin: Plugin): string {
  const marked = (text: string): string => text.replace(/[\\;=,:]/g, "\\$&");
  if (plugin.name === "obfs-local") {
    return [`obfs=${plugin.mode}`, ...(plugin.host === "" ? [] : [`obfs-host=${marked(plugin.host)}`])].join(";");
  }
  return [
    `mode=${plugin.mode}`,
    ...(plugin.hasTls ? ["tls"] : []),
    ...(plugin.host === "" ? [] : [`host=${marked(plugin.host)}`]),
    `path=${marked(plugin.path)}`,
    `mux=${plugin.mux}`,
  ].join(";");
}
