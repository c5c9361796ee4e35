/** tuic://<uuid>:<password>@<host>[:port]?<parameters>#<name>, version 5. */
import { type ParsedTunnel, TunnelConfigError, type TunnelFields } from "../../contract/tunnel.ts";
import {
  bodyOf,
  decoded,
  portOf,
  requireCredential,
  requireUserId,
  type ShareLink,
  splitAddress,
} from "../share-link/link.ts";
import { tunnelOf } from "../share-link/tunnel.ts";

const STANDARD_PORT = 443;
const SCHEMES = ["tuic"];

/** @throws TunnelConfigError */
export function parseTuic(fields: TunnelFields): ParsedTunnel {
  return tunnelOf(fields, parseTuicLink);
}

/** @throws TunnelConfigError */
export function parseTuicLink(link: string): ShareLink {
  const { rawUser, user, host, port, parameters, name } = splitAddress(bodyOf(link, SCHEMES));
  // The separating colon may itself be encoded; in the password colons stay.
  const separator = rawUser.includes(":") ? rawUser : user;
  const colon = separator.indexOf(":");
  if (colon < 0 || parameters.get("version") === "4") {
    throw new TunnelConfigError("the link has no password after its user id: only TUIC version 5 is supported");
  }
  const number = portOf(port, STANDARD_PORT);
  return {
    protocol: "tuic",
    host,
    port: number,
    ports: [[number, number]],
    credential: {
      uuid: requireUserId(decoded(separator.slice(0, colon))),
      password: requireCredential(decoded(separator.slice(colon + 1)), "password"),
    },
    parameters,
    name,
  };
}
