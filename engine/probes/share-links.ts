/**
 * Share links: a proxy core opens the link, and a request through it to an endpoint with a known answer proves the passage. The kinds differ in
 * their parser and in the cores that can run them.
 */

import type { TunnelProtocol } from "../../model/kind.ts";
import type { Engine } from "../../model/subscription.ts";
import { defineTunnel } from "../contract/kind.ts";
import type { TunnelParser } from "../contract/tunnel.ts";
import { parseHysteria2 } from "../protocols/hysteria2/config.ts";
import { parseShadowsocks } from "../protocols/shadowsocks/config.ts";
import { parseTrojan } from "../protocols/trojan/config.ts";
import { parseTuic } from "../protocols/tuic/config.ts";
import { parseVless } from "../protocols/vless/config.ts";
import { parseVmess } from "../protocols/vmess/config.ts";
import { linkSettings } from "../tunnels/link-settings.ts";

interface ShareLinkFacts {
  readonly name: string;
  readonly schemes: readonly [string, ...string[]];
  readonly cores?: readonly [Engine, ...Engine[]];
  readonly parse: TunnelParser;
  readonly example: string;
}

const UUID = "2f9c8a5e-6a3f-4b1e-9d4c-0a1b2c3d4e5f";

function shareLink(kind: TunnelProtocol, { name, schemes, cores, parse, example }: ShareLinkFacts) {
  return defineTunnel(
    {
      kind,
      summary: `${name}: opens the link in a proxy core and asks a known endpoint through it`,
      settings: linkSettings(parse),
      form: { by: "link", schemes, cores: cores ?? ["xray", "singbox"] },
      fields: ["url"],
      parse,
      account: null,
      example: { url: example },
    },
    { load: () => import("../tunnels/run-share-link.ts") },
  );
}

export const vless = shareLink("vless", {
  name: "VLESS",
  schemes: ["vless"],
  parse: parseVless,
  example: `vless://${UUID}@vpn.test-site.org:443?security=tls#Berlin`,
});
export const vmess = shareLink("vmess", {
  name: "VMess",
  schemes: ["vmess"],
  parse: parseVmess,
  example: `vmess://${Buffer.from(JSON.stringify({ v: "2", ps: "Berlin", add: "vpn.test-site.org", port: 443, id: UUID })).toString("base64")}`,
});
export const trojan = shareLink("trojan", {
  name: "Trojan",
  schemes: ["trojan"],
  parse: parseTrojan,
  example: "trojan://secret@vpn.test-site.org:443#Berlin",
});
export const shadowsocks = shareLink("shadowsocks", {
  name: "Shadowsocks",
  schemes: ["ss"],
  parse: parseShadowsocks,
  example: `ss://${Buffer.from("aes-256-gcm:secret").toString("base64")}@vpn.test-site.org:8388#Berlin`,
});
export const hysteria2 = shareLink("hysteria2", {
  name: "Hysteria2",
  schemes: ["hysteria2", "hy2"],
  parse: parseHysteria2,
  example: "hysteria2://secret@vpn.test-site.org:443#Berlin",
});
export const tuic = shareLink("tuic", {
  name: "TUIC",
  schemes: ["tuic"],
  cores: ["singbox"],
  parse: parseTuic,
  example: `tuic://${UUID}:secret@vpn.test-site.org:443#Berlin`,
});
