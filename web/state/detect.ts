/** What a person has pasted: an address, a share link, a file, a list. Only looked at, never dialled; the API judges it when it is sent. Pure. */

export const NEW_KINDS = [
  "http",
  "keyword",
  "ping",
  "port",
  "dns",
  "push",
  "smtp",
  "tls",
  "vpn",
  "subscription",
] as const;
export type NewKind = (typeof NEW_KINDS)[number];

export interface Detected {
  readonly kind: NewKind;
  readonly name: string;
  /** Fields of the API's body that the text says. */
  readonly fields: Readonly<Record<string, string | number>>;
}

/** The API takes configurations of up to 100 kB. */
const LONGEST = 200_000;
/** Longer names are cut; the API takes 255 characters. */
const LONGEST_NAME = 80;
/** A list of more lines is sent as a subscription, not line by line. */
const MOST_LINES = 200;

const SHARE_LINK = /^(vless|vmess|trojan|ss|hysteria2|hy2|tuic|vpn):\/\//i;
const PROTOCOL_OF_SCHEME: Readonly<Record<string, string>> = { ss: "shadowsocks", hy2: "hysteria2" };
const HOST = /^(?:[\p{L}\p{N}_](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?\.)*[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.?$/u;
/** What providers call the addresses of their lists, with the secret that each customer's has. */
const SUBSCRIPTION = /\/(?:subs?|subscribe|subscription|link)(?:\/[\w-]{6,}|\?\w+=)/i;
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
/** What only AmneziaWG's files have. */
const AMNEZIA_KEYS = ["jc", "jmin", "jmax", "s1", "s2", "h1", "i1"];
/** Ports that mean more than "open". */
const KIND_OF_PORT: Readonly<Record<number, NewKind>> = {
  25: "smtp",
  465: "smtp",
  587: "smtp",
  443: "tls",
  853: "tls",
};

/** @returns null when the text says nothing yet */
export function detect(text: string): Detected | null {
  const trimmed = text.slice(0, LONGEST).trim();
  if (trimmed === "") return null;
  if (/^\[interface\]/im.test(trimmed)) return wireguard(trimmed);
  if (/^(client|remote|<ca>)(\s|$)/im.test(trimmed) && /^(remote|<ca>)/im.test(trimmed) && trimmed.includes("\n"))
    return {
      kind: "vpn",
      name: hostAfter(trimmed, /^remote\s+(\S+)/im),
      fields: { protocol: "openvpn", config: trimmed },
    };
  if (/\s/.test(trimmed)) return null;
  const line = detectLine(trimmed);
  return line?.kind === "http" && SUBSCRIPTION.test(trimmed) ? { ...line, kind: "subscription" } : line;
}

/** @returns the lines of a list, when the text is one of at least two */
export function detectList(text: string): readonly string[] | null {
  if (detect(text) !== null) return null;
  const lines = [
    ...new Set(
      text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "" && !line.startsWith("#")),
    ),
  ];
  return lines.length > 1 && lines.every((line) => detectLine(line) !== null) ? lines.slice(0, MOST_LINES) : null;
}

/** @param line without spaces at its ends */
export function detectLine(line: string): Detected | null {
  if (SHARE_LINK.test(line)) return shareLink(line);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(line);
  if (scheme !== null) return withScheme((scheme[1] ?? "").toLowerCase(), scheme[2] ?? "", line);
  const path = /^([^/?#]+)[/?#]/.exec(line);
  if (path !== null) return hostAndPort(path[1] ?? "") === null ? null : website(`https://${line}`);
  const place = hostAndPort(line);
  if (place === null) return null;
  if (place.port === null)
    return IPV4.test(place.host) || isIpv6(place.host) ? atHost("ping", place.host) : website(`https://${place.host}/`);
  return atHost(KIND_OF_PORT[place.port] ?? "port", place.host, place.port);
}

function withScheme(scheme: string, rest: string, line: string): Detected | null {
  if (scheme === "http" || scheme === "https") return website(line);
  const place = hostAndPort(rest.split(/[/?#]/, 1)[0] ?? "");
  if (place === null) return null;
  const port = place.port ?? undefined;
  switch (scheme) {
    case "ping":
    case "icmp":
      return atHost("ping", place.host);
    case "tcp":
    case "port":
      return port === undefined ? null : atHost("port", place.host, port);
    case "smtp":
    case "smtps":
      return atHost("smtp", place.host, port ?? (scheme === "smtps" ? 465 : 25));
    case "tls":
    case "ssl":
      return atHost("tls", place.host, port ?? 443);
    case "dns":
      return { kind: "dns", name: cut(place.host), fields: { domain: place.host } };
    default:
      return null;
  }
}

function website(url: string): Detected | null {
  try {
    const { hostname, pathname } = new URL(url);
    if (hostname === "") return null;
    return {
      kind: "http",
      name: cut(hostname.replace(/^www\./, "") + (pathname === "/" ? "" : pathname)),
      fields: { url },
    };
  } catch {
    return null;
  }
}

function atHost(kind: NewKind, host: string, port?: number): Detected {
  const bare = host.replace(/^\[|\]$/g, "");
  const shown = port === undefined || kind === "ping" ? bare : `${bare.includes(":") ? `[${bare}]` : bare}:${port}`;
  return { kind, name: cut(shown), fields: { host: bare, ...(port !== undefined && kind !== "ping" && { port }) } };
}

function hostAndPort(text: string): { readonly host: string; readonly port: number | null } | null {
  const bracketed = /^(\[[^\]]+\])(?::(\d{1,5}))?$/.exec(text);
  const plain = /^([^:]+)(?::(\d{1,5}))?$/.exec(text);
  const [, host = "", digits] = bracketed ?? plain ?? (isIpv6(text) ? [text, text] : []);
  const isHost =
    bracketed !== null || plain === null
      ? isIpv6(host)
      : HOST.test(host) && (host.includes(".") || host === "localhost" || digits !== undefined);
  if (!isHost) return null;
  const port = digits === undefined ? null : Number(digits);
  return port !== null && (port < 1 || port > 65_535) ? null : { host, port };
}

function shareLink(line: string): Detected {
  const scheme = (SHARE_LINK.exec(line)?.[1] ?? "").toLowerCase();
  const mark = line.indexOf("#");
  const said = mark < 0 ? "" : decoded(line.slice(mark + 1)).trim();
  const host = /@(\[[^\]]+\]|[^:/?#]+)/.exec(line)?.[1] ?? "";
  const protocol = PROTOCOL_OF_SCHEME[scheme] ?? scheme;
  const name = cut(said !== "" ? said : host !== "" ? host : protocol);
  // A key of AmneziaVPN is a configuration that says itself which protocol it is for.
  return { kind: "vpn", name, fields: scheme === "vpn" ? { config: line } : { url: line, protocol } };
}

/** At least two colons, and nothing but what an address has; the API judges the rest. */
function isIpv6(text: string): boolean {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  return /^[0-9a-f:.]+$/i.test(bare) && bare.split(":").length > 2;
}

function wireguard(text: string): Detected {
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    const mark = line.indexOf("=");
    if (mark > 0) values.set(line.slice(0, mark).trim().toLowerCase(), line.slice(mark + 1).trim());
  }
  const protocol = AMNEZIA_KEYS.some((key) => values.has(key)) ? "amneziawg" : "wireguard";
  const endpoint = values.get("endpoint") ?? "";
  const colon = endpoint.lastIndexOf(":");
  const host = colon > endpoint.lastIndexOf("]") ? endpoint.slice(0, colon) : endpoint;
  return { kind: "vpn", name: cut(host.replace(/^\[|\]$/g, "")), fields: { protocol, config: text } };
}

function hostAfter(text: string, sign: RegExp): string {
  return cut(sign.exec(text)?.[1]?.replace(/^\[|\]$/g, "") ?? "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** By code points, so that no sign is cut in halves. */
function cut(text: string): string {
  const signs = [...text];
  return signs.length > LONGEST_NAME ? signs.slice(0, LONGEST_NAME).join("") : text;
}
