/** How a config is carried: each transport with its own fields, checked. */

import { TunnelConfigError } from "../../contract/tunnel.ts";
import { literalOf } from "../../net/literal.ts";
import {
  atFirst,
  hostHeaderOf,
  hostOfHeaders,
  type Ignore,
  lineOf,
  listOf,
  numberOf,
  oneOf,
  type Parameters,
  paramOf,
  pathOf,
  plainHostHeader,
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
export function transportOf(
  protocol: ProxyProtocol,
  server: string,
  parameters: Parameters,
  ignore: Ignore,
): Transport {
  if (OWN_CARRIER.has(protocol)) return { type: "raw", header: null };
  const word = wordOf(paramOf(parameters, "type", "network", "net"));
  const type = Object.hasOwn(TYPES, word) ? TYPES[word] : undefined;
  if (type === undefined)
    throw refuse("type", "must be a transport: tcp, ws, httpupgrade, grpc, xhttp, kcp, http, quic");
  switch (type) {
    case "raw":
      return { type, header: rawHeaderOf(parameters, ignore) };
    case "ws":
      return wsOf(hostOrName(server, parameters, ignore), parameters, ignore);
    case "httpupgrade":
      return { type, host: hostOrName(server, parameters, ignore), path: wsOf("", parameters, ignore).path };
    case "grpc":
      return grpcOf(parameters, ignore);
    case "xhttp":
      return {
        type,
        host: hostOrName(server, parameters, refuseOddHost),
        path: pathOf(paramOf(parameters, "path"), "path"),
        ...xhttpOf(parameters),
      };
    case "kcp":
      return kcpOf(parameters);
    case "http":
      return { type, path: pathOf(paramOf(parameters, "path"), "path"), hosts: hostsOf(parameters, ignore) };
    case "quic":
      return quicOf(parameters);
  }
}

/** What the carrier sends as Host. */
export function hostHeader(transport: Transport): string {
  if (transport.type === "http") return transport.hosts[0] ?? "";
  return "host" in transport ? transport.host : "";
}

/** xray makes an address of it, and dies where that is none. */
function refuseOddHost(field: string): never {
  throw refuse(field, "must be a name or an address over xhttp");
}

/** The Host header, then the name for TLS, then the server, as every client does. */
function hostOrName(server: string, parameters: Parameters, ignore: Ignore): string {
  const written = paramOf(parameters, "host", "wshost", "obfsparam");
  const header = hostHeaderOf(hostOfHeaders(written), "host", ignore);
  if (header !== "") return header;
  const [first = ""] = listOf(paramOf(parameters, "sni", "peer", "servername"));
  const name = plainHostHeader(first);
  if (name !== undefined) return name;
  return literalOf(server)?.family === 6 ? `[${server}]` : server;
}

function hostsOf(parameters: Parameters, ignore: Ignore): readonly string[] {
  const hosts = listOf(hostOfHeaders(paramOf(parameters, "host", "obfsparam")));
  if (hosts.length > MAX_HOSTS) throw refuse("host", `has more than ${MAX_HOSTS} names`);
  return hosts.map((host) => hostHeaderOf(host, "host", ignore));
}

/** Clients know one header of TCP, and take any other word for none. */
function rawHeaderOf(parameters: Parameters, ignore: Ignore) {
  const header = wordOf(paramOf(parameters, "headertype"));
  if (header !== "" && header !== "none" && header !== "http")
    ignore("headerType", "is left out: tcp has none and http");
  if (header !== "http") return null;
  const paths = listOf(paramOf(parameters, "path"));
  if (paths.length > MAX_HOSTS) throw refuse("path", `has more than ${MAX_HOSTS} paths`);
  return {
    hosts: hostsOf(parameters, ignore),
    paths: (paths.length === 0 ? ["/"] : paths).map((path) => pathOf(path, "path")),
  };
}

/** `?ed=2048` in the path, or on its own. */
function wsOf(host: string, parameters: Parameters, ignore: Ignore): Extract<Transport, { type: "ws" }> {
  const { path, early } = splitEarly(pathOf(paramOf(parameters, "path", "wspath", "obfspath"), "path"));
  const amount = early === "" ? paramOf(parameters, "ed") : early;
  const written = paramOf(parameters, "eh");
  const header = /^[A-Za-z0-9-]{1,64}$/.test(written) ? written : EARLY_DATA_HEADER;
  if (written !== "" && header !== written) ignore("eh", "is no name of a header, and is left out");
  return {
    type: "ws",
    host,
    path,
    earlyDataBytes: earlyDataOf(amount, ignore),
    earlyDataHeader: header,
  };
}

/** A server takes a client without early data as well: xray sends none where it cannot read the number (infra/conf, WebSocketConfig.Build). */
function earlyDataOf(text: string, ignore: Ignore): number {
  if (text === "") return 0;
  const bytes = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (bytes <= MAX_EARLY_DATA_BYTES) return bytes;
  ignore("ed", `is no number from 0 to ${MAX_EARLY_DATA_BYTES}: no early data is sent`);
  return 0;
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

/** Clients take any mode but multi for gun. */
function grpcOf(parameters: Parameters, ignore: Ignore): Transport {
  const mode = wordOf(paramOf(parameters, "mode"));
  if (!["", "none", "gun", "guna", "multi"].includes(mode)) ignore("mode", "is neither gun nor multi: gun is taken");
  return {
    type: "grpc",
    serviceName: lineOf(paramOf(parameters, "servicename", "path"), "serviceName"),
    authority: hostHeaderOf(paramOf(parameters, "authority"), "authority", ignore),
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
