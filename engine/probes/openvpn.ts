import { defineTunnel } from "../contract/kind.ts";
import { parseOpenvpn } from "../protocols/openvpn/config.ts";
import { hasPkcs12 } from "../protocols/openvpn/key-files.ts";
import { tunnelSettings } from "../tunnels/settings.ts";

/** OpenVPN: TLS inside its own packets, a login, keys for the tunnel, then an answer to a packet of ours through it. */
export const openvpn = defineTunnel(
  {
    kind: "openvpn",
    summary: "OpenVPN: logs in at the server, brings the tunnel up and asks for an answer through it",
    settings: tunnelSettings(parseOpenvpn),
    form: { by: "openvpn-file" },
    fields: ["config", "host", "username", "password", "port", "proto", "ip", "servers"],
    parse: parseOpenvpn,
    account: "the username, else the client's certificate",
    // The file sets how long the key derivation takes, and one process opens the files of all callers.
    refuseAnonymous: (fields) =>
      hasPkcs12(fields) ? "<pkcs12> is not opened for public checks; use <cert> and <key>" : undefined,
    example: {
      config:
        "client\ndev tun\nremote vpn.test-site.org 1194 udp\nauth-user-pass\n" +
        "<ca>\n-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n</ca>\n",
      username: "ada",
      password: "secret",
    },
  },
  { load: () => import("../tunnels/run-openvpn.ts") },
);
