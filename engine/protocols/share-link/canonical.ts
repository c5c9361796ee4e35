/** From a link's parts to the one typed config, or to a reason that names the field. */
import { accountOf } from "./account.ts";
import { hostOfHeaders, type Parameters, paramOf, refuse } from "./field.ts";
import type { ShareLink } from "./link.ts";
import type { NamedConfig, ProxyConfig } from "./proxy-config.ts";
import { securityOf } from "./security.ts";
import { hostHeader, transportOf } from "./transport.ts";

/** Where xray has REALITY (infra/conf, StreamConfig.Build). */
const REALITY_CARRIERS: ReadonlySet<string> = new Set(["raw", "xhttp", "grpc"]);

/** @throws TunnelConfigError */
export function canonical(link: ShareLink): NamedConfig {
  const parameters = link.protocol === "hysteria2" ? link.parameters : withoutShadowrocket(link.parameters);
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

/** Shadowrocket's and trojan-go's words for the same things. */
function withoutShadowrocket(parameters: Parameters): Parameters {
  const isSocket = paramOf(parameters, "ws") === "1";
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
