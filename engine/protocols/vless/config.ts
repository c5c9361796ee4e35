/** vless://<uuid>@<host>:<port>?<parameters>#<name> (XTLS/Xray-core discussion 716), and Shadowrocket's base64 form. */
import type { ParsedTunnel, TunnelFields } from "../../contract/tunnel.ts";
import { base64Text, bodyOf, portOf, requireUserId, type ShareLink, splitAddress } from "../share-link/link.ts";
import { tunnelOf } from "../share-link/tunnel.ts";

/** Clients assume it for TLS. */
const STANDARD_PORT = 443;
const SCHEMES = ["vless"];

/** @throws TunnelConfigError */
export function parseVless(fields: TunnelFields): ParsedTunnel {
  return tunnelOf(fields, parseVlessLink);
}

/** @throws TunnelConfigError */
export function parseVlessLink(link: string): ShareLink {
  const { user, host, port, parameters, name } = splitAddress(plainForm(bodyOf(link, SCHEMES)));
  const security = parameters.get("security") ?? (parameters.has("pbk") ? "reality" : "none");
  const number = portOf(port, security === "none" ? null : STANDARD_PORT);
  return {
    protocol: "vless",
    host,
    port: number,
    ports: [[number, number]],
    credential: { uuid: requireUserId(user) },
    parameters,
    name,
  };
}

/** `BASE64(auto:<uuid>@host:port)?…` is written as the plain form; what is plain already stays. */
function plainForm(body: string): string {
  const mark = body.indexOf("?");
  const left = mark < 0 ? body : body.slice(0, mark);
  const inner = left.includes("@") ? undefined : base64Text(left);
  if (inner?.includes("@") !== true) return body;
  return `${inner.replace(/^[a-z0-9-]+:/i, "")}?${mark < 0 ? "" : body.slice(mark + 1)}`;
}
