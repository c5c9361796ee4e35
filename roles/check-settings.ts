/** Checks settings whose syntax only the code that uses them knows, before anything is created: a bad one leaves nothing behind. */
import { clientAddressOf } from "../api/address.ts";
import { type Config, ConfigError, engineOptionsOf } from "../config.ts";
import { parseTunnelTarget } from "../engine/contract/tunnel-targets.ts";
import { ENGINES, PROGRAMS, requireProgram } from "../engine/cores/program.ts";
import { createGuard } from "../engine/transport/guard.ts";
import { parseNameServer } from "../engine/transport/name-servers.ts";
import { createTlsStarter } from "../engine/transport/stream.ts";
import { findCanaries } from "../engine/trust/canary.ts";
import { parseVerifyUrl } from "../engine/verify/endpoint.ts";

/** @throws ConfigError, one line that names the setting */
export async function checkSettings(config: Config): Promise<void> {
  const checks: Readonly<Record<string, () => unknown>> = {
    SONDE_ALLOW_NETS: () => createGuard({ allowNets: config.allowNets, ownEndpoints: [] }),
    SONDE_PUBLIC_ALLOW_NETS: () => createGuard({ allowNets: config.publicAllowNets, ownEndpoints: [] }),
    SONDE_RESOLVERS: () => config.resolvers.map(parseNameServer),
    SONDE_EXTRA_CA: () => createTlsStarter(config.extraCaPem),
    SONDE_CANARIES: () => findCanaries(engineOptionsOf(config)),
    SONDE_TUNNEL_TARGETS: () => (config.tunnelTargets ?? []).map(parseTunnelTarget),
    SONDE_VERIFY_URLS: () => config.verifyUrls?.forEach(parseVerifyUrl),
    ...Object.fromEntries(
      ENGINES.map((engine) => [PROGRAMS[engine].setting, () => requireProgram(config.cores[engine])]),
    ),
    SONDE_TRUSTED_PROXIES: () => clientAddressOf(config.trustedProxies),
  };
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new ConfigError(message.startsWith(name) ? message : `${name}: ${message}`);
    }
  }
}
