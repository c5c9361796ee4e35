/** One request of a website check: where it goes and its bytes, made once from a URL. */

import { isIP } from "node:net";
import { parseUrl, withoutBrackets } from "../../../model/url.ts";

/** RFC 9110 section 15.4: the codes that send a GET elsewhere. 300 leaves the choice to a person, 304 answers a condition we never set. */
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const USER_AGENT = "Mozilla/5.0 (compatible; Sonde/0.1; uptime check)";

/** What is asked beside a plain GET. */
export interface RequestParts {
  readonly method: string;
  /** Of headersFault(); they win over our own of the same name. */
  readonly headers: Readonly<Record<string, string>>;
  /** null: none is sent. */
  readonly body: Buffer | null;
}

const PLAIN_GET: RequestParts = { method: "GET", headers: {}, body: null };
/** A request of these says how long its body is, also when it has none (RFC 9110 section 8.6). */
const WITH_LENGTH: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

export interface Hop {
  readonly url: URL;
  /** Name in its ASCII form, or an address literal without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** For SNI and the certificate check; empty for address literals (RFC 6066 section 3). */
  readonly servername: string;
  readonly target: string;
  readonly parts: RequestParts;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole HTTP/1.1 request. */
  readonly request: Buffer;
  /** A redirect asks for the body at another origin, where it is not sent. */
  readonly withholdsBody: boolean;
  /** Every hop so far was at the first one's origin, whose secrets it may have. */
  readonly isAtHome: boolean;
  /** For people: without userinfo, query and fragment, which may hold secrets. */
  readonly shown: string;
}

/** @param credentials `user:password` for Basic authentication; those in the URL itself when omitted */
export function hopTo(
  url: URL,
  acceptEncoding: string,
  credentials = credentialsOf(url),
  parts: RequestParts = PLAIN_GET,
): Hop {
  const host = withoutBrackets(url.hostname);
  const tls = url.protocol === "https:";
  const target = targetOf(url);
  const headers: Record<string, string> = {
    host: url.host,
    "user-agent": USER_AGENT,
    accept: "*/*",
    "accept-encoding": acceptEncoding,
    ...(credentials === null ? {} : { authorization: basicAuthorization(credentials) }),
    ...Object.fromEntries(Object.entries(parts.headers).map(([name, value]) => [name.toLowerCase(), value])),
    ...lengthOf(parts),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${titled(name)}: ${value}\r\n`);
  const head = `${parts.method} ${target} HTTP/1.1\r\n${lines.join("")}Connection: close\r\n\r\n`;
  return {
    url,
    host,
    port: url.port === "" ? (tls ? 443 : 80) : Number(url.port),
    tls,
    // A name's final dot stays in Host and never goes into SNI (RFC 6066 section 3).
    servername: isIP(host) === 0 ? host.replace(/\.$/, "") : "",
    target,
    parts,
    headers,
    request: Buffer.concat([Buffer.from(head, "latin1"), parts.body ?? Buffer.alloc(0)]),
    withholdsBody: false,
    isAtHome: true,
    shown: `${url.protocol}//${url.host}${url.pathname}`,
  };
}

/** @param credentials `user:password` */
export function basicAuthorization(credentials: string): string {
  return `Basic ${Buffer.from(credentials, "utf8").toString("base64")}`;
}

function lengthOf({ method, body }: RequestParts): Record<string, string> {
  if (body === null && !WITH_LENGTH.has(method)) return {};
  return { "content-length": String(body?.length ?? 0) };
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
 * Credentials, headers and a body go on only to the same origin, and a Location cannot bring credentials of its own.
 */
export function redirectedHop(from: Hop, location: string, acceptEncoding: string, status = 302): Hop | undefined {
  // Header bytes above ASCII are UTF-8 in practice (WHATWG fetch, "location URL").
  const url = parseWebUrl(Buffer.from(location, "latin1").toString("utf8"), from.url);
  if (url === undefined) return undefined;
  const isSameOrigin = url.origin === from.url.origin;
  const credentials = isSameOrigin ? credentialsOf(from.url) : null;
  url.username = "";
  url.password = "";
  if (credentials !== null) {
    url.username = from.url.username;
    url.password = from.url.password;
  }
  const parts = redirectedParts(from.parts, status);
  if (isSameOrigin) return { ...hopTo(url, acceptEncoding, credentials, parts), isAtHome: from.isAtHome };
  const hop = hopTo(url, acceptEncoding, null, { method: parts.method, headers: {}, body: null });
  return { ...hop, withholdsBody: parts.body !== null, isAtHome: false };
}

/** As browsers do it (Fetch Standard, "HTTP-redirect fetch"): 303 asks with GET, and so do 301 and 302 after POST. */
function redirectedParts({ method, headers, body }: RequestParts, status: number): RequestParts {
  const becomesGet =
    status === 303 ? method !== "GET" && method !== "HEAD" : method === "POST" && (status === 301 || status === 302);
  if (!becomesGet) return { method, headers, body };
  const kept = Object.entries(headers).filter(([name]) => !/^content-/i.test(name));
  return { method: "GET", headers: Object.fromEntries(kept), body: null };
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
