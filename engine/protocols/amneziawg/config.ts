/** AmneziaWG configurations: WireGuard's with the keys of obfuscation (params.ts). */
import type { ParsedTunnel, TunnelFields } from "../../tunnel.ts";
import { readConfig, tunnelOf, type WireguardConfig } from "../wireguard/config.ts";
import { AMNEZIA_KEYS, type AmneziaParams, parseParams, refusePorts } from "./params.ts";

export interface AmneziaConfig extends WireguardConfig {
  readonly params: AmneziaParams;
}

/** @throws TunnelConfigError */
export function parseAmneziawg(fields: TunnelFields): ParsedTunnel {
  return tunnelOf("amneziawg", fields, readAmneziaConfig(fields));
}

/** @throws TunnelConfigError */
export function readAmneziaConfig(fields: TunnelFields): AmneziaConfig {
  const config = readConfig(fields, AMNEZIA_KEYS);
  const params = parseParams(config.file.interface);
  refusePorts(
    params,
    config.peers.flatMap(({ endpoint }) => (endpoint === null ? [] : [endpoint.port])),
  );
  return { ...config, params };
}
