/** AmneziaWG configurations: WireGuard's with the keys of obfuscation (params.ts). */
import type { ParsedTunnel, TunnelFields } from "../../contract/tunnel.ts";
import { Handover } from "../../net/handover.ts";
import { readConfig, tunnelOf, type WireguardConfig } from "../wireguard/config.ts";
import { AMNEZIA_KEYS, type AmneziaParams, parseParams } from "./params.ts";

export interface AmneziaConfig extends WireguardConfig {
  readonly params: AmneziaParams;
}

/** @throws TunnelConfigError */
export function parseAmneziawg(fields: TunnelFields): ParsedTunnel {
  const config = readAmneziaConfig(fields);
  const parsed = tunnelOf("amneziawg", fields, config);
  configs.leave(parsed.fields, config);
  return parsed;
}

const configs = new Handover<TunnelFields, AmneziaConfig>();

/** As readAmneziaConfig(), without parsing what parseAmneziawg() has just parsed. @throws TunnelConfigError */
export function configOf(fields: TunnelFields): AmneziaConfig {
  return configs.take(fields) ?? readAmneziaConfig(fields);
}

/** @throws TunnelConfigError */
export function readAmneziaConfig(fields: TunnelFields): AmneziaConfig {
  const config = readConfig(fields, AMNEZIA_KEYS);
  return { ...config, params: parseParams(config.file.interface) };
}
