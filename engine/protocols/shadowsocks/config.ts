/** ss:// links: SIP002 with base64 or plain userinfo, and the older form that is base64 as a whole. */
import { type ParsedTunnel, TunnelConfigError, type TunnelFields } from "../../tunnel.ts";
import {
  type AddressLink,
  base64Text,
  bodyOf,
  cutAt,
  decoded,
  lastRemembered,
  nameOf,
  parametersOf,
  portOf,
  requireCredential,
  type ShareLink,
  splitAddress,
} from "../share-link/link.ts";
import { tunnelOf } from "../share-link/tunnel.ts";

/** @throws TunnelConfigError */
export function parseShadowsocks(fields: TunnelFields): ParsedTunnel {
  return tunnelOf(fields, parseShadowsocksLink);
}

/** @throws TunnelConfigError */
export function parseShadowsocksLink(link: string): ShareLink {
  const address = addressOf(bodyOf(link, ["ss"]));
  const { method, password } = credentialOf(address.rawUser);
  const number = portOf(address.port, null);
  return {
    protocol: "shadowsocks",
    host: address.host,
    port: number,
    ports: [[number, number]],
    credential: { method, password },
    parameters: address.parameters,
    name: address.name,
  };
}

function addressOf(body: string): AddressLink {
  const read = lastRemembered((text) => base64Text(text.replace(/\/$/, "")));
  const isWhole = (text: string): boolean => read(text)?.includes("@") === true;
  const fragment = cutAt(body, "#", (left) => isWhole(cutAt(left, "?", isWhole).left));
  const query = cutAt(fragment.left, "?", isWhole);
  const inner = read(query.left);
  if (inner === undefined || !inner.includes("@")) return splitAddress(body);
  const parameters = parametersOf(query.right ?? "");
  return { ...splitAddress(inner), parameters, name: nameOf(fragment.right, parameters) };
}

/** Plain `method:password`, or base64 of it, which some exporters do twice. */
function credentialOf(rawUser: string): { readonly method: string; readonly password: string } {
  const plain = decoded(rawUser);
  let text: string | undefined = plain.includes(":") ? plain : base64Text(rawUser);
  if (text !== undefined && !text.includes(":")) text = base64Text(text);
  const colon = text?.indexOf(":") ?? -1;
  if (text === undefined || colon < 1) throw new TunnelConfigError("the link has no method and password");
  return {
    method: text.slice(0, colon).toLowerCase(),
    password: requireCredential(text.slice(colon + 1), "password"),
  };
}
