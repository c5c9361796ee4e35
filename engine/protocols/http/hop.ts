/** One request of a website check: where it goes and its bytes, made once from a URL. */

import { isIP } from "node:net";
import { parseUrl, withoutBrackets } from "../../../model/url.ts";

/** RFC 9110 section 15.4: the codes that send a GET elsewhere. 300 leaves the choice to a person, 304 answers a condition we never set. */
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const USER_AGENT = "Mozilla/5.0 (compatible; Sonde/0.1; uptime check)";

export interface Hop {
  readonly url: URL;
  /** Name in its ASCII form, or an address literal without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** For SNI and the certificate check; empty for address literals (RFC 6066 section 3). */
  readonly servername: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole HTTP/1.1 request. */
  readonly request: Buffer;
  /** For people: without userinfo, query and fragment, which may hold secrets. */
  readonly shown: string;
}

/** @param credentials `user:password` for Basic authentication; those in the URL itself when omitted */
export function hopTo(url: URL, acceptEncoding: string, credentials = credentialsOf(url)): Hop {
  const host = withoutBrackets(url.hostname);
  const tls = url.protocol === "https:";
  const target = targetOf(url);
  const headers: Record<string, string> = {
    host: url.host,
    "user-agent": USER_AGENT,
    accept: "*/*",
    "accept-encoding": acceptEncoding,
    ...(credentials === null ? {} : { authorization: `Basic ${Buffer.from(credentials, "utf8").toString("base64")}` }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${titled(name)}: ${value}\r\n`);
  return {
    url,
    host,
    port: url.port === "" ? (tls ? 443 : 80) : Number(url.port),
    tls,
    // A name's final dot stays in Host and never goes into SNI (RFC 6066 section 3).
    servername: isIP(host) === 0 ? host.replace(/\.$/, "") : "",
    target,
    headers,
    request: Buffer.from(`GET ${target} HTTP/1.1\r\n${lines.join("")}Connection: close\r\n\r\n`, "latin1"),
    shown: `${url.protocol}//${url.host}${url.pathname}`,
  };
}

/** http or https with a host; undefined for anything else. */
export function parseWebUrl(text: string, base?: URL): URL | undefined {
  const url = parseUrl(text, base);
  if (url === undefined) return undefined;
  return (url.protocol === "http:" || url.protocol === "https:") && url.hostname !== "" ? url : undefined;
}

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/**
 * The next hop after a redirect; undefined when its Location leads nowhere we go.
 * Credentials go on only to the same origin, and a Location cannot bring its own.
 */
export function redirectedHop(from: Hop, location: string, acceptEncoding: string): Hop | undefined {
  // Header bytes above ASCII are UTF-8 in practice (WHATWG fetch, "location URL").
  const url = parseWebUrl(Buffer.from(location, "latin1").toString("utf8"), from.url);
  if (url === undefined) return undefined;
  const credentials = url.origin === from.url.origin ? credentialsOf(from.url) : null;
  url.username = "";
  url.password = "";
  if (credentials !== null) {
    url.username = from.url.username;
    url.password = from.url.password;
  }
  return hopTo(url, acceptEncoding, credentials);
}

/** Path and query as a browser would send them: as written but for dot segments, spaces and non-ASCII. The fragment stays here. */
function targetOf(url: URL): string {
  const afterScheme = url.href.slice(url.protocol.length + 2);
  const rest = afterScheme.slice(afterScheme.indexOf("/"));
  const fragment = rest.indexOf("#");
  return fragment === -1 ? rest : rest.slice(0, fragment);
}

function credentialsOf(url: URL): string | null {
  if (url.username === "" && url.password === "") return null;
  return `${percentDecoded(url.username)}:${percentDecoded(url.password)}`;
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone percent sign: taken as it stands.
    return text;
  }
}

function titled(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase());
}
