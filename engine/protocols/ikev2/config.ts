/** IKEv2 gateways: no file, only fields. With a username EAP, without one a pre-shared key (docs/api-contract.md#tunnel-fields). */
import {
  identityOf,
  missing,
  type ParsedTunnel,
  presentFields,
  required,
  TunnelConfigError,
  type TunnelFields,
} from "../../contract/tunnel.ts";
import { requireCertificates } from "../certificates.ts";
import { endpointOfFields, withAddress } from "../endpoint.ts";
import { readIdentity } from "./identity.ts";

const STANDARD_PORT = 500;
/** Where both sides go on once they know of address translation (RFC 7296 section 2.23). */
const NAT_PORT = 4_500;

/** @throws TunnelConfigError */
export function parseIkev2(fields: TunnelFields): ParsedTunnel {
  const host = required(fields, "host");
  const { username, password, psk, port, ip, remote_id, ca, local_id } = fields;
  const isEap = username !== undefined && username.trim() !== "";
  if (isEap) required(fields, "password");
  else if (!isGiven(password) && !isGiven(psk)) throw missing("password");
  const server = endpointOfFields(fields, host, STANDARD_PORT);
  if (isGiven(ca)) requireCertificates(ca ?? "", "ca");
  if (isGiven(local_id)) requireIdentity(local_id ?? "");
  return {
    protocol: "ikev2",
    fields: presentFields({
      host,
      ...(isEap && { username }),
      ...(password !== undefined && { password }),
      ...(psk !== undefined && { psk }),
      ...(port !== undefined && { port }),
      ...(remote_id !== undefined && { remote_id }),
      ...(ip !== undefined && { ip }),
      ...(ca !== undefined && { ca }),
      ...(isGiven(local_id) && { local_id }),
    }),
    // Any other port takes everything, in the form of 4500.
    endpoints: withAddress(
      fields,
      server.port === STANDARD_PORT ? [server, { host: server.host, port: NAT_PORT }] : [server],
    ),
    // A gateway with a pre-shared key tells clients without an identity apart by their address: ours is one.
    identity: identityOf("ikev2", isEap ? username : isGiven(local_id) ? `id ${local_id?.trim()}` : "psk", server),
  };
}

/** @throws TunnelConfigError */
function requireIdentity(text: string): void {
  if (text.includes("=")) {
    throw new TunnelConfigError("local_id cannot be a distinguished name");
  }
  if (readIdentity(text) === undefined) {
    throw new TunnelConfigError("local_id is no identity: use a name, an address, an e-mail address, or @#hexadecimal");
  }
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== "";
}
