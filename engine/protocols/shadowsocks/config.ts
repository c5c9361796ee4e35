/** ss:// links: SIP002 with base64 or plain userinfo, and the older form that is base64 as a whole. */
import { type ParsedTunnel, TunnelConfigError, type TunnelFields } from "../../contract/tunnel.ts";
import {
  type AddressLink,
  base64Text,
  bodyOf,
  cutLink,
  decoded,
  nameOf,
  parametersOf,
  portOf,
  requireCredential,
  requireReadable,
  type ShareLink,
  splitAddress,
} from "../share-link/link.ts";
import { tunnelOf } from "../share-link/tunnel.ts";

const SCHEMES = ["ss"];

/** @throws TunnelConfigError */
export function parseShadowsocks(fields: TunnelFields): ParsedTunnel {
  return tunnelOf(fields, parseShadowsocksLink);
}

/** @throws TunnelConfigError */
export function parseShadowsocksLink(link: string): ShareLink {
  const address = addressOf(bodyOf(link, SCHEMES));
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
  const at = body.indexOf("@");
  // It is not a letter of base64: before the first separator it shows the newer form.
  if (at >= 0 && !isBefore(body, "?", at) && !isBefore(body, "#", at)) return splitAddress(body);
  const { whole, query, fragment } = cutLink(body, wholeAddress);
  if (whole === undefined) {
    requireReadable(body);
    return splitAddress(body);
  }
  const parameters = parametersOf(query ?? "");
  return { ...splitAddress(whole), parameters, name: nameOf(fragment, parameters) };
}

function isBefore(text: string, mark: string, place: number): boolean {
  const index = text.indexOf(mark);
  return index >= 0 && index < place;
}

/** The older form. */
function wholeAddress(text: string): string | undefined {
  const inner = base64Text(text.endsWith("/") ? text.slice(0, -1) : text);
  return inner?.includes("@") === true ? inner : undefined;
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
