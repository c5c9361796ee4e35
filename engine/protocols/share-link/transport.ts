/** How a config is carried: each transport with its own fields, checked. */

import { TunnelConfigError } from "../../contract/tunnel.ts";
import { literalOf } from "../../net/literal.ts";
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
const MAX_EARLY_DATA_BYTES = 65_536;
const EARLY_DATA_HEADER = "Sec-WebSocket-Protocol";
const MAX_HOSTS = 16;

/** @throws TunnelConfigError */
export function transportOf(protocol: ProxyProtocol, server: string, parameters: Parameters): Transport {
  if (OWN_CARRIER.has(protocol)) return { type: "raw", header: null };
  const word = wordOf(paramOf(parameters, "type", "network", "net"));
  const type = Object.hasOwn(TYPES, word) ? TYPES[word] : undefined;
  if (type === undefined)
    throw refuse("type", "must be a transport: tcp, ws, httpupgrade, grpc, xhttp, kcp, http, quic");
  switch (type) {
    case "raw":
      return { type, header: rawHeaderOf(parameters) };
    case "ws":
      return wsOf(hostOrName(server, parameters), parameters);
    case "httpupgrade":
      return { type, host: hostOrName(server, parameters), path: wsOf("", parameters).path };
    case "grpc":
      return grpcOf(parameters);
    case "xhttp":
      return {
        type,
        host: hostOrName(server, parameters),
        path: pathOf(paramOf(parameters, "path"), "path"),
        ...xhttpOf(parameters),
      };
    case "kcp":
      return kcpOf(parameters);
    case "http":
      return { type, path: pathOf(paramOf(parameters, "path"), "path"), hosts: hostsOf(parameters) };
    case "quic":
      return quicOf(parameters);
  }
}

/** What the carrier sends as Host. */
export function hostHeader(transport: Transport): string {
  if (transport.type === "http") return transport.hosts[0] ?? "";
  return "host" in transport ? transport.host : "";
}

/** The Host header, then the name for TLS, then the server, as every client does. */
function hostOrName(server: string, parameters: Parameters): string {
  const header =
    hostHeaderOf(paramOf(parameters, "host", "wshost", "obfsparam"), "host") ||
    hostHeaderOf(paramOf(parameters, "sni", "peer", "servername"), "host");
  if (header !== "") return header;
  return literalOf(server)?.family === 6 ? `[${server}]` : server;
}

function hostsOf(parameters: Parameters): readonly string[] {
  const hosts = listOf(paramOf(parameters, "host", "obfsparam"));
  if (hosts.length > MAX_HOSTS) throw refuse("host", `has more than ${MAX_HOSTS} names`);
  return hosts.map((host) => hostHeaderOf(host, "host"));
}

function rawHeaderOf(parameters: Parameters) {
  const header = wordOf(paramOf(parameters, "headertype"));
  if (header === "" || header === "none") return null;
  if (header !== "http") throw refuse("headerType", "must be none or http for tcp");
  const paths = listOf(paramOf(parameters, "path"));
  if (paths.length > MAX_HOSTS) throw refuse("path", `has more than ${MAX_HOSTS} paths`);
  return {
    hosts: hostsOf(parameters),
    paths: (paths.length === 0 ? ["/"] : paths).map((path) => pathOf(path, "path")),
  };
}

/** `?ed=2048` in the path, or on its own. */
function wsOf(host: string, parameters: Parameters): Extract<Transport, { type: "ws" }> {
  const { path, early } = splitEarly(pathOf(paramOf(parameters, "path", "wspath", "obfspath"), "path"));
  const amount = early === "" ? paramOf(parameters, "ed") : early;
  const header = paramOf(parameters, "eh");
  if (header !== "" && !/^[A-Za-z0-9-]{1,64}$/.test(header)) throw refuse("eh", "must be the name of a header");
  return {
    type: "ws",
    host,
    path,
    earlyDataBytes: amount === "" ? 0 : numberOf(amount, "ed", 0, MAX_EARLY_DATA_BYTES),
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

function grpcOf(parameters: Parameters): Transport {
  const mode = wordOf(paramOf(parameters, "mode"));
  if (mode !== "" && mode !== "gun" && mode !== "guna" && mode !== "multi")
    throw refuse("mode", "must be gun or multi for grpc");
  return {
    type: "grpc",
    serviceName: lineOf(paramOf(parameters, "servicename", "path"), "serviceName"),
    authority: hostHeaderOf(paramOf(parameters, "authority"), "authority"),
    isMulti: mode === "multi",
  };
}

/** Bounds as in xray (infra/conf, KCPConfig). */
function kcpOf(parameters: Parameters): Transport {
  const mtu = paramOf(parameters, "mtu");
  const tti = paramOf(parameters, "tti");
  return {
    type: "kcp",
    header: oneOf(paramOf(parameters, "headertype") || "none", KCP_HEADERS, "headerType"),
    seed: lineOf(paramOf(parameters, "seed"), "seed", 256),
    mtu: mtu === "" ? null : numberOf(mtu, "mtu", 576, 1_460),
    ttiMs: tti === "" ? null : numberOf(tti, "tti", 10, 100),
  };
}

function quicOf(parameters: Parameters): Transport {
  if (
    !["", "none"].includes(paramOf(parameters, "quicsecurity")) ||
    !["", "none"].includes(paramOf(parameters, "headertype"))
  ) {
    throw new TunnelConfigError("quicSecurity and headerType of quic are in no core any more");
  }
  return { type: "quic" };
}
