/**
 * vmess:// links in their five forms: base64 of JSON (v2rayN), an address with parameters (XTLS/Xray-core discussion 716), v2fly's
 * `net+tls:uuid-alterId@…`, base64 of `cipher:uuid@host:port` (Shadowrocket), and Quantumult's line.
 */

import { isFields } from "../../../model/plain-values.ts";
import { type ParsedTunnel, TunnelConfigError, type TunnelFields } from "../../contract/tunnel.ts";
import { parseHost, parsePort } from "../endpoint.ts";
import { atFirst, hostOfHeaders } from "../share-link/field.ts";
import {
  base64Text,
  bodyOf,
  cutLink,
  foldedName,
  nameOf,
  parametersOf,
  portOf,
  requireReadable,
  requireUserId,
  type ShareLink,
  splitAddress,
} from "../share-link/link.ts";
import { tunnelOf } from "../share-link/tunnel.ts";

const SCHEMES = ["vmess"];

/** @throws TunnelConfigError */
export function parseVmess(fields: TunnelFields): ParsedTunnel {
  return tunnelOf(fields, parseVmessLink);
}

/** @throws TunnelConfigError */
export function parseVmessLink(link: string): ShareLink {
  const body = bodyOf(link, SCHEMES);
  const { whole, query, fragment } = cutLink(body, (text) => base64Text(text.endsWith("/") ? text.slice(0, -1) : text));
  if (whole === undefined) {
    requireReadable(body);
    return fromAddress(body);
  }
  const inner = whole.trim();
  const parameters = parametersOf(query ?? "");
  const name = nameOf(fragment, parameters);
  if (inner.startsWith("{")) return fromJson(inner, name);
  if (/=\s*vmess/i.test(inner)) return fromQuantumult(inner);
  const address = splitAddress(inner);
  const [, cipher = "auto", id = address.user] = /^([^:]*):(.*)$/s.exec(address.user) ?? [];
  const more = new Map([...parameters, ["encryption", cipher]]);
  return linkOf(id, address.host, portOf(address.port, null), more, name);
}

function linkOf(
  userId: string,
  host: string,
  port: number,
  parameters: ReadonlyMap<string, string>,
  name: string | null,
): ShareLink {
  return {
    protocol: "vmess",
    host,
    port,
    ports: [[port, port]],
    credential: { uuid: requireUserId(userId) },
    parameters,
    name,
  };
}

/** An address with the bare id, or v2fly's `<net>[+tls]:<uuid>-<alterId>`. */
function fromAddress(body: string): ShareLink {
  const { user, host, port, parameters, name } = splitAddress(body);
  const [, net, id, alterId] = /^([a-z0-9+]+):(.+?)(?:-(\d+))?$/is.exec(user) ?? [];
  const [type = "", layer = "none"] = net?.split("+") ?? [];
  const transportFields = [
    ["type", type],
    ["security", layer],
    ["aid", alterId ?? "0"],
  ] as const;
  const more = net === undefined ? parameters : new Map([...parameters, ...transportFields]);
  return linkOf(id ?? user, host, portOf(port, null), more, name);
}

function fromJson(text: string, name: string | null): ShareLink {
  const values = valuesOf(text);
  const host = values.get("add") ?? values.get("address") ?? values.get("host") ?? "";
  if (host.trim() === "") throw new TunnelConfigError("the link has no server");
  const port = parsePort(values.get("port") ?? "", "the link's port");
  return linkOf(
    values.get("id") ?? "",
    parseHost(host, "the link's server"),
    port,
    standardNames(values),
    name ?? nameOf(null, values),
  );
}

/**
 * v2rayN's members by the names of the address form: its `type` is a header or a mode, its `path` and `host` depend on the carrier.
 * @param all changed in place
 */
function standardNames(all: Map<string, string>): ReadonlyMap<string, string> {
  const of = (name: string): string => all.get(name) ?? "";
  const net = of("net").toLowerCase() || "tcp";
  const isGrpc = net === "grpc" || net === "gun";
  // Before version 2 the path stood behind the host.
  const [host, oldPath] = of("v") === "2" ? [of("host"), ""] : atFirst(of("host"), ";");
  const path = of("path") || oldPath;
  const tls = of("tls").toLowerCase();
  const security = of("security").toLowerCase();
  const hasCipher = security !== "tls" && security !== "reality" && security !== "none";
  const isHttp = net.endsWith("http");
  const isKcp = net.endsWith("kcp");
  const type = of("type");
  const mode = of("mode") || (isGrpc || isHttp ? type : "");
  all.set("type", net);
  all.set("encryption", of("scy") || of("cipher") || (hasCipher ? security : ""));
  all.set("security", TLS_WORDS[tls] ?? (tls || (hasCipher ? "none" : security)));
  all.set("headertype", of("headertype") || (isGrpc || isHttp ? "" : type));
  all.set("mode", /^none$/i.test(mode) ? "" : mode);
  if (isGrpc) {
    all.set("servicename", of("servicename") || path);
    all.set("authority", of("authority") || host);
    all.set("host", "");
    return all;
  }
  all.set("host", hostOfHeaders(host));
  all.set("path", isKcp ? "" : path);
  if (isKcp) all.set("seed", of("seed") || path);
  return all;
}

/** Of the member `tls`, which may be a flag or a number. */
const TLS_WORDS: Readonly<Record<string, string>> = { "1": "tls", true: "tls", "0": "none", false: "none" };

/** Own members as texts, lists joined; what exporters break in JSON (trailing commas, raw control characters) is mended first. */
function valuesOf(text: string): Map<string, string> {
  const parsed = parseLenient(text);
  if (!isFields(parsed)) throw new TunnelConfigError("the link's base64 holds no JSON object");
  const values = new Map<string, string>();
  for (const [key, value] of Object.entries(parsed)) {
    if (value !== null && value !== undefined) values.set(foldedName(key), textOf(value));
  }
  return values;
}

function textOf(value: unknown): string {
  if (typeof value !== "object") return String(value);
  return Array.isArray(value) ? value.map(String).join(",") : JSON.stringify(value);
}

function parseLenient(text: string): unknown {
  for (const mend of READINGS) {
    try {
      return JSON.parse(mend(text));
    } catch {
      // The next, more lenient reading.
    }
  }
  throw new TunnelConfigError("the link's base64 holds no JSON that can be read");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what JSON forbids within texts
const mended = (text: string): string => text.replace(/[\u0000-\u001f]/g, " ").replace(/,\s*([}\]])/g, "$1");
const READINGS = [(text: string) => text, mended, (text: string) => mended(text).replaceAll("'", '"')];

/** `name = vmess, host, port, cipher, "uuid", key=value …` */
function fromQuantumult(line: string): ShareLink {
  const [label = "", rest = ""] = line.split(/=(.*)/s);
  const [, host = "", port = "", cipher = "", id = "", ...options] = rest.split(",").map((part) => part.trim());
  // No form wrote this line: its `+` is a plus.
  const parameters = parametersOf([`encryption=${cipher}`, ...options].join("&").replaceAll("+", "%2B"));
  const name = label.trim() === "" ? null : label.trim();
  return linkOf(
    id.replaceAll('"', ""),
    parseHost(host, "the link's server"),
    parsePort(port, "the link's port"),
    parameters,
    name,
  );
}
