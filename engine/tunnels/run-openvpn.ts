/** What OpenVPN's checks run; loaded in probers only. */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import type { TunnelFields } from "../contract/tunnel.ts";
import { checkOpenvpn, prepareOpenvpn } from "./openvpn-servers.ts";
import { preparedOnce } from "./settings.ts";

const prepared = preparedOnce(prepareOpenvpn);

export async function run(settings: TunnelFields, context: ProbeContext): Promise<Outcome> {
  return checkOpenvpn(prepared(settings), context);
}
