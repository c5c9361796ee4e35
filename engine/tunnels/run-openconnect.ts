/** What OpenConnect's checks run; loaded in probers only. */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import type { TunnelFields } from "../contract/tunnel.ts";
import { checkServer, prepareServer } from "./openconnect-server.ts";
import { preparedOnce } from "./settings.ts";

const prepared = preparedOnce(prepareServer);

export async function run(settings: TunnelFields, context: ProbeContext): Promise<Outcome> {
  return checkServer(prepared(settings), context);
}
