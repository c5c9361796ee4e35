/** What IKEv2's checks run; loaded in probers only. */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import type { TunnelFields } from "../contract/tunnel.ts";
import { checkGateway, prepareGateway } from "./ikev2-gateway.ts";
import { preparedOnce } from "./settings.ts";

const prepared = preparedOnce(prepareGateway);

export async function run(settings: TunnelFields, context: ProbeContext): Promise<Outcome> {
  return checkGateway(prepared(settings), context);
}
