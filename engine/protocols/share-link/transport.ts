/** How a config is carried: each transport with its own fields, checked. */

import { literalOf } from "../../transport/literal.ts";
import { TunnelConfigError } from "../../tunnel.ts";
import {
  atFirst,
  hostHeaderOf,
  lineOf,
  listOf,
  numberOf,
  oneOf,
  type Parameters,
  paramOf,
  pathOf,
  refuse,
  wordOf,
} from "./field.ts";
import { KCP_HEADERS, type ProxyProtocol, type Transport } from "./proxy-config.ts";
import { xhttpOf } from "./xhttp.ts";

const TYPES: Readonly<Record<string, Transport["type"]>> = {
  "": "raw",
  tcp: "raw",
  raw: "raw",
  none: "raw",
  original: "raw",
  ws: "ws",
  websocket: "ws",
  httpupgrade: "httpupgrade",
  grpc: "grpc",
  gun: "grpc",
  xhttp: "xhttp",
  splithttp: "xhttp",
  kcp: "kcp",
  mkcp: "kcp",
  http: "http",
  h2: "http",
  quic: "quic",
};

/** QUIC carries them itself. */
const OWN_CARRIER: ReadonlySet<ProxyProtocol> = new Set(["hysteria2", "tuic"]);
/** Both cores keep early data in a header. */
const MOST_EARLY_DATA_BYTES = 65_536;
const EARLY_DATA_HEADER = "Sec-WebSocket-Protocol";
const MOST_HOSTS = 16;

/** @throws TunnelConfigError */
export function transportOf(protocol: ProxyProtocol, server: string, given: Parameters): Transport {
  if (OWN_CARRIER.has(protocol)) return { type: "raw", header: null };
  const word = wordOf(paramOf(given, "type", "network", "net"));
  const type = Object.hasOwn(TYPES, word) ? TYPES[word] : undefined;
  if (type === undefined)
    throw refuse("type", "must be a transport: tcp, ws, httpupgrade, grpc, xhttp, kcp, http, quic");
  switch (type) {
    case "raw":
      return { type, header: rawHeaderOf(given) };
    case "ws":
      return wsOf(hostOrName(server, given), given);
    case "httpupgrade":
      return { type, host: hostOrName(server, given), path: wsOf("", given).path };
    case "grpc":
      return grpcOf(given);
    case "xhttp":
      return { type, host: hostOrName(server, given), path: pathOf(paramOf(given, "path"), "path"), ...xhttpOf(given) };
    case "kcp":
      return kcpOf(given);
    case "http":
      return { type, path: pathOf(paramOf(given, "path"), "path"), hosts: hostsOf(given) };
    case "quic":
      return quicOf(given);
  }
}

/** What the carrier sends as Host. */
export function hostHeader(transport: Transport): string {
  if (transport.type === "http") return transport.hosts[0] ?? "";
  return "host" in transport ? transport.host : "";
}

/** The Host header, then the name for TLS, then the server, as every client does. */
function hostOrName(server: string, given: Parameters): string {
  const header =
    hostHeaderOf(paramOf(given, "host", "wshost", "obfsparam"), "host") ||
    hostHeaderOf(paramOf(given, "sni", "peer", "servername"), "host");
  if (header !== "") return header;
  return literalOf(server)?.family === 6 ? `[${server}]` : server;
}

function hostsOf(given: Parameters): readonly string[] {
  const hosts = listOf(paramOf(given, "host", "obfsparam"));
  if (hosts.length > MOST_HOSTS) throw refuse("host", `has more than ${MOST_HOSTS} names`);
  return hosts.map((host) => hostHeaderOf(host, "host"));
}

function rawHeaderOf(given: Parameters) {
  const header = wordOf(paramOf(given, "headertype"));
  if (header === "" || header === "none") return null;
  if (header !== "http") throw refuse("headerType", "must be none or http for tcp");
  const paths = listOf(paramOf(given, "path"));
  if (paths.length > MOST_HOSTS) throw refuse("path", `has more than ${MOST_HOSTS} paths`);
  return { hosts: hostsOf(given), paths: (paths.length === 0 ? ["/"] : paths).map((path) => pathOf(path, "path")) };
}

/** `?ed=2048` in the path, or on its own. */
function wsOf(host: string, given: Parameters): Extract<Transport, { type: "ws" }> {
  const { path, early } = splitEarly(pathOf(paramOf(given, "path", "wspath", "obfspath"), "path"));
  const amount = early === "" ? paramOf(given, "ed") : early;
  const header = paramOf(given, "eh");
  if (header !== "" && !/^[A-Za-z0-9-]{1,64}$/.test(header)) throw refuse("eh", "must be the name of a header");
  return {
    type: "ws",
    host,
    path,
    earlyDataBytes: amount === "" ? 0 : numberOf(amount, "ed", 0, MOST_EARLY_DATA_BYTES),
    earlyDataHeader: header === "" ? EARLY_DATA_HEADER : header,
  };
}

/** The first `ed` of a path's query, and the path without any; its other keys stay. */
function splitEarly(written: string): { readonly path: string; readonly early: string } {
  if (!written.includes("ed=")) return { path: written, early: "" };
  const [path, query] = atFirst(written, "?");
  const parts = query.split("&");
  const early = parts.find((part) => part.startsWith("ed="));
  if (early === undefined) return { path: written, early: "" };
  const rest = parts.filter((part) => part !== "" && !part.startsWith("ed="));
  return { path: rest.length === 0 ? path : `${path}?${rest.join("&")}`, early: early.slice(3) };
}

function grpcOf(given: Parameters): Transport {
  const mode = wordOf(paramOf(given, "mode"));
  if (mode !== "" && mode !== "gun" && mode !== "guna" && mode !== "multi")
    throw refuse("mode", "must be gun or multi for grpc");
  return {
    type: "grpc",
    serviceName: lineOf(paramOf(given, "servicename", "path"), "serviceName"),
    authority: hostHeaderOf(paramOf(given, "authority"), "authority"),
    isMulti: mode === "multi",
  };
}

/** Bounds as in xray (infra/conf, KCPConfig). */
function kcpOf(given: Parameters): Transport {
  const mtu = paramOf(given, "mtu");
  const tti = paramOf(given, "tti");
  return {
    type: "kcp",
    header: oneOf(paramOf(given, "headertype") || "none", KCP_HEADERS, "headerType"),
    seed: lineOf(paramOf(given, "seed"), "seed", 256),
    mtu: mtu === "" ? null : numberOf(mtu, "mtu", 576, 1_460),
    ttiMs: tti === "" ? null : numberOf(tti, "tti", 10, 100),
  };
}

function quicOf(given: Parameters): Transport {
  if (!["", "none"].includes(paramOf(given, "quicsecurity")) || !["", "none"].includes(paramOf(given, "headertype"))) {
    throw new TunnelConfigError("quicSecurity and headerType of quic are in no core any more");
  }
  return { type: "quic" };
}
