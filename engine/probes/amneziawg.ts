import { defineTunnel } from "../contract/kind.ts";
import { parseAmneziawg } from "../protocols/amneziawg/config.ts";
import { sendsJunk } from "../protocols/amneziawg/params.ts";
import { EXAMPLE_FILE } from "../protocols/wireguard/example.ts";
import { tunnelSettings } from "../tunnels/settings.ts";

/** AmneziaWG, all generations: WireGuard in disguise, with what goes before its handshakes. */
export const amneziawg = defineTunnel(
  {
    kind: "amneziawg",
    summary: "AmneziaWG: brings the tunnel up and asks for an answer through it",
    settings: tunnelSettings(parseAmneziawg),
    form: { by: "wg-quick" },
    fields: ["config", "host", "port", "ip", "all_peers"],
    parse: parseAmneziawg,
    account: "the client's private key",
    // An anonymous caller could send junk packets to any target (docs/decisions/0005-no-weapon.md).
    refuseAnonymous: ({ config = "" }) =>
      sendsJunk(config) ? "junk and signature packets are not sent for public checks" : undefined,
    example: { config: EXAMPLE_FILE.replace("[Peer]", "Jc = 4\nJmin = 40\nJmax = 70\n\n[Peer]") },
  },
  { load: () => import("../tunnels/run-amneziawg.ts") },
);
