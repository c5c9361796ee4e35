/** From a link's parts to the one typed config, or to a reason that names the field. */
import { accountOf } from "./account.ts";
import { hostOfHeaders, isTrue, type Parameters, paramOf, refuse, wordOf } from "./field.ts";
import { withMasks } from "./finalmask.ts";
import type { ShareLink } from "./link.ts";
import { trojanCarrierOf } from "./plugin.ts";
import type { NamedConfig, ProxyConfig } from "./proxy-config.ts";
import { securityOf } from "./security.ts";
import { transportOf } from "./transport.ts";

/** Carriers of datagrams: no core has REALITY there. */
const NO_REALITY: ReadonlySet<string> = new Set(["kcp", "quic"]);

/** @throws TunnelConfigError */
export function canonical(link: ShareLink): NamedConfig {
  const ignored: string[] = [];
  const ignore = (field: string, what: string): void => void ignored.push(`${field} ${what}`);
  const parameters = withMasks(standardParameters(link), link.protocol === "hysteria2", ignore);
  const account = accountOf(link, parameters, ignore);
  const transport = transportOf(account.protocol, link.host, parameters, ignore);
  const security = securityOf(account.protocol, link.host, transport, parameters, ignore);
  if (security.kind === "reality" && NO_REALITY.has(transport.type)) {
    throw refuse("type", "must be carried by TCP with REALITY");
  }
  const config = {
    host: link.host,
    port: link.port,
    account,
    security,
    transport,
    packetEncoding: packingOf(parameters),
  };
  return { config: withUsableFlow(config), name: link.name, ignored };
}

function packingOf(parameters: Parameters): ProxyConfig["packetEncoding"] {
  const word = paramOf(parameters, "packetencoding").toLowerCase();
  if (word === "packet" || word === "packetaddr") return "packetaddr";
  return word === "none" ? "none" : "xudp";
}

/** Vision splices a TLS stream: without one, or inside another carrier, clients leave it out. */
function withUsableFlow(config: ProxyConfig): ProxyConfig {
  const { account, security, transport } = config;
  if (account.protocol !== "vless" || account.flow === "") return config;
  const isUsable = (transport.type === "raw" && security.kind !== "none") || account.encryption !== "none";
  return isUsable ? config : { ...config, account: { ...account, flow: "" } };
}

/** Shadowrocket's and trojan-go's words for the same things. A word that is left over would be a link of another carrier. */
function standardParameters({ protocol, parameters }: ShareLink): Parameters {
  if (protocol === "shadowsocks") {
    if (isSaid(paramOf(parameters, "obfs"))) throw refuse("obfs", "must stand in plugin for Shadowsocks");
    return parameters;
  }
  const carrier = protocol === "trojan" ? trojanCarrierOf(parameters) : undefined;
  if (carrier !== undefined) return new Map([...parameters, ...carrier]);
  if (isSaid(paramOf(parameters, "plugin"))) throw refuse("plugin", "is for Shadowsocks and Trojan only");
  return protocol === "hysteria2" ? parameters : withoutShadowrocket(parameters);
}

function isSaid(word: string): boolean {
  return word !== "" && wordOf(word) !== "none";
}

function withoutShadowrocket(parameters: Parameters): Parameters {
  // It may stand alone, as a flag.
  const isSocket = parameters.get("ws") === "" || isTrue(parameters, "ws");
  const obfs = paramOf(parameters, "obfs").toLowerCase();
  if (!isSocket && obfs === "" && !parameters.has("obfsparam")) return parameters;
  const more = new Map(parameters);
  if (isSocket) more.set("type", "ws");
  if (obfs === "http") more.set("headertype", "http");
  else if (obfs !== "" && obfs !== "none" && !parameters.has("type")) more.set("type", obfs);
  more.delete("obfs");
  const host = hostOfHeaders(paramOf(parameters, "obfsparam"));
  if (host !== "" && !parameters.has("host")) more.set("host", host);
  more.delete("obfsparam");
  return more;
}
