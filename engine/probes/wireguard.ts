import { defineTunnel } from "../contract/kind.ts";
import { parseWireguard } from "../protocols/wireguard/config.ts";
import { EXAMPLE_FILE } from "../protocols/wireguard/example.ts";
import { tunnelSettings } from "../tunnels/settings.ts";

/** WireGuard: a handshake with the client's own key, then an answer to a packet of ours through the tunnel. */
export const wireguard = defineTunnel(
  {
    kind: "wireguard",
    summary: "WireGuard: brings the tunnel up and asks for an answer through it",
    settings: tunnelSettings(parseWireguard),
    form: { by: "wg-quick" },
    fields: ["config", "host", "port", "ip", "all_peers"],
    parse: parseWireguard,
    account: "the client's private key",
    example: { config: EXAMPLE_FILE },
  },
  { load: () => import("../tunnels/run-wireguard.ts") },
);
