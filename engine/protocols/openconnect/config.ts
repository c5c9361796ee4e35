/** OpenConnect (AnyConnect) servers: no file, only fields. */
import { given, identityOf, type ParsedTunnel, required, TunnelConfigError, type TunnelFields } from "../../tunnel.ts";
import { requireCertificates } from "../certificates.ts";
import { endpointOfFields, withAddress } from "../endpoint.ts";

const STANDARD_PORT = 443;
/** Of the server's public key (SPKI): SHA-256 in base64, or SHA-256 or SHA-1 in hex. */
const PIN = /^(?:pin-sha256:[A-Za-z0-9+/]{43}=|sha256:[0-9a-f]{64}|sha1:[0-9a-f]{40})$/i;

/** @throws TunnelConfigError */
export function parseOpenconnect(fields: TunnelFields): ParsedTunnel {
  const host = required(fields, "host");
  const username = required(fields, "username");
  const password = required(fields, "password");
  const { port, ip, group, ca, pin } = fields;
  // People paste the address of the login page.
  const server = endpointOfFields(
    fields,
    host
      .trim()
      .replace(/^https:\/\//i, "")
      .replace(/\/.*$/s, ""),
    STANDARD_PORT,
  );
  if (pin !== undefined && pin !== "" && !PIN.test(pin))
    throw new TunnelConfigError("pin must be pin-sha256:… of the server's key");
  if (ca !== undefined && ca !== "") requireCertificates(ca, "ca");
  return {
    protocol: "openconnect",
    fields: given({
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
    identity: identityOf("openconnect", username, server),
  };
}
