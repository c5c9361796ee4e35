import { defineTunnel } from "../contract/kind.ts";
import { parseOpenconnect } from "../protocols/openconnect/config.ts";
import { tunnelSettings } from "../tunnels/settings.ts";

/** OpenConnect (AnyConnect): TLS, a login with username and password, a tunnel, then an answer to a packet of ours through it. */
export const openconnect = defineTunnel(
  {
    kind: "openconnect",
    summary: "OpenConnect (AnyConnect): logs in at the server, brings the tunnel up and asks for an answer through it",
    settings: tunnelSettings(parseOpenconnect),
    form: { by: "server" },
    fields: ["host", "username", "password", "port", "ip", "group", "ca", "pin"],
    parse: parseOpenconnect,
    account: "the username",
    example: { host: "vpn.test-site.org", username: "ada", password: "secret" },
  },
  { load: () => import("../tunnels/run-openconnect.ts") },
);
