import { defineProbe } from "../probe.ts";
import { parseWireguard, readConfig } from "../protocols/wireguard/config.ts";
import { plainFraming } from "../protocols/wireguard/message.ts";
import type { TunnelFields } from "../tunnel.ts";
import { preparedOnce, tunnelSettings } from "../tunnels/settings.ts";
import { checkWireguard, prepareWireguard } from "../tunnels/wireguard-peers.ts";

const prepared = preparedOnce((settings: TunnelFields) => {
  const config = readConfig(settings);
  return { ...prepareWireguard(config, settings.ip, null), framing: plainFraming(config.reserved) };
});

/** WireGuard: a handshake with the client's own key, then an answer to a packet of ours through the tunnel. */
export const wireguard = defineProbe({
  summary: "WireGuard: brings the tunnel up and asks for an answer through it",
  settings: tunnelSettings(parseWireguard),
  run: async (settings, context) => {
    const ready = prepared(settings);
    return checkWireguard(ready, ready.framing, true, context);
  },
});
