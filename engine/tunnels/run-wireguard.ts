/** What WireGuard's checks run; loaded in probers only. */
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import type { TunnelFields } from "../contract/tunnel.ts";
import { configOf } from "../protocols/wireguard/config.ts";
import { plainFraming } from "../protocols/wireguard/message.ts";
import { preparedOnce } from "./settings.ts";
import { checkWireguard, PreparedWireguard } from "./wireguard-peers.ts";

const prepared = preparedOnce((settings: TunnelFields) => {
  const config = configOf(settings);
  const dialling = { framing: plainFraming(config.reserved), tellsAddress: true };
  return { wireguard: new PreparedWireguard(config, settings, null), dialling };
});

export function run(settings: TunnelFields, context: ProbeContext): Promise<Outcome> {
  const { wireguard, dialling } = prepared(settings);
  return checkWireguard(wireguard, dialling, context);
}
