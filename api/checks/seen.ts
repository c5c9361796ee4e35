/** What a configuration without a protocol is, where it is a known format that no check here supports. Pure. */

const SCHEME = /^([a-z][a-z0-9+.-]{0,30}):\/\//i;
/** Of links that clients share. */
const LINKS: ReadonlySet<string> = new Set(
  (
    "ssr anytls socks socks4 socks4a socks5 socks5h hysteria wireguard wg warp awg snell naive naive+https naive+quic juicity mieru " +
    "mierus ssh brook shadowtls masque sudoku tor psiphon dnstt"
  ).split(" "),
);
/** Clients open these as the address of a list. */
const ADDRESSES: ReadonlySet<string> = new Set(
  "http https ssconf sub clash clashmeta sing-box hiddify v2rayn v2rayng sn shadowrocket streisand v2box".split(" "),
);
const CLASH = /^(?:proxies|Proxy|proxy-groups|proxy-providers):/m;

/** @returns words for people; undefined for what is nothing known */
export function seenIn(config: string): string | undefined {
  const text = config.trim();
  const [, scheme = ""] = SCHEME.exec(text) ?? [];
  const word = scheme.toLowerCase();
  if (LINKS.has(word)) return word;
  if (ADDRESSES.has(word)) return "a subscription's address";
  if (CLASH.test(text)) return "Clash YAML";
  return text.startsWith("{") ? "a client's JSON" : undefined;
}
