import { defineProbe } from "../probe.ts";
import { parseAmneziawg, readAmneziaConfig } from "../protocols/amneziawg/config.ts";
import { createFraming } from "../protocols/amneziawg/framing.ts";
import { hasPreamble } from "../protocols/amneziawg/params.ts";
import { NetworkFault } from "../transport/fault.ts";
import type { TunnelFields } from "../tunnel.ts";
import { preparedOnce, tunnelSettings } from "../tunnels/settings.ts";
import { checkWireguard, prepareWireguard } from "../tunnels/wireguard-peers.ts";

const prepared = preparedOnce((settings: TunnelFields) => {
  const config = readAmneziaConfig(settings);
  return { ...prepareWireguard(config, settings.ip, config.params), params: config.params };
});

/** AmneziaWG, all generations: WireGuard in disguise, with what goes before its handshakes. */
export const amneziawg = defineProbe({
  summary: "AmneziaWG: brings the tunnel up and asks for an answer through it",
  settings: tunnelSettings(parseAmneziawg),
  run: async (settings, context) => {
    const ready = prepared(settings);
    if (context.transport.isForStrangers && hasPreamble(ready.params)) {
      throw new NetworkFault(
        "misconfigured",
        "Junk and signature packets (Jc, I1 to I5) are not sent without an account",
      );
    }
    // The contract names WireGuard and IKEv2 where it means the tunnel's own address.
    return checkWireguard(ready, createFraming(ready.params, context), false, context);
  },
});
