/** What WireGuard's checks run; loaded in probers only. */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import type { TunnelFields } from "../contract/tunnel.ts";
import { configOf } from "../protocols/wireguard/config.ts";
import { plainFraming } from "../protocols/wireguard/message.ts";
import { preparedOnce } from "./settings.ts";
import { checkWireguard, prepareWireguard } from "./wireguard-peers.ts";

const prepared = preparedOnce((settings: TunnelFields) => {
  const config = configOf(settings);
  return { ...prepareWireguard(config, settings, null), framing: plainFraming(config.reserved) };
});

export async function run(settings: TunnelFields, context: ProbeContext): Promise<Outcome> {
  const ready = prepared(settings);
  return checkWireguard(ready, ready.framing, true, context);
}
