/** What AmneziaWG's checks run; loaded in probers only. */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import type { TunnelFields } from "../contract/tunnel.ts";
import { NetworkFault } from "../net/fault.ts";
import { configOf } from "../protocols/amneziawg/config.ts";
import { createFraming } from "../protocols/amneziawg/framing.ts";
import { hasPreamble } from "../protocols/amneziawg/params.ts";
import { preparedOnce } from "./settings.ts";
import { checkWireguard, PreparedWireguard } from "./wireguard-peers.ts";

const prepared = preparedOnce((settings: TunnelFields) => {
  const config = configOf(settings);
  return { wireguard: new PreparedWireguard(config, settings, config.params), params: config.params };
});

export async function run(settings: TunnelFields, context: ProbeContext): Promise<Outcome> {
  const { wireguard, params } = prepared(settings);
  if (context.transport.isAnonymous && hasPreamble(params)) {
    throw new NetworkFault(
      "misconfigured",
      "Junk and signature packets (Jc, I1 to I5) are not sent without an account",
    );
  }
  // The contract names WireGuard and IKEv2 where it means the tunnel's own address.
  return checkWireguard(wireguard, { framing: createFraming(params, context), tellsAddress: false }, context);
}
