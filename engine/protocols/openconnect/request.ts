/** The requests of a login and of CONNECT, as AnyConnect clients send them (draft-mavrogiannopoulos-openconnect-04 section 2.1). Pure. */
import type { HttpRequest } from "./http.ts";
import { escapeXml, type XmlElement } from "./xml.ts";

/** Servers of Cisco, and proxies in front of other servers, refuse any other user agent. */
const AGENT = "Open AnyConnect VPN Agent v9.01";
const VERSION = "v9.01";
const PLATFORM = "linux-64";
/** What our packets fit into; questions through the tunnel are below 200 bytes. */
const BASE_MTU_BYTES = 1_500;
const MTU_BYTES = 1_400;

export interface Init {
  /** `host` or `host:port`, as in a URL. */
  readonly authority: string;
  /** Path and query as the configuration has them: a query is the secret of ocserv's camouflage. */
  readonly target: string;
  readonly group: string | null;
  /** Says that a certificate was asked for and there is none. */
  readonly hasNoCertificate: boolean;
}

export function initRequest({ authority, target, group, hasNoCertificate }: Init, cookies: string): HttpRequest {
  const select = group === null ? "" : `<group-select>${escapeXml(group)}</group-select>`;
  const failed = hasNoCertificate ? "<client-cert-fail/>" : "";
  const access = `<group-access>${escapeXml(`https://${authority}${target}`)}</group-access>`;
  return post(authority, target, cookies, "init", `${access}${select}${failed}`);
}

export interface Reply {
  readonly authority: string;
  readonly target: string;
  readonly opaque: XmlElement | null;
  /** By the form's names. */
  readonly values: readonly (readonly [name: string, value: string])[];
  readonly group: string | null;
}

export function replyRequest({ authority, target, opaque, values, group }: Reply, cookies: string): HttpRequest {
  const fields = values.map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`).join("");
  const select = group === null ? "" : `<group-select>${escapeXml(group)}</group-select>`;
  const echoed = opaque === null ? "" : written(opaque);
  return post(authority, target, cookies, "auth-reply", `${echoed}<auth>${fields}</auth>${select}`);
}

/** The request for servers older than the XML protocol: a page whose body is the login form; any client may ask for it. */
export function pageRequest(authority: string, target: string, cookies: string): HttpRequest {
  return { method: "GET", target, headers: common(authority, cookies), body: "" };
}

/** To such a server: its form, filled in as a browser would. */
export function formRequest(
  { authority, target, values }: Omit<Reply, "opaque" | "group">,
  cookies: string,
): HttpRequest {
  return {
    method: "POST",
    target,
    headers: [...common(authority, cookies), ["Content-Type", "application/x-www-form-urlencoded"]],
    body: new URLSearchParams(values.map(([name, value]): [string, string] => [name, value])).toString(),
  };
}

/** Asks for the tunnel; no compression, and no DTLS beside it. */
export function connectRequest(authority: string, cookies: string): HttpRequest {
  return {
    method: "CONNECT",
    target: "/CSCOSSLC/tunnel",
    headers: [
      ["Host", authority],
      ["User-Agent", AGENT],
      ["Cookie", cookies],
      ["X-CSTP-Version", "1"],
      ["X-CSTP-Hostname", "localhost"],
      ["X-CSTP-Base-MTU", String(BASE_MTU_BYTES)],
      ["X-CSTP-MTU", String(MTU_BYTES)],
      ["X-CSTP-Address-Type", "IPv6,IPv4"],
      ["X-CSTP-Full-IPv6-Capability", "true"],
    ],
    body: "",
  };
}

/** Without X-Support-HTTP-Auth, which makes servers offer Kerberos before their forms. */
function post(
  authority: string,
  target: string,
  cookies: string,
  type: "init" | "auth-reply",
  inner: string,
): HttpRequest {
  const client = `<version who="vpn">${VERSION}</version><device-id>${PLATFORM}</device-id>`;
  return {
    method: "POST",
    target,
    headers: [
      ...common(authority, cookies),
      ["X-Transcend-Version", "1"],
      ["X-Aggregate-Auth", "1"],
      ["X-AnyConnect-Platform", PLATFORM],
      ["Content-Type", "application/xml; charset=utf-8"],
    ],
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<config-auth client="vpn" type="${type}" aggregate-auth-version="2">${client}${inner}</config-auth>`,
  };
}

function common(authority: string, cookies: string): HttpRequest["headers"] {
  return [
    ["Host", authority],
    ["User-Agent", AGENT],
    ["Accept", "*/*"],
    ["Accept-Encoding", "identity"],
    ...(cookies === "" ? [] : ([["Cookie", cookies]] as const)),
  ];
}

/** What we have read, in the same words. */
function written({ name, attributes, children, text }: XmlElement): string {
  const pairs = [...attributes].map(([key, value]) => ` ${key}="${escapeXml(value)}"`).join("");
  return `<${name}${pairs}>${escapeXml(text)}${children.map(written).join("")}</${name}>`;
}
