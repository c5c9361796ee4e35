/** trojan://<password>@<host>:<port>?<parameters>#<name>; the password may hold anything, the last `@` ends it. */
import { type ParsedTunnel, TunnelConfigError, type TunnelFields } from "../../contract/tunnel.ts";
import { bodyOf, portOf, requireCredential, type ShareLink, splitAddress } from "../share-link/link.ts";
import { tunnelOf } from "../share-link/tunnel.ts";

const STANDARD_PORT = 443;
const SCHEMES = ["trojan"];

/** @throws TunnelConfigError */
export function parseTrojan(fields: TunnelFields): ParsedTunnel {
  return tunnelOf(fields, parseTrojanLink);
}

/** @throws TunnelConfigError */
export function parseTrojanLink(link: string): ShareLink {
  const { user, host, port, parameters, name } = splitAddress(bodyOf(link, SCHEMES));
  // trojan-go's extra layer: no core has it.
  if (parameters.get("encryption")?.startsWith("ss;") === true) {
    throw new TunnelConfigError("trojan-go's ss encryption is not supported");
  }
  const number = portOf(port, STANDARD_PORT);
  return {
    protocol: "trojan",
    host,
    port: number,
    ports: [[number, number]],
    credential: { password: requireCredential(user, "password") },
    parameters,
    name,
  };
}
