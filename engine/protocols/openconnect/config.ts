/** OpenConnect (AnyConnect) servers: no file, only fields. */
import { before } from "../../../model/text.ts";
import {
  identityOf,
  type ParsedTunnel,
  presentFields,
  required,
  TunnelConfigError,
  type TunnelEndpoint,
  type TunnelFields,
} from "../../contract/tunnel.ts";
import { requireCertificates } from "../certificates.ts";
import { endpointOfFields, withAddress } from "../endpoint.ts";
import { isTarget } from "./login.ts";
import { isPin } from "./pin.ts";

const STANDARD_PORT = 443;
/** Of a username, a password or a group, characters. */
const TEXT_LIMIT = 4_096;

/** @throws TunnelConfigError */
export function parseOpenconnect(fields: TunnelFields): ParsedTunnel {
  const host = required(fields, "host");
  const username = required(fields, "username");
  const password = required(fields, "password");
  const { port, ip, group, ca, pin } = fields;
  for (const [name, text] of Object.entries({ username, password, group })) {
    if (text !== undefined && text.length > TEXT_LIMIT) throw new TunnelConfigError(`${name} is too long`);
  }
  const { server } = addressOfLogin(fields);
  if (pin !== undefined && pin !== "" && !isPin(pin))
    throw new TunnelConfigError("pin must be pin-sha256:… of the server's key");
  if (ca !== undefined && ca !== "") requireCertificates(ca, "ca");
  return {
    protocol: "openconnect",
    fields: presentFields({
      host,
      username,
      password,
      ...(port !== undefined && { port }),
      ...(ip !== undefined && { ip }),
      ...(group !== undefined && { group }),
      ...(ca !== undefined && { ca }),
      ...(pin !== undefined && { pin }),
    }),
    endpoints: withAddress(fields, [server]),
    identity: identityOf("openconnect", username, password, server),
  };
}

export interface LoginAddress {
  readonly server: TunnelEndpoint;
  /** Path and query: a group's own path, or the secret of a camouflage (`/?secret`), which is kept as it was written. */
  readonly target: string;
}

/** `host`, `host:port` or the address of the login page, which people paste. @throws TunnelConfigError */
export function addressOfLogin(fields: TunnelFields): LoginAddress {
  const text = before((fields.host ?? "").trim().replace(/^https:\/\//i, ""), "#");
  const end = text.search(/[/?]/);
  const server = endpointOfFields(fields, end < 0 ? text : text.slice(0, end), STANDARD_PORT);
  const rest = end < 0 ? "/" : text.slice(end);
  const target = rest.startsWith("?") ? `/${rest}` : rest;
  if (!isTarget(target)) throw new TunnelConfigError("the path in host holds what no path has");
  return { server, target };
}
