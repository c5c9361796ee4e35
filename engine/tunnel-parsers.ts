/** THE LIST: the parser of each tunnel protocol, one line each. */
import type { TunnelProtocol } from "../model/kind.ts";
import { parseAmneziawg } from "./protocols/amneziawg/config.ts";
import { parseHysteria2 } from "./protocols/hysteria2/config.ts";
import { parseIkev2 } from "./protocols/ikev2/config.ts";
import { parseOpenconnect } from "./protocols/openconnect/config.ts";
import { parseOpenvpn } from "./protocols/openvpn/config.ts";
import { parseShadowsocks } from "./protocols/shadowsocks/config.ts";
import { parseTrojan } from "./protocols/trojan/config.ts";
import { parseTuic } from "./protocols/tuic/config.ts";
import { parseVless } from "./protocols/vless/config.ts";
import { parseVmess } from "./protocols/vmess/config.ts";
import { parseWireguard } from "./protocols/wireguard/config.ts";
import type { TunnelParser } from "./tunnel.ts";

export const tunnelParsers: Readonly<Record<TunnelProtocol, TunnelParser>> = {
  wireguard: parseWireguard,
  amneziawg: parseAmneziawg,
  openvpn: parseOpenvpn,
  openconnect: parseOpenconnect,
  ikev2: parseIkev2,
  vless: parseVless,
  vmess: parseVmess,
  trojan: parseTrojan,
  shadowsocks: parseShadowsocks,
  hysteria2: parseHysteria2,
  tuic: parseTuic,
};
