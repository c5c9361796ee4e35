/** hysteria2://[auth@]host[:port[,port|from-to…]]/?<parameters>#<name>, also as hy2:// (hysteria, app/cmd/client.go). */
import { before } from "../../../model/text.ts";
import { type ParsedTunnel, TunnelConfigError, type TunnelFields } from "../../contract/tunnel.ts";
import { parsePort } from "../endpoint.ts";
import { bodyOf, type ShareLink, splitAddress } from "../share-link/link.ts";
import { tunnelOf } from "../share-link/tunnel.ts";

const STANDARD_PORT = 443;
const SCHEMES = ["hysteria2", "hy2"];
/** A list of ports that is longer is no list of a provider. */
const MAX_RANGES = 256;
/** Cores keep each port of each range: 256 times all of them would be 110 MB for one config in sing-box, and more than 1 GB in xray. */
const MAX_PORTS = 65_535;

/** @throws TunnelConfigError */
export function parseHysteria2(fields: TunnelFields): ParsedTunnel {
  return tunnelOf(fields, parseHysteria2Link);
}

/** @throws TunnelConfigError */
export function parseHysteria2Link(link: string): ShareLink {
  const body = bodyOf(link, SCHEMES);
  // A server without authentication has no userinfo.
  const { user, host, port, parameters, name } = splitAddress(hasUser(body) ? body : `@${body}`, isPortList);
  const listed = parsePorts(port ?? String(STANDARD_PORT));
  const hops = parameters.get("mport") ?? parameters.get("ports");
  const [first = [STANDARD_PORT, STANDARD_PORT]] = listed;
  return {
    protocol: "hysteria2",
    host,
    port: first[0],
    ports: hops === undefined || hops === "" ? listed : parsePorts(hops.replaceAll(":", "-")),
    // The whole of it is one secret, colons included.
    credential: { password: user === "" ? (parameters.get("auth") ?? "") : user },
    parameters,
    name,
  };
}

/** Whether an `@` stands before the first mark, or one further on has a server with a port behind it. */
function hasUser(body: string): boolean {
  if (before(body, "?#").includes("@")) return true;
  let at = -1;
  for (let index = 0; index < body.length; index++) {
    const character = body.charAt(index);
    if (character === "?" || character === "#" || character === "/") at = -1;
    else if (character === "@" && at < 0) at = index;
    else if (character === ":" && at >= 0 && index > at + 1 && isDigit(body.charAt(index + 1))) return true;
  }
  return false;
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}

function isPortList(text: string): boolean {
  return /^\d{1,5}(?:-\d{1,5})?(?:,\d{1,5}(?:-\d{1,5})?)*$/.test(text);
}

/** @throws TunnelConfigError */
export function parsePorts(text: string): readonly (readonly [number, number])[] {
  const items = text.split(",");
  if (!isPortList(text.replace(/\s/g, "")) || items.length > MAX_RANGES) {
    throw new TunnelConfigError("the link's ports are not numbers or ranges");
  }
  const ranges = items.map((item) => {
    const [from = "", to = from] = item.trim().split("-");
    const range = [parsePort(from, "the link's port"), parsePort(to, "the link's port")] as const;
    if (range[0] > range[1]) throw new TunnelConfigError("a range of the link's ports is the wrong way round");
    return range;
  });
  const ports = ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  if (ports > MAX_PORTS)
    throw new TunnelConfigError("the link's ports stand in several ranges, more often than there are ports");
  return ranges;
}
