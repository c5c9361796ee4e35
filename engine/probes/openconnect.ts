import { defineProbe } from "../probe.ts";
import { parseOpenconnect } from "../protocols/openconnect/config.ts";
import { checkServer, prepareServer } from "../tunnels/openconnect-server.ts";
import { preparedOnce, tunnelSettings } from "../tunnels/settings.ts";

const prepared = preparedOnce(prepareServer);

/** OpenConnect (AnyConnect): TLS, a login with username and password, a tunnel, then an answer to a packet of ours through it. */
export const openconnect = defineProbe({
  summary: "OpenConnect (AnyConnect): logs in at the server, brings the tunnel up and asks for an answer through it",
  settings: tunnelSettings(parseOpenconnect),
  run: async (settings, context) => checkServer(prepared(settings), context),
});
