import { defineTunnel } from "../contract/kind.ts";
import { parseIkev2 } from "../protocols/ikev2/config.ts";
import { tunnelSettings } from "../tunnels/settings.ts";

/** IKEv2: keys, a login or a pre-shared key, a tunnel, then an answer to a packet of ours through it. */
export const ikev2 = defineTunnel(
  {
    kind: "ikev2",
    summary: "IKEv2: logs in at the gateway, brings the tunnel up and asks for an answer through it",
    settings: tunnelSettings(parseIkev2),
    form: { by: "server" },
    fields: ["host", "username", "password", "port", "remote_id", "ip", "ca", "psk", "local_id", "cert", "key"],
    parse: parseIkev2,
    account: "the username; without one local_id, the certificate, or our address",
    example: { host: "vpn.test-site.org", username: "ada", password: "secret" },
  },
  { load: () => import("../tunnels/run-ikev2.ts") },
);
