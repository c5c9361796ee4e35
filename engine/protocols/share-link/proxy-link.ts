/** A share link of any proxy scheme, read strictly. */
import { TunnelConfigError } from "../../contract/tunnel.ts";
import { parseHysteria2Link } from "../hysteria2/config.ts";
import { parseShadowsocksLink } from "../shadowsocks/config.ts";
import { parseTrojanLink } from "../trojan/config.ts";
import { parseTuicLink } from "../tuic/config.ts";
import { parseVlessLink } from "../vless/config.ts";
import { parseVmessLink } from "../vmess/config.ts";
import { canonical } from "./canonical.ts";
import { refuseLong, type ShareLink } from "./link.ts";
import type { NamedConfig } from "./proxy-config.ts";

const READERS: Readonly<Record<string, (link: string) => ShareLink>> = {
  vless: parseVlessLink,
  vmess: parseVmessLink,
  trojan: parseTrojanLink,
  ss: parseShadowsocksLink,
  hysteria2: parseHysteria2Link,
  hy2: parseHysteria2Link,
  tuic: parseTuicLink,
};
/** The scheme in lowercase; undefined for a text that is no link. */
export function schemeOf(text: string): string | undefined {
  const plain = text.slice(0, Math.max(0, text.indexOf("://")));
  if (isProxyScheme(plain)) return plain;
  const word = withoutWrapping(plain);
  return SCHEME.test(word) ? word.toLowerCase() : undefined;
}

/** RFC 3986 section 3.1, of a sensible length. */
const SCHEME = /^[a-z][a-z0-9+.-]{1,30}$/i;

/** Without the blanks and quotes before it. */
function withoutWrapping(text: string): string {
  let start = 0;
  while (start < text.length && (QUOTES.includes(text.charAt(start)) || text.charAt(start).trim() === "")) start++;
  return text.slice(start);
}

const QUOTES = "\"'`";

/** Whether some core can be given links of this scheme. */
export function isProxyScheme(scheme: string): boolean {
  return Object.hasOwn(READERS, scheme);
}

/** @throws TunnelConfigError */
export function parseProxyLink(link: string): NamedConfig {
  refuseLong(link);
  const scheme = schemeOf(link);
  const read = scheme !== undefined && isProxyScheme(scheme) ? READERS[scheme] : undefined;
  if (read === undefined) throw new TunnelConfigError("the link begins with no scheme of a proxy protocol");
  return canonical(read(link));
}
