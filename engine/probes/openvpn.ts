import { defineProbe } from "../probe.ts";
import { parseOpenvpn } from "../protocols/openvpn/config.ts";
import { checkOpenvpn, prepareOpenvpn } from "../tunnels/openvpn-servers.ts";
import { preparedOnce, tunnelSettings } from "../tunnels/settings.ts";

const prepared = preparedOnce(prepareOpenvpn);

/** OpenVPN: TLS inside its own packets, a login, keys for the tunnel, then an answer to a packet of ours through it. */
export const openvpn = defineProbe({
  summary: "OpenVPN: logs in at the server, brings the tunnel up and asks for an answer through it",
  settings: tunnelSettings(parseOpenvpn),
  run: async (settings, context) => checkOpenvpn(prepared(settings), context),
});
