import { defineProbe } from "../probe.ts";
import { parseIkev2 } from "../protocols/ikev2/config.ts";
import { checkGateway, prepareGateway } from "../tunnels/ikev2-gateway.ts";
import { preparedOnce, tunnelSettings } from "../tunnels/settings.ts";

const prepared = preparedOnce(prepareGateway);

/** IKEv2: keys, a login or a pre-shared key, a tunnel, then an answer to a packet of ours through it. */
export const ikev2 = defineProbe({
  summary: "IKEv2: logs in at the gateway, brings the tunnel up and asks for an answer through it",
  settings: tunnelSettings(parseIkev2),
  run: async (settings, context) => checkGateway(prepared(settings), context),
});
