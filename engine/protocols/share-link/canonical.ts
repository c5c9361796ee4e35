/** From a link's parts to the one typed config, or to a reason that names the field. */
import { accountOf } from "./account.ts";
import { hostOfHeaders, isTrue, type Parameters, paramOf, refuse, wordOf } from "./field.ts";
import type { ShareLink } from "./link.ts";
import { trojanCarrierOf } from "./plugin.ts";
import type { NamedConfig, ProxyConfig } from "./proxy-config.ts";
import { securityOf } from "./security.ts";
import { hostHeader, transportOf } from "./transport.ts";

/** Where xray has REALITY (infra/conf, StreamConfig.Build). */
const REALITY_CARRIERS: ReadonlySet<string> = new Set(["raw", "xhttp", "grpc"]);

/** @throws TunnelConfigError */
export function canonical(link: ShareLink): NamedConfig {
  const parameters = standardParameters(link);
  const account = accountOf(link, parameters);
  if (paramOf(parameters, "fm") !== "")
    throw refuse("fm", "is not supported: masks are made from the fields of their own");
  const transport = transportOf(account.protocol, link.host, parameters);
  const security = securityOf(account.protocol, link.host, hostHeader(transport), parameters);
  if (security.kind === "reality" && !REALITY_CARRIERS.has(transport.type)) {
    throw refuse("type", "must be tcp, xhttp or grpc with REALITY");
  }
  const config = {
    host: link.host,
    port: link.port,
    account,
    security,
    transport,
    packetEncoding: packingOf(parameters),
  };
  return { config: withUsableFlow(config), name: link.name };
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
